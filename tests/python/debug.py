#!/usr/bin/env python3
"""Options that change the code: assertions and overflows of integers with debug=True, knobs and
variables, on a CPU; PTX that asserts, through ptxas where there is one; denormal numbers;
the default precision of dots."""
import os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
import numpy as np
from nereid import _nereid, knobs
from nereid.compiler import Plan
from tally import check, report

N = 32


def asserting(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=100)
    tl.device_assert(v < 100, "too large", mask=i < n)
    assert tl.sum(v) != 7, "a sum of 7"
    tl.store(x + i, v + 1, mask=i < n)


def adding(x, y, out, B: tl.constexpr, OP: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    if OP == "add":
        tl.store(out + i, a + b)
    elif OP == "sub":
        tl.store(out + i, a - b)
    elif OP == "mul":
        tl.store(out + i, a * b)
    elif OP == "free":
        tl.store(out + i, tl.add(a, b, sanitize_overflow=False))
    else:
        tl.store(out + i, tl.sum(a) + tl.rand(0, i).to(tl.int32) + b)


def multiplying(x, y, out, PRECISION: tl.constexpr, ALLOW: tl.constexpr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.dot(a, b, input_precision=PRECISION, allow_tf32=ALLOW))


def message(run):
    try:
        run()
        return ""
    except nereid.NereidError as error:
        return str(error)


def check_asserts():
    kernel = nereid.jit(asserting)
    x = np.zeros(N, np.int32)
    x[5] = 200
    kernel[(4,)](x, N, B=8)
    check(x[5] == 201 and x[0] == 1, "without debug nothing is checked")
    told = message(lambda: kernel[(4,)](x, N, B=8, debug=True))
    line = asserting.__code__.co_firstlineno + 3
    check(f"debug.py:{line}: assertion failed: too large, in program (0, 0, 0)" in told,
          f"an assertion: {told}")
    check(x[5] == 201, "nothing is stored by the program")
    check(not message(lambda: kernel[(4,)](x[8:], N - 10, B=8, debug=True)), "masked elements")
    x[:] = 0
    x[25] = 7
    told = message(lambda: nereid.jit(asserting, debug=True)[(4,)](x, N, B=8))
    check("a sum of 7, in program (3, 0, 0)" in told, f"an assert statement: {told}")
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        check("a sum of 7" in message(lambda: kernel[(4,)](x, N, B=8)), "a knob")
    check(not message(lambda: kernel[(4,)](x, N, B=8)), "the knob as it was")


def check_overflow():
    kernel = nereid.jit(adding)
    for name in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "int64"):
        info = np.iinfo(name)
        for op in ("add", "sub", "mul"):
            for a, b in ((info.max, 1), (info.min, 1), (info.max, info.max), (3, 2), (2, 3),
                         (info.min, info.max), (info.max, 0)):
                exact = {"add": a + b, "sub": a - b, "mul": a * b}[op]
                overflows = not info.min <= exact <= info.max and info.bits < 64
                x, y = (np.full(16, v, name) for v in (a, b))
                out = np.zeros_like(x)
                told = message(lambda: kernel[(1,)](x, y, out, B=16, OP=op, debug=True))
                wanted = f"int{info.bits} overflow detected for operation {op}"
                check((wanted in told) == overflows and bool(told) == overflows,
                      f"{name}: {a} {op} {b}: {told!r}")
                if not overflows and info.bits < 64:
                    check((out == exact).all(), f"{name}: {a} {op} {b} gives {out[0]}")
    x = np.full(16, 2**31 - 1, np.int32)
    for op, options in (("free", {}), ("add", {"sanitize_overflow": False})):
        out = np.zeros_like(x)
        told = message(lambda: kernel[(1,)](x, x, out, B=16, OP=op, debug=True, **options))
        check(not told and (out == -2).all(), f"sums that may wrap around: {told}")
    zero = np.zeros(16, np.int32)
    told = message(lambda: kernel[(1,)](zero, zero, zero, B=16, OP="library", debug=True))
    check(not told, f"library functions: {told}")


def check_precision():
    kernel = nereid.jit(multiplying)
    x = np.ones((16, 16), np.float32)

    def precision(given=None, allow=None):
        tile = kernel[(1,)](x, x, np.zeros_like(x), given, allow).asm["tile"]
        kernel.device_caches[0][0].clear()
        return re.search(r'precision "(\w+)"', tile)[1]

    check((precision(), precision(None, False)) == ("tf32", "ieee"), "precisions without a default")
    for value in ("ieee", "tf32x3"):
        os.environ["TRITON_F32_DEFAULT"] = value
        check((precision(), precision(None, False)) == (value, value), f"the variable: {value}")
        check(precision("tf32") == "tf32", "a precision that is given")
    os.environ["TRITON_F32_DEFAULT"] = "exact"
    check("input_precision 'exact' is unknown" in message(precision), "a wrong variable")
    del os.environ["TRITON_F32_DEFAULT"]
    with knobs.language.scope():
        knobs.language.fp32_default = "ieee"
        check(precision() == "ieee", "the knob")
    check(precision() == "tf32", "the knob as it was")


def check_variables():
    script = ("import sys; sys.path[:0] = sys.argv[1:2]\n"
              "import numpy as np, debug, nereid\n"
              "x = np.full(32, 200, np.int32)\n"
              "print(debug.message(lambda: nereid.jit(debug.asserting)[(4,)](x, 32, B=8)))\n")
    here = str(pathlib.Path(__file__).parent)
    cases = ({"NEREID_DEBUG": "1"}, True), ({"TRITON_DEBUG": "1"}, False), ({}, False)
    for variables, wanted in cases:
        env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), **variables}
        done = subprocess.run([sys.executable, "-c", script, here], env=env, text=True,
                              capture_output=True)
        check(("too large" in done.stdout) == wanted and not done.returncode,
              f"{variables}: {done.stdout}{done.stderr}")


def check_ptx():
    kernel = nereid.jit(asserting)
    described = [("x", "*i32:16", None), ("n", "i32", None), ("B", None, 256)]
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    for debug in (False, True):
        plan = Plan(kernel, 1, 0, described, {"debug": debug})
        for target in ("sm_80", "sm_90a", "sm_100a"):
            ptx = _nereid.emit(*plan._request, kind=_nereid.KIND_ptx, target=target, **plan._common)
            check(("__assertfail" in ptx) == debug, f"{target}: a call of __assertfail")
            if not os.path.exists(ptxas):
                print("1 skipped: no ptxas")
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
                file.write(ptx)
                file.flush()
                done = subprocess.run([ptxas, f"-arch={target}", file.name, "-o", os.devnull],
                                      capture_output=True, text=True)
            check(not done.returncode, f"{target}: {done.stdout}{done.stderr}")


def power(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.exp2(tl.load(x + i)))


def check_denormals():
    described = [("x", "*fp32:16", None), ("B", None, 128)]
    for flag, instruction in ((None, "ex2.approx.ftz.f32"), (True, "ex2.approx.ftz.f32"),
                              (False, "ex2.approx.f32")):
        options = {} if flag is None else {"enable_reflect_ftz": flag}
        plan = Plan(nereid.jit(power), 1, 0, described, options)
        ptx = _nereid.emit(*plan._request, kind=_nereid.KIND_ptx, target="sm_90a", **plan._common)
        check(instruction in ptx, f"enable_reflect_ftz={flag}")
    x = np.full(128, -127.0, np.float32)
    nereid.jit(power)[(1,)](x, B=128, enable_reflect_ftz=False)
    check((x > 0).all(), f"a denormal result: {x[0]}")


if __name__ == "__main__":
    for part in (check_asserts, check_overflow, check_precision, check_variables, check_ptx,
                 check_denormals):
        part()
    sys.exit(report())
