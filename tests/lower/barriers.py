#!/usr/bin/env python3
"""Takes away one barrier or wait of a kernel's last nest, and runs what is left under
`--device nest`: the interpreter must report it, or the results must differ.  So no barrier is
superfluous, and the interpreter is strict enough to see that each is needed.

    barriers.py [--all] [NAME...]     all variants of kernels, not some; only these kernels
"""
import hashlib, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "barriers"))
from cases import CASES, NEREID, SKIPPED, SYNC, VARIANTS, compiled, is_needless  # noqa: E402

QUICK, QUICK_REMOVALS = 2, 6


def run(name, text, folder):
    """What the nest prints, and whether it was found at fault."""
    _, grid, _, args = CASES[name]
    path = folder / "nest.thread"
    path.write_text(text)
    given = [f"{k}={v}" for k, v in args.items() if v != 1]
    done = subprocess.run([NEREID, "run", str(path), *given, "--grid", str(grid),
                           "--device", "nest"], capture_output=True, text=True)
    outs = done.stdout, done.stderr
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name}: status {done.returncode}\n{done.stderr}\n0 passed, 1 failed")
    return outs, done.returncode


def chosen(count, name, variant):
    """All removals of a nest in a full run, else some, the same ones every time."""
    if FULL or count <= QUICK_REMOVALS:
        return range(count)
    key = lambda i: hashlib.sha256(f"{name} {variant} {i}".encode()).digest()
    return sorted(sorted(range(count), key=key)[:QUICK_REMOVALS])


def check(name, variant, folder):
    lines = compiled(name, variant).split("\n")
    want, status = run(name, "\n".join(lines), folder)
    if status:
        return 0, [f"{name} {variant}: at fault as it is:\n{want[1]}"]
    at = [i for i, line in enumerate(lines) if SYNC.match(line)]
    failures, tried = [], chosen(len(at), name, variant)
    for k in tried:
        got, status = run(name, "\n".join(lines[:at[k]] + lines[at[k] + 1:]), folder)
        needless = is_needless(name, lines, at[k])
        if not status and got == want and not needless:
            failures.append(f"{name} {variant}: nobody misses line {at[k] + 1}: {lines[at[k]]}")
    return len(tried) - len(failures), failures


FULL = "--all" in sys.argv
names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(CASES)
passed, failed = 0, 0
with tempfile.TemporaryDirectory() as folder:
    for name in names:
        variants = [v for v in VARIANTS if FULL or v in VARIANTS[:QUICK]]
        variants = [v for v in variants if (name, v) not in SKIPPED]
        for variant in variants:
            good, failures = check(name, variant, pathlib.Path(folder))
            passed, failed = passed + good, failed + len(failures)
            for text in failures:
                print("FAIL", text, flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
