#!/usr/bin/env python3
"""Runs what a newcomer runs first: the command in each example's header, on the interpreter, and
the one that README.md opens with, whose output must be what README.md says."""
import concurrent.futures, os, pathlib, re, shlex, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))


def run(line):
    command = [NEREID] + shlex.split(line)[1:] + ["--device", "interp"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    ok = done.returncode == 0 and not done.stderr and done.stdout
    return None if ok else f"FAIL {line}\nstatus {done.returncode}\n{done.stdout}{done.stderr}"


def run_readme():
    block = re.search(r"```\n\$ ((?:.*\\\n)*.*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text())
    command = [NEREID] + shlex.split(block[1].replace("\\\n", " "))[1:]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.stdout != block[2]:
        return f"FAIL README.md says\n{block[2]}got\n{done.stdout}{done.stderr}"


def main():
    lines, failures = [], []
    for path in sorted((ROOT / "examples/kernels").glob("*.py")):
        found = [s for s in path.read_text().splitlines() if s.startswith("build/nereid ")]
        lines += found
        if not found:
            failures.append(f"FAIL {path.name} has no command in its header")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(run, lines)) + [run_readme()]
    print("".join(f"{text}\n" for text in failures + ran if text), end="")
    failed = len(failures) + sum(text is not None for text in ran)
    print(f"{len(failures) + len(ran) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
