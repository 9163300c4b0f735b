#!/usr/bin/env python3
"""Kernels on interpreters from Python: findings as exceptions, printed lines, nereid.check(), the
names of errors."""
import contextlib, io, os, pathlib, pickle, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.compiler.errors
import nereid.language as tl
import nereid.runtime.errors
import numpy as np
import tally
from nereid.runtime import driver

try:
    import torch
except ImportError:
    torch = None


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


def fails(what, kind, run, *words):
    """Checks that `run` raises such an exception with these words; gives it."""
    try:
        check(what, False, f"gave {run()}")
    except kind as error:
        for word in words:
            check(what, word in str(error), f"{word!r} is not in {error}")
        return error


@nereid.jit(interpret=True)
def copy(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i), mask=i < n)


@nereid.jit(interpret=True)
def race(out):
    tl.store(out, tl.program_id(0))


@nereid.jit(interpret=True)
def asserts(x, n):
    tl.device_assert(n < 4, "n is small")
    tl.store(x, n)


@nereid.jit(interpret=True)
def add_in_place(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) + tl.load(y + i))


def check_findings():
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    copy[(2,)](x, out, 16, B=8)
    check("interpreted", (out == x).all())
    error = fails("out of bounds", nereid.InterpreterError, lambda: copy[(3,)](x, out, 16, B=8),
                  "x[16], right past the end of 'x'", "program 2", "tl.load(x + i)", "^")
    place = error.diagnostics[0]
    lines = pathlib.Path(__file__).read_text().split("\n")
    check("the kernel's line", "tl.load(x + i), mask" in lines[place.line - 1], place)
    check("the kernel's file", place.file.endswith("interpret.py"), place.file)
    check("pickled", pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics)
    fails("race", nereid.InterpreterError, lambda: race[(2,)](np.zeros(1, np.int32)),
          "program 1 writes out[0], which program 0 writes")
    fails("device_assert", nereid.InterpreterError, lambda: asserts[(1,)](np.zeros(1), 7),
          "device_assert failed: n is small")
    asserts[(1,)](np.zeros(1), 3)
    check("nothing runs without programs", asserts[(0,)](np.zeros(1), 7) is not None)


def check_views():
    base = np.arange(32, dtype=np.float32)
    want = base.copy()
    want[4:12] += want[:8]
    x, y = base[4:12], base[:8]
    add_in_place[(1,)](x, y, 8, B=8)
    check("arguments that overlap", (base == want).all(), base)
    fails("outside of a view", nereid.InterpreterError,
          lambda: copy[(1,)](base[4:8], np.zeros(8, np.float32), 8, B=8), "past the end of 'x'")
    if torch is None:
        return
    m = torch.arange(24.0).reshape(4, 6)
    row = torch.zeros(8)
    copy[(1,)](m[1, 2:], row, 4, B=4)
    check("a view of a tensor", row[:4].tolist() == [8, 9, 10, 11], row)


class FakeGpu:
    """What OnHost uses of a tensor on a GPU, over one of the host."""

    is_cuda = True

    def __init__(self, tensor):
        self.tensor, self.dtype = tensor, tensor.dtype
        for name in ("storage_offset", "size", "stride", "data_ptr"):
            setattr(self, name, getattr(tensor, name))

    def untyped_storage(self):
        tensor = self.tensor

        class Storage:
            data_ptr = staticmethod(tensor.untyped_storage().data_ptr)
            cpu = staticmethod(tensor.untyped_storage().clone)
            copy_ = staticmethod(tensor.untyped_storage().copy_)

        return Storage


def check_gpu_copies():
    if torch is None:
        print("1 skipped: no torch")
        return
    base = torch.arange(16.0)
    want = base.clone()
    want[4:12] += want[:8].clone()
    seen = []

    def grid(meta):
        seen.append(type(meta["x"]))
        return (1,)

    add_in_place[grid](FakeGpu(base[4:12]), FakeGpu(base[:8]), 8, B=8)
    check("storages are copied once, and back", torch.equal(base, want), base)
    check("a grid function sees the caller's tensors", seen == [FakeGpu], seen)


def check_gpu():
    """Tensors of a GPU: `interpret.py cuda`."""
    if "cuda" not in sys.argv:
        return
    base = torch.arange(32.0, device="cuda")
    want = base.clone()
    want[4:12] += want[:8].clone()
    add_in_place[(1,)](base[4:12], base[:8], 8, B=8)
    check("views on a GPU", torch.equal(base, want), base)
    out = torch.zeros(16, device="cuda")
    copy[lambda meta: (16 // meta["B"],)](base[:16], out, 16, B=8)
    check("copied back", torch.equal(out, base[:16]), out)
    fails("out of bounds on a GPU", nereid.InterpreterError,
          lambda: copy[(3,)](base[:16], out, 16, B=8), "x[16], right past the end of 'x'")
    report = nereid.check(plain, base[:16], out, 16, grid=(2,), B=8)
    check("checked on copies", report.written == ["out"] and torch.equal(out, base[:16]), report)


@nereid.jit
def prints(n):
    tl.device_print("n", n + tl.program_id(0))


LINES = "pid (0, 0, 0) idx () n: 5\npid (1, 0, 0) idx () n: 6\n"


def check_print():
    # Where there is a GPU, a launch without tensors runs there, and its driver prints.
    plain = () if driver.has_gpu() else (prints,)
    for kernel in (*plain, nereid.jit(prints.fn, interpret=True)):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            kernel[(2,)](5)
        text = "".join(sorted(out.getvalue().splitlines(True)))
        check(f"device_print goes to sys.stdout on {kernel!r}", text == LINES, repr(text))
    stdout, sys.stdout = sys.stdout, None
    try:
        prints[(1,)](5)
    finally:
        sys.stdout = stdout

    class Broken:
        def write(self, text):
            raise OSError("full")

    with contextlib.redirect_stdout(Broken()):
        fails("an output that fails", OSError, lambda: prints[(1,)](5), "full")


def check_variable():
    code = ("import nereid, nereid.language as tl, numpy as np, sys, linecache\n"
            "text = 'def f(x):\\n    tl.store(x + 4, 1.0)\\n'\n"
            "linecache.cache['made'] = (len(text), None, text.splitlines(True), 'made')\n"
            "exec(compile(text, 'made', 'exec'))\n"
            "try: nereid.jit(f)[(1,)](np.zeros(4))\n"
            "except nereid.InterpreterError as e: print(e)\n")
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "NEREID_INTERPRET": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True)
    check("NEREID_INTERPRET=1", "made:2:5: error: out of bounds" in run.stdout and
          "    tl.store(x + 4, 1.0)\n" in run.stdout, run.stdout + run.stderr)


@nereid.jit
def plain(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@nereid.jit
def reads_output(x, out):
    tl.store(x, tl.load(out))


@nereid.jit
def overlaps(out):
    tl.store(out + tl.arange(0, 8), 1)


def check_check():
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    report = nereid.check(plain, x, out, 16, grid=(2,), B=8, unwritten="out")
    check("nothing found", report.remarks == [] and report.written == ["out"], report)
    check("the caller's arrays stay", not out.any())
    report = nereid.check(plain, x, out, 8, grid=lambda meta: (8 // meta["B"],), B=8,
                          unwritten=["out"])
    check("elements that nothing wrote", "8 of the 16 elements of 'out' are never written" in
          "".join(report.remarks), report)
    report = nereid.check(overlaps, np.zeros(8, np.int32), grid=(2,))
    check("elements of two programs", "stored by more than one program" in "".join(report.remarks))
    fails("an unwritten read", nereid.InterpreterError,
          lambda: nereid.check(reads_output, x, out, grid=(1,), unwritten=("out",)),
          "out[0]", "tl.load(out)")
    fails("a wrong access", nereid.InterpreterError,
          lambda: nereid.check(plain, x, out, 32, grid=(4,), B=8), "past the end of 'x'")
    fails("no such argument", TypeError,
          lambda: nereid.check(plain, x, out, 32, grid=(4,), B=8, unwritten="y"),
          "no argument `y`")
    fails("not a kernel", TypeError, lambda: nereid.check(len, grid=(1,)))
    base = np.arange(16, dtype=np.float32)
    report = nereid.check(add_in_place, base[4:12], base[:8], 8, grid=(1,), B=8)
    check("views on copies", "x" in report.written and base[4] == 4, report)
    tuned = nereid.autotune([nereid.Config({"B": 8}), nereid.Config({"B": 16})], key=["n"])(plain)
    report = nereid.check(tuned, x, out, 16, grid=lambda m: (nereid.cdiv(16, m["B"]),))
    check("an autotuned kernel", report.written == ["out"], report)


def check_comparing():
    from nereid.interpret import _compare

    one, two = np.float32([1, 2]).tobytes(), np.float32([1, 3]).tobytes()
    text = _compare("out", (one, (2, 32)), (two, (2, 32)), None, None)
    check("a difference", text and "1 of 2 elements" in text and "2.0 and 3.0" in text, text)
    check("within a tolerance", _compare("out", (one, (2, 32)), (two, (2, 32)), 0, 1) is None)
    nan = np.float32([np.nan, 2]).tobytes()
    check("NaNs are equal", _compare("o", (nan, (2, 32)), (nan[:4] + one[4:], (2, 32)), 0, 0)
          is None)
    half = np.uint16([0x3f80, 0x4000]).tobytes(), (4, 16)
    far = np.uint16([0x3f80, 0x4080]).tobytes(), (4, 16)
    check("bf16", "2.0 and 4.0" in (_compare("o", half, far, None, None) or ""))


@nereid.jit
def wrong_type(x):
    tl.static_assert(x.dtype.element_ty == tl.float32, "float32 alone")
    tl.store(x, 1.0)


@nereid.jit
def unknown(x):
    tl.store(x, undefined_name)


@nereid.jit
def with_try(x):
    try:
        tl.store(x, 1)
    except ValueError:
        pass


def check_errors():
    E = nereid.compiler.errors
    x = np.zeros(4, np.float64)
    error = fails("static_assert", E.CompileTimeAssertionFailure, lambda: wrong_type[(1,)](x),
                  "float32 alone", "tl.static_assert")
    check("is a CompilationError", isinstance(error, E.CompilationError) and
          isinstance(error, nereid.TritonError) and isinstance(error, RuntimeError))
    depth, trace = 0, error.__traceback__
    while trace:
        depth, trace = depth + 1, trace.tb_next
    check("a short traceback", depth <= 8 and error.__cause__ is None, depth)
    error = fails("an unknown name", nereid.CompilationError, lambda: unknown[(1,)](x),
                  "undefined_name", "^")
    found = error.diagnostics[0]
    check("its place", (found.severity, found.message) == ("error",
          "'undefined_name' is not defined") and found.column > 0 and found.file == __file__,
          found)
    check("its kernel", error.kernel == "unknown", error.kernel)
    check("without the place", error.error_message == "'undefined_name' is not defined")
    fails("try", E.UnsupportedLanguageConstruct, lambda: with_try[(1,)](x), "try")
    R = nereid.runtime.errors
    check("names of Triton", issubclass(R.OutOfResources, R.TritonError) and
          R.InterpreterError is nereid.InterpreterError and R.PTXASError and R.AutotunerError)
    check("OutOfResources", str(R.OutOfResources(9, 8, "threads")).startswith(
        "out of resource: threads, Required: 9, Hardware limit: 8"))


if __name__ == "__main__":
    for part in (check_findings, check_views, check_gpu_copies, check_gpu, check_print,
                 check_variable, check_check, check_comparing, check_errors):
        part()
    sys.exit(tally.report())
