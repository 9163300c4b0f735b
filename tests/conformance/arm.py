#!/usr/bin/env python3
"""Device cpu on 64-bit Arm: drivers of this suite run with the program for Arm under an emulator
(support/cross_arm.py), where GCC compiles kernels and generated kernels for Arm.

    arm.py [--all] [--machine MARCH] [--jobs N] [NAME...]    only suites whose name has a NAME

Without --all a part of each suite runs; with it all of each, which takes an hour.  Skipped without
the tools for Arm.
"""
# tests/run: users' compiler
import argparse, concurrent.futures, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import cross_arm  # noqa: E402

HERE = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
# What runs of each driver: a part, and all.  cpu/40 is a fortieth of its cases.
SUITES = {
    "conformance/kernels": ("--devices cpu/50", "--devices cpu"),
    "conformance/numeric": ("--devices cpu/12", "--devices cpu"),
    "conformance/random_kernels": ("12 --seed 7000 --devices program --jobs 1",
                                   "2000 --seed 8000 --devices program --jobs 1"),
    "conformance/operators": ("--devices program/400 --jobs 1 f16 i64",
                              "--devices program/7 --jobs 1"),
    "conformance/std": ("--devices cpu --no-emulator exp2 sin", "--devices cpu --no-emulator"),
    "conformance/library": ("--devices cpu sort", "--devices cpu"),
    "conformance/device_print": (None, "--devices cpu"),
    "conformance/builtin_calls": (None, "800"),
    "conformance/onnx_data": ("--jobs 1 attention_4d_causal softmax_axis_1 conv_with", "--jobs 1"),
    "graph/few_rows": (None, ""),
    "graph/integers": (None, "--devices cpu"),
    "graph/attention": (None, "--devices cpu"),
    "graph/attention_grad": (None, "--devices cpu"),
    "graph/conv": (None, "--device cpu"),
    "graph/draws": (None, "--devices cpu"),
    "graph/given_panels": (None, "--devices cpu"),
    "graph/turned_products": (None, "--devices cpu"),
    "graph/packed_keys": (None, ""),
    "graph/ops": (None, "--devices cpu"),
    "graph/onnx_ops": (None, "--devices cpu"),
    "graph/prims": (None, "--device cpu"),
    "graph/models": (None, "--devices cpu"),
}


def run(suite, words, environment):
    """What it counted, and the lines before."""
    done = subprocess.run([sys.executable, ROOT / f"tests/{suite}.py", *words.split()], text=True,
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    *lines, last = done.stdout.rstrip().splitlines() or [""]
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed", last)
    passed, failed = map(int, counts.groups()) if counts else (0, 1)
    return passed, failed or int(done.returncode != 0), lines if counts else [*lines, last]


def check(suites, options):
    """How many checks passed and failed."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        environment = {**os.environ, **cross_arm.variables(folder, options.machine, HERE)}
        runs = {suite: pool.submit(run, suite, words, environment)
                for suite, words in suites.items()}
        for suite, future in runs.items():
            good, bad, lines = future.result()
            passed, failed = passed + good, failed + bad
            if bad:
                print(f"{suite}:\n" + "".join(f"  {line}\n" for line in lines[-40:]), end="")
            if options.all:
                print(f"{suite}: {good} right, {bad} failed", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--machine", default=cross_arm.MACHINES[0], metavar="MARCH")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    reason = cross_arm.missing()
    if reason:
        print(f"1 skipped: {reason}\n1 passed, 0 failed")
        return False
    printed = cross_arm.build(cross_arm.PROGRAM.relative_to(ROOT))
    if printed:
        print(f"{printed}\n0 passed, 1 failed")
        return True
    suites = {name: words[options.all] for name, words in SUITES.items()
              if words[options.all] is not None
              and (not options.names or any(part in name for part in options.names))}
    passed, failed = check(suites, options)
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
