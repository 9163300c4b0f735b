#!/usr/bin/env python3
"""Exported programs (.pt2) that are right, or wrong in one way each, through the importer.

    pt2.py [NAME...]            compare with pt2/NAME.out and NAME.err
    pt2.py --update [NAME...]   write them
    pt2.py --fuzz NAME...       write fuzz/pt2/NAME, as text (see fuzz/pt2.c)
    pt2.py --fuzz NAME.pt2...   or as it is

A case changes a small valid model: its program, its configurations, entries of the archive, or the
bytes of the file.
"""
import os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
IMPORTER = BUILD / "tests/graph/unit/pt2"
TEXTS = ROOT / "tests/graph/pt2"
sys.path.insert(0, str(TEXTS))
import archives, graphs, regions, right, tensors  # noqa: E402, F401
from model import CASES, Model  # noqa: E402


def build(name):
    m = Model()
    return CASES[name](m) or (b"" if name == "empty" else m.pack())


def run(data, folder):
    (folder / "model.pt2").write_bytes(data)
    p = subprocess.run([IMPORTER, "model.pt2"], cwd=folder, capture_output=True, timeout=60)
    if p.returncode not in (0, 1) or p.stderr:
        return ".crash", f"status {p.returncode}\n{p.stderr.decode(errors='replace')}"
    return (".out" if p.returncode == 0 else ".err"), p.stdout.decode()


def compare(name, kind, text):
    """What is wrong, or None."""
    wanted = [TEXTS / (name + k) for k in (".out", ".err")]
    wanted = [path for path in wanted if path.exists()]
    if kind == ".crash" or not wanted:
        return text
    if wanted[0].suffix != kind or wanted[0].read_text() != text:
        return f"-- got ({kind})\n{text}-- want ({wanted[0].suffix})\n{wanted[0].read_text()}"
    return None


def update(name, kind, text):
    for k in (".out", ".err"):
        (TEXTS / (name + k)).unlink(missing_ok=True)
    (TEXTS / (name + kind)).write_text(text)


def write_corpus(names):
    for name in names:
        stem, path = name.removesuffix(".pt2"), ROOT / "tests/fuzz/pt2" / name
        if stem != name:
            path.write_bytes(build(stem))
            continue
        m = Model()
        CASES[name](m)
        path.write_text(m.text())


def main():
    if sys.argv[1:2] == ["--fuzz"]:
        return write_corpus(sys.argv[2:])
    words = [w for w in sys.argv[1:] if w != "--update"]
    names = [n for n in CASES if not words or n in words]
    stale = sorted({p.name for p in TEXTS.glob("*.*") if p.suffix in (".out", ".err")
                    and p.stem not in CASES})
    failed = len(stale)
    print("".join(f"FAIL pt2/{name}: no case gives it\n" for name in stale), end="")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            kind, text = run(build(name), pathlib.Path(folder))
            if "--update" in sys.argv:
                update(name, kind, text)
                continue
            wrong = compare(name, kind, text)
            failed += wrong is not None
            if wrong is not None:
                print(f"FAIL {name}\n{wrong}")
    print(f"{len(names) + len(stale) - failed} passed, {failed} failed")
    return bool(failed)


sys.exit(main())
