#!/usr/bin/env python3
"""The time that importing takes, and the first launch after it from a warm cache, each in new
processes: Nereid on NumPy's arrays and a CPU, and Triton's import where it is installed.

    bench/python/import.py [--runs N] [--aim MS]     with an aim, a slower import is a failure

Start of Python and import of NumPy are not counted.  PYTHONPATH, or the environment's own package,
decides which Nereid is measured; build/python is taken where there is none.
"""
import argparse, importlib.util, os, pathlib, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMPORT = """
import time
begin = time.perf_counter()
import {0}, {0}.language
print((time.perf_counter() - begin) * 1e3)
"""
DECORATE = """
import sys, time
sys.path.insert(0, {0!r})
begin = time.perf_counter()
import kernels
print((time.perf_counter() - begin) * 1e3)
"""
LAUNCH = """
import time
import numpy as np
import nereid
import nereid.language as tl

@nereid.jit
def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

x = np.ones(1000, np.float32)
begin = time.perf_counter()
add[(4,)](x, x, 1000, BLOCK=256)
print((time.perf_counter() - begin) * 1e3)
"""


def times(text, folder, runs):
    """Milliseconds in new processes, after one that fills the caches."""
    program = pathlib.Path(folder, "program.py")
    program.write_text(text)
    variables = os.environ | {"NEREID_CACHE_DIR": folder}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    if not importlib.util.find_spec("nereid"):
        variables["PYTHONPATH"] = str(ROOT / "build/python")
    found = [float(subprocess.run([sys.executable, program], env=variables, check=True,
                                  capture_output=True, text=True).stdout) for _ in range(runs + 1)]
    return found[1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--aim", type=float)
    options = parser.parse_args()
    rows = [("import nereid, nereid.language", IMPORT.format("nereid")),
            ("a file of five kernels", DECORATE.format(str(ROOT / "bench/python"))),
            ("first launch, warm cache, cpu", LAUNCH)]
    if importlib.util.find_spec("triton"):
        rows.append(("import triton, triton.language", IMPORT.format("triton")))
    print(f"{'ms':34} {'median':>8} {'least':>8} {'most':>8}")
    medians = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in rows:
            found = times(text, folder, options.runs)
            medians.append(statistics.median(found))
            print(f"{name:34} {medians[-1]:8.1f} {min(found):8.1f} {max(found):8.1f}")
    return bool(options.aim and medians[0] > options.aim)


sys.exit(main())
