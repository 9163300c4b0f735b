#!/usr/bin/env python3
"""C of many operations on vectors takes a C compiler little more than as many additions do."""
# tests/run: users' compiler
import os, pathlib, resource, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEREID = os.environ.get("NEREID", ROOT / "build/nereid")
MOST = 5  # times what additions take; a loop over lanes takes 7 to 40 times as much
SLACK = 0.05
USES = 200

KERNEL = """import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def many(a_ptr, b_ptr, o_ptr):
    i = tl.arange(0, LANES)
    x = tl.load(a_ptr + i)
    for _ in tl.static_range(USES):
        y = tl.load(b_ptr + _ * LANES + i)
        x = STATEMENT
    tl.store(o_ptr + i, x)
"""
CASES = {
    "fp64": ("tl.fma(x, y, y)", "tl.minimum(x, y) + y", "tl.abs(x) - y", "tl.sqrt(x) + y",
             "tl.floor(x) + y"),
    "i32": ("tl.maximum(x, y) + y", "x + (y >> x)", "x + (y << x)"),
    "i64": ("tl.minimum(x, y) + y", "x + (y << x)"),
    "u32": ("tl.umulhi(x, y) + y", "x + (y >> x)"),
}


def c_of(dtype, statement, folder):
    lanes = {"fp64": 8, "i64": 8}.get(dtype, 16)
    text = KERNEL.replace("LANES", str(lanes)).replace("USES", str(USES))
    file = folder / "many.py"
    file.write_text(text.replace("STATEMENT", statement))
    sig = f"a_ptr=*{dtype},b_ptr=*{dtype},o_ptr=*{dtype}"
    return subprocess.run([NEREID, "compile", file, "--sig", sig, "--target", "cpu:16", "--emit",
                           "c"], check=True, capture_output=True, text=True).stdout


def seconds(text, folder):
    """Of a processor, the best of two runs; None where the compiler knows no such instructions."""
    file, best = folder / "many.c", None
    file.write_text(text)
    command = ["gcc", "-O2", "-mavx512f", "-ffp-contract=off", "-fwrapv", "-fno-math-errno",
               "-fno-trapping-math", "-Wno-psabi", "-w", "-c", file, "-o", folder / "many.o"]
    for _ in range(2):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if subprocess.run(command, capture_output=True).returncode:
            return None
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
        best = took if best is None else min(best, took)
    return best


def main():
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dtype, statements in CASES.items():
            least = seconds(c_of(dtype, "x + y", folder), folder)
            if least is None:
                print("skipped: gcc does not compile for AVX-512 here")
                return 0
            for statement in statements:
                took = seconds(c_of(dtype, statement, folder), folder)
                right = took is not None and took <= MOST * least + SLACK
                passed, failed = passed + right, failed + (not right)
                if not right:
                    print(f"{dtype} {statement}: {took} s, additions {least:.2f} s")
                elif os.environ.get("VERBOSE"):
                    print(f"{dtype} {statement}: {took:.2f} s, additions {least:.2f} s")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
