#!/usr/bin/env python3
"""The command in each example's header runs, on the interpreter."""
import concurrent.futures, os, pathlib, shlex, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def run(line):
    command = [NEREID] + shlex.split(line)[1:] + ["--device", "interp"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    ok = done.returncode == 0 and not done.stderr and done.stdout
    return None if ok else f"FAIL {line}\nstatus {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    lines, failures = [], []
    for path in sorted((ROOT / "examples/kernels").glob("*.py")):
        found = [s for s in path.read_text().splitlines() if s.startswith("build/nereid ")]
        lines += found
        if not found:
            failures.append(f"FAIL {path.name} has no command in its header")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(run, lines))
    print("".join(f"{text}\n" for text in failures + ran if text), end="")
    failed = len(failures) + sum(text is not None for text in ran)
    print(f"{len(failures) + len(ran) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
