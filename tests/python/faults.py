#!/usr/bin/env python3
"""Accesses outside of arrays on device cpu: checked with debug, and what a fault says."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path.append(str(ROOT / "tests/support"))
import sanitizers  # noqa: E402
from tally import check, report  # noqa: E402

sanitizers.leave_faults()

PROGRAM = '''
import sys
import numpy as np
import nereid
import nereid.language as tl


@nereid.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@nereid.jit
def read(x, o, n, B: tl.constexpr):
    for k in range(0, n):
        i = k * B + tl.arange(0, B)
        tl.store(o + tl.arange(0, B), tl.load(x + i))


x, n, options = np.ones(1000, np.float32), int(sys.argv[2]), eval(sys.argv[3])
try:
    if sys.argv[1] == "add":
        o = np.zeros(1000, np.float32)
        if options.pop("part", 0):
            x, o = np.ones(2000, np.float32)[:1000], np.zeros(2000, np.float32)[:1000]
        add[(-(-n // 256),)](x, x, o, n, B=256, **options)
        print(o.sum())
    else:
        read[(1,)](x, np.zeros(8, np.float32), n, B=8, **options)
        print("read")
except nereid.errors.InterpreterError as error:
    print("InterpreterError", error)
'''


def run(path, kernel, n, options="{}", flags=(), **environment):
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python"), **environment}
    done = subprocess.run([sys.executable, *flags, path, kernel, str(n), options], env=environment,
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "program.py")
    path.write_text(PROGRAM)
    for options, environment in (("{'debug': True}", {}), ("{}", {"NEREID_DEBUG": "1"})):
        got = run(path, "add", 2000, options, **environment)
        check(got[0] == 0 and "of argument `x`" in got[1],
              f"n=2000 of 1000, {options} {environment}: {got}")
        got = run(path, "add", 1000, options, **environment)
        check(got[:2] == (0, "2000.0\n"), f"n=1000 of 1000, {options} {environment}: {got}")
        got = run(path, "read", 126, options, **environment)
        check("argument `x`" in got[1], f"1008 of 1000 elements, {options} {environment}: {got}")
        got = run(path, "read", 125, options, **environment)
        check(got[:2] == (0, "read\n"), f"1000 of 1000 elements, {options} {environment}: {got}")
    certain = "kernel add accesses 8000 bytes of argument `x`, which has 4000"
    got = run(path, "add", 2000)
    check(got[0] == 0 and certain in got[1], f"n=2000 of 1000 is certainly wrong: {got}")
    got = run(path, "add", 2000, "{'part': 1}")
    check(got[:2] == (0, "2000.0\n"), f"2000 of a view of 1000 in an array of 2000: {got}")
    got = run(path, "add", 2001, "{'part': 1}")
    check("which has 4000" in got[1], f"2001 of a view of 1000 in an array of 2000: {got}")
    said = "nereid: a fault while kernel read ran on device cpu: NEREID_DEBUG=1 (debug=True) checks"
    got = run(path, "read", 10**8)
    check(got[0] == -signal.SIGSEGV and got[2].count(said) == 1, f"a fault: {got}")
    got = run(path, "read", 10**8, flags=("-X", "faulthandler"))
    check(got[0] == -signal.SIGSEGV and said in got[2] and "Fatal Python error" in got[2],
          f"a fault with faulthandler: {got}")
    crash = ("import ctypes, numpy; from nereid.runtime import driver; driver.device('cpu'); "
             "ctypes.string_at(0)")
    done = subprocess.run([sys.executable, "-c", crash], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    check(done.returncode == -signal.SIGSEGV and "nereid: a fault" not in done.stderr,
          f"a fault of somebody else: {done}")
sys.exit(report())
