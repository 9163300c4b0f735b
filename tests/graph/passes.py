#!/usr/bin/env python3
"""Golden tests of the passes on graphs.

    passes.py [--update] [NAME...]      only cases whose path contains one of NAME

passes/PASS/NAME.py is a graph as FX prints it.  What the pass makes of it is in NAME.expected if it
is a graph, and in NAME.err if it is messages.  A graph that comes out must read back, and print the
same again.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
PROGRAM = BUILD / "tests/graph/unit/passes"
# Passes choose by the CPU's vectors: those of AVX2, which the machines of tests have.
ENVIRONMENT = os.environ | {"NEREID_CPU": "cpu:8"}


def run(passes, path):
    """What the passes print: a graph (True), or messages."""
    done = subprocess.run([PROGRAM, passes, path], capture_output=True, text=True, timeout=60,
                          env=ENVIRONMENT)
    return done.returncode == 0, done.stdout + done.stderr


def difference(want, got, name):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), name, "got", lineterm="")
    return "\n".join(lines)


def read_back(text):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        return run("", file.name)[1]


def failure(path, update):
    """What is wrong with a case; "" if nothing is."""
    ok, got = run(path.parent.name, path)
    expected = path.with_suffix(".expected" if ok else ".err")
    if update:
        expected.write_text(got)
    if not expected.exists():
        return f"there is no {expected.name}; got\n{got}"
    want = expected.read_text()
    if got != want:
        return difference(want, got, expected.name)
    if not ok:
        return ""
    return difference(got, read_back(got), "printed")


def main():
    names = [a for a in sys.argv[1:] if a != "--update"]
    passed = failed = 0
    for path in sorted((ROOT / "tests/graph/passes").glob("*/*.py")):
        if names and not any(name in str(path) for name in names):
            continue
        problem = failure(path, "--update" in sys.argv)
        passed += not problem
        failed += bool(problem)
        if problem:
            print(f"FAIL {path.relative_to(ROOT)}\n{problem}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
