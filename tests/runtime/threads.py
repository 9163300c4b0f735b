#!/usr/bin/env python3
"""What generated C asks of a team of threads: all programs, and what they cost about.

The kernels are compiled to C, and launched with a team made here, which notes what it is asked.
"""
# tests/run: all cores
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

EXAMPLES = ROOT / "examples/kernels"
NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
CC = os.environ.get("CC", "gcc").split()

KERNELS = '''import triton
import triton.language as tl


@triton.jit
def nested(out, n, m, B: tl.constexpr):
    i = tl.arange(0, B)
    for a in range(0, n):
        for b in range(a, m):
            tl.store(out + i, i + a * b)


@triton.jit
def counted(out, steps, B: tl.constexpr):
    i = tl.arange(0, B)
    for a in range(0, tl.load(steps)):
        tl.store(out + i, i + a)


@triton.jit
def causal(out, B: tl.constexpr):
    i = tl.arange(0, B)
    for a in range(0, tl.program_id(0)):
        tl.store(out + i, i + a)


@triton.jit
def down(out, n, step, B: tl.constexpr):
    i = tl.arange(0, B)
    for a in range(n, 0, step):
        tl.store(out + i, i + a)
'''


class Team(ctypes.Structure):
    pass


BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
RUN = ctypes.CFUNCTYPE(None, ctypes.POINTER(Team), ctypes.c_uint64, ctypes.c_double, BODY,
                       ctypes.c_void_p)
Team._fields_ = [("run", RUN)]


def build(folder, path, signature, *more):
    """The launching function of a kernel."""
    name = path.stem if path.parent == EXAMPLES else more[-1]
    file = str(path) if path.parent == EXAMPLES else f"{path}:{more[-1]}"
    more = more if path.parent == EXAMPLES else more[:-1]
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    subprocess.run([NEREID, "compile", file, "--sig", signature, *more, "--target", "cpu:8",
                    "--emit", "c", "-o", source], check=True)
    subprocess.run([*CC, "-O0", "-march=native", "-w", "-fPIC", "-shared", "-o", library, source,
                    "-lm"], check=True)
    return getattr(ctypes.CDLL(str(library)), f"{name}_launch")


def slots(args):
    words = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in args]
    return (ctypes.c_int64 * len(words))(*words)


def launch(function, args, grid, share=False):
    """Programs and nanoseconds that the team is told; None: it is not asked."""
    told = []

    def run(team, n, ns, body, context):
        told.append((n, ns))
        if share:  # two threads, one of which comes when all is done
            parts = np.zeros(2 * 8 + 8, np.uint64)
            at = parts.ctypes.data + -parts.ctypes.data % 64
            body(context, at, 0, 2)
            body(context, at, 1, 2)

    team = Team(RUN(run))
    function(slots(args), (ctypes.c_uint32 * 3)(*grid), ctypes.byref(team))
    return told[0] if told else None


def cost(function, args, grid):
    return launch(function, args, grid)[1]


def check_near(got, expected, what):
    check(expected / 1.5 < got < expected * 1.5, f"{what}: {got}, not near {expected}")


def check_running(folder):
    f = build(folder, EXAMPLES / "vector_add.py", "x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32",
              "-D", "BLOCK=128")
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    for team in ("alone", "shared"):
        out = np.zeros(1000, np.float32)
        args = (x, y, out, 1000)
        if team == "alone":
            f(slots(args), (ctypes.c_uint32 * 3)(8, 1, 1), None)
        else:
            check(launch(f, args, (8, 1, 1), share=True)[0] == 8, "the team is told the programs")
        check(np.array_equal(out, x + y), f"vector_add, {team}")
    check(launch(f, (x, y, out, 100), (1, 1, 1)) is None, "one program asks for no threads")
    small, large = cost(f, args, (8, 1, 1)), cost(f, args, (8000, 1, 1))
    check_near(large / small, 1000, "a grid of a thousand times as many programs")
    check(50 < small < 5000, f"1,024 elements take about 300 ns: {small}")


def check_matmul(folder):
    strides = (f"stride_{a}=i32{of}" for a, of in zip(("am", "ak", "bk", "bn", "cm", "cn"),
                                                      ("", ":1") * 3))
    signature = ",".join(("a_ptr=*fp32,b_ptr=*fp32,c_ptr=*fp32,M=i32,N=i32,K=i32", *strides))
    values = "BLOCK_M=32", "BLOCK_N=32", "BLOCK_K=32", "GROUP_M=8", "ACTIVATION=None"
    options = (word for v in values for word in ("-D", v))
    f = build(folder, EXAMPLES / "matmul.py", signature, *options)
    x = np.zeros(1, np.float32)
    times = [cost(f, (x, x, x, 64, 64, k, k, 64, 64), (4, 1, 1)) for k in (320, 3200, 32000)]
    check_near(times[1] / times[0], 10, "matmul of ten times the depth")
    check_near(times[2] / times[1], 10, "and once more")


def check_loops(folder):
    path = folder / "loops.py"
    path.write_text(KERNELS)
    x = np.zeros(64, np.int32)
    many = (4, 1, 1)
    f = build(folder, path, "out=*i32,n=i32,m=i32", "-D", "B=64", "nested")
    one = cost(f, (x, 10, 1000), many)
    check_near(cost(f, (x, 10, 10000), many) / one, 10, "an inner loop ten times as long")
    check_near(cost(f, (x, 100, 1000), many) / one, 9.5, "an outer loop ten times as long")
    check(cost(f, (x, 0, 1000), many) < one / 100, "a loop that does not run")
    f = build(folder, path, "out=*i32", "-D", "B=64", "causal")
    check_near(cost(f, (x,), (1000, 1, 1)) / cost(f, (x,), (100, 1, 1)), 100, "a triangle")
    f = build(folder, path, "out=*i32,n=i32,step=i32", "-D", "B=64", "down")
    check_near(cost(f, (x, 1000, -1), many) / cost(f, (x, 1000, -10), many), 10, "steps down")
    check(cost(f, (x, 1000, 1), many) < cost(f, (x, 1000, -1), many) / 100, "the wrong way")
    f = build(folder, path, "out=*i32,steps=*i32", "-D", "B=64", "counted")
    check(cost(f, (x, x), many) > 0, "a length from memory is some length")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_running(folder)
        check_matmul(folder)
        check_loops(folder)
    return report()


sys.exit(main())
