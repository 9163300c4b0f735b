#!/usr/bin/env python3
"""What is wrong with a call of a kernel is an exception that says what to do, never a crash."""
import ctypes, linecache, os, pathlib, shutil, signal, subprocess, sys, tempfile, threading, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import nereid.language as tl
import numpy as np
import tally

try:
    import torch
except ImportError:
    torch = None


def check(what, ok, found=None):
    tally.check(ok, what if found is None else f"{what}: {found}")


def fails(what, kind, run, *words):
    """Checks that `run` raises such an exception with these words; gives it."""
    try:
        found = run()
    except kind as error:
        for word in words:
            check(what, word in str(error), f"{word!r} is not in {error}")
        check(what, True)
        return error
    except BaseException as error:
        check(what, False, f"raised {error!r}")
    else:
        check(what, False, f"gave {found}")


@nereid.jit
def scale(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0) * 2, mask=i < n)


X = np.ones(16, np.float32)
OUT = np.zeros(16, np.float32)


def launch(x=X, out=OUT, n=16, B=16, grid=(1,), **options):
    return scale[grid](x, out, n, B=B, **options)


def interface(device, **fields):
    """An object whose memory is an array's, as one on a GPU or on the host."""
    data = {**X.__array_interface__, **fields}
    return type("Array", (), {f"__{device}_interface__": data})()


def check_tensors():
    for dtype, kind in (("complex64", TypeError), ("datetime64[s]", TypeError), ("U4", TypeError),
                        ("O", TypeError), (">f4", TypeError), ([("a", "f4")], TypeError),
                        ("longdouble", TypeError)):
        fails(f"elements of type {dtype}", kind, lambda: launch(np.zeros(16, dtype)),
              "big-endian" if dtype == ">f4" else "type")
    frozen = np.zeros(16, np.float32)
    frozen.flags.writeable = False
    fails("a read-only array", ValueError, lambda: launch(out=frozen), "`out` is read-only")
    launch(frozen)
    with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR")) as file:
        file.write(bytes(64))
        file.flush()
        mapped = np.memmap(file.name, np.float32, "r")
        fails("a mapped file", ValueError, lambda: launch(out=mapped), "read-only")
    fails("no memory", ValueError, lambda: launch(interface("array", data=(0, False))),
          "`x` has no memory")
    launch(np.zeros(0, np.float32), n=0)
    if nereid._nereid.device_count("cuda") == 0:
        fails("a GPU that is not there", nereid.NereidError,
              lambda: launch(interface("cuda_array"), interface("cuda_array")), "driver")
        fails("tensors of two devices", (ValueError, nereid.NereidError),
              lambda: launch(interface("cuda_array")))
    for device in (7, 10):
        other = type("Other", (), {"_nereid_described": (64, (0, 64), (device, 0), (2, 32))})()
        fails("another kind of device", ValueError, lambda: launch(other), "neither a CPU nor")
    first, second = (type("Gpu", (), {"_nereid_described": (64, (0, 64), (2, i), (2, 32))})()
                     for i in range(2))
    fails("tensors of two GPUs", ValueError, lambda: launch(first, second),
          "`out` is on cuda:1, but `x` is on cuda:0")
    fails("a string where a pointer is", nereid.CompilationError, lambda: launch("x"))
    fails("None", nereid.CompilationError, lambda: launch(None), "x")
    fails("an object", nereid.CompilationError, lambda: launch(object()))
    fails("a list", TypeError, lambda: launch([1, 2]), "argument `x`", "list", "can't be hashed",
          "[1, 2]; kernels take tensors")
    for long in ([1.0] * 5000, dict.fromkeys(range(5000)), set(range(5000))):
        error = fails("a long container", TypeError, lambda: launch(long), "argument `x`", "...")
        check("a long container is cut", len(str(error)) < 300, len(str(error)))
    fails("bytes", nereid.CompilationError, lambda: launch(b"x" * 5000), "argument 'x' is a bytes",
          "kernels take tensors")
    error = fails("a long string", nereid.CompilationError, lambda: launch("x" * 5000), "xxx...")
    check("a long string is cut", len(str(error)) < 400, len(str(error)))
    fails("a misspelt constexpr", TypeError, lambda: scale[(1,)](X, OUT, 16, b=16),
          "missing 1 required argument: 'B'; there is no parameter or option `b`; did you mean "
          "`B`?")
    fails("a misspelt option", KeyError, lambda: launch(num_warp=4), "did you mean `num_warps`?")
    fails("an unknown argument", KeyError, lambda: launch(quite_other=4), "no such option")
    fails("a module", nereid.CompilationError, lambda: launch(os))


def check_torch():
    if torch is None:
        print("6 skipped: no torch")
        return
    fails("a tensor of device meta", (ValueError, TypeError, RuntimeError, BufferError),
          lambda: launch(torch.zeros(16, device="meta")))
    freed = torch.zeros(16)
    freed.untyped_storage().resize_(0)
    fails("a freed tensor", ValueError, lambda: launch(freed), "has no memory")
    fails("complex", TypeError, lambda: launch(torch.zeros(16, dtype=torch.complex64)),
          "view_as_real")
    fails("a sparse tensor", (ValueError, TypeError, RuntimeError, BufferError),
          lambda: launch(torch.zeros(4, 4).to_sparse()))
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(16)
    fails("a fake tensor", (ValueError, TypeError, RuntimeError, BufferError),
          lambda: launch(fake))
    launch(torch.ones(16, requires_grad=True), torch.zeros(16))
    quantized = torch.quantize_per_tensor(torch.zeros(16), 1.0, 0, torch.qint8)
    fails("a quantized tensor", Exception, lambda: launch(quantized))


def check_descriptors():
    from nereid.tools.tensor_descriptor import TensorDescriptor

    x = np.zeros((16, 16), np.float32)
    fails("not contiguous for a descriptor", (ValueError, AssertionError),
          lambda: TensorDescriptor(x, [16, 16], [16, 2], [16, 16]), "contiguous")


def check_grids():
    for grid, kind, words in (
            ((1.5,), TypeError, "axis 0 of the grid is 1.5"), ("12", TypeError, "axis 0"),
            ((), ValueError, "one to three axes"), ((1, 1, 1, 1), ValueError, "not 4"),
            ((-1,), ValueError, "-1"), ((1, 1 << 40), ValueError, "axis 1"),
            ((1 << 80,), TypeError, "64 bits"),
            (np.zeros(2), TypeError, ""), (lambda meta: None, TypeError, "None"),
            (lambda: 1, TypeError, "argument"), ((1, None), TypeError, "axis 1")):
        fails(f"grid {grid}", kind, lambda: launch(grid=grid), words)

    def broken(meta):
        raise LookupError("mine")

    check("an exception of a grid function", fails("grid", LookupError,
          lambda: launch(grid=broken), "mine") is not None)
    fails("a missing constant in a grid function", KeyError,
          lambda: launch(grid=lambda meta: (meta["BLOCK"],)), "BLOCK")

    class Interrupted:
        def __index__(self):
            raise KeyboardInterrupt

    fails("Ctrl-C in an integer", KeyboardInterrupt, lambda: launch(grid=(Interrupted(),)))
    fails("Ctrl-C in an argument", KeyboardInterrupt, lambda: launch(n=Interrupted()))
    check("a grid of numpy.int64", launch(grid=(np.int64(1),)) is not None)
    check("a list as a grid", launch(grid=[1, 1]) is not None)


def check_arguments():
    fails("too many", TypeError, lambda: scale[(1,)](X, OUT, 16, 16, 1),
          "scale() takes 4 positional arguments but 5 were given")
    fails("missing", TypeError, lambda: scale[(1,)](X, OUT),
          "scale() missing 2 required arguments: 'n', 'B'")
    fails("twice", TypeError, lambda: scale[(1,)](X, OUT, 16, x=X, B=16),
          "multiple values for argument 'x'")
    fails("unknown", KeyError, lambda: launch(blocks=3), "blocks", "scale")
    fails("an option's type", (TypeError, nereid.NereidError), lambda: launch(num_warps="4"))
    fails("an option's value", nereid.NereidError, lambda: launch(num_warps=3), "be one of")
    fails("an integer too large", OverflowError, lambda: launch(n=1 << 70), "`n`", "64 bits")
    fails("called directly", RuntimeError, lambda: scale(X, OUT, 16, 16), "scale[grid](...)")
    fails("jit of no function", TypeError, lambda: nereid.jit(3), "Python function")
    fails("*args", TypeError, lambda: nereid.jit(lambda *a: None)[(1,)](X), "can't be launched",
          "the parameter *a;")
    error = fails("a constant's value", nereid.CompilationError, lambda: launch(B="a"), "arange")
    check("its line", error and error.diagnostics[0].file == __file__)
    nested = ()
    for _ in range(100000):
        nested = (nested,)
    fails("tuples that are nested", RecursionError, lambda: launch(n=nested))
    fails("nested constants", RecursionError, lambda: launch(B=nested))
    while nested:  # their end would be a recursion as well
        nested = nested[0]

    class Odd:
        def __hash__(self):
            raise LookupError("hash")

    fails("an exception in __hash__", LookupError, lambda: launch(B=Odd()), "hash")

    class Unequal:
        __hash__ = lambda self: 1

        def __eq__(self, other):
            raise LookupError("eq")

    fails("constants without a meaning", (LookupError, nereid.CompilationError),
          lambda: launch(B=Unequal()))
    forever = tl.constexpr(1)
    forever.value = forever
    fails("a constant in itself", (RecursionError, nereid.NereidError), lambda: launch(B=forever))


def check_sources():
    space = {"tl": tl}
    exec("def made(x):\n    tl.store(x, 1.0)\n", space)
    fails("a source that can't be found", OSError, lambda: nereid.jit(space["made"])[(1,)](OUT),
          "made", "linecache")
    fails("a built-in", TypeError, lambda: nereid.jit(len))


def check_hooks():
    def broken(*args, **kwargs):
        raise LookupError("hook")

    kernel = nereid.jit(scale.fn)
    kernel.add_pre_run_hook(broken)
    fails("an exception of a hook", LookupError, lambda: kernel[(1,)](X, OUT, 16, B=16), "hook")
    fails("no hook", TypeError, lambda: kernel.add_pre_run_hook(3))
    kernel.pre_run_hooks[:] = [lambda *a, **k: kernel.pre_run_hooks.clear(), broken]
    check("a hook that takes hooks away", kernel[(1,)](X, OUT, 16, B=16) is not None)
    knobs = nereid.knobs.runtime
    for chain in (knobs.launch_enter_hook, knobs.launch_exit_hook):
        chain.add(broken)
        fails("an exception of a launch hook", LookupError, launch, "hook")
        chain.remove(broken)
    check("hooks are gone", launch() is not None)


INTERRUPTED = """
import os, signal, sys, threading, time
import nereid, nereid.language as tl, numpy as np
configs = [nereid.Config({"B": 1 << i}, num_warps=w) for i in range(4, 12) for w in (1, 2, 4)]
@nereid.autotune(configs, key=["n"])
@nereid.jit
def tuned(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.exp(tl.load(x + i, mask=i < n) * 1e-3), mask=i < n)
x = np.zeros(1 << 16, np.float32)
# A shell ignores the signal for its background jobs, and they inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(float(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        tuned[lambda m: (nereid.cdiv(len(x), m["B"]),)](x, len(x))
        tuned.cache.clear()
except KeyboardInterrupt:
    print("interrupted")
"""


def run_python(code, *args, **variables):
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), **variables}
    run = subprocess.run([sys.executable, "-c", code, *args], env=env, text=True,
                         capture_output=True, timeout=300)
    return run.returncode, run.stdout + run.stderr


def check_interrupts():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        path = pathlib.Path(folder, "tuned.py")
        path.write_text(INTERRUPTED)
        code = "import runpy, sys; sys.argv[0] = sys.argv.pop(1); runpy.run_path(sys.argv[0])"
        for after in ("0.5", "2"):
            status, text = run_python(code, str(path), after, NEREID_CACHE_DIR=folder)
            check(f"Ctrl-C after {after} s", (status, text) == (0, "interrupted\n"),
                  (status, text[-2000:]))


def check_fork():
    launch()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            x = np.ones(64, np.float32)
            scale[(2,)](x, x, 64, B=32)
            scale[(1,)](x, x, 64.0, B=64)  # compiled in the child
            os._exit(0 if (x == 4).all() else 2)
        except BaseException as error:
            print("in the child:", error, flush=True)
            os._exit(3)
    check("a forked child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)


TWO = """
import sys
import numpy as np
def load(folder):
    for name in [n for n in sys.modules if n == "nereid" or n.startswith("nereid.")]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    import nereid, nereid.language
    sys.path.pop(0)
    assert nereid.__file__.startswith(folder), nereid.__file__
    return nereid
first, second = load(sys.argv[1]), load(sys.argv[2])
assert first is not second and first._nereid is not second._nereid
x = np.zeros(8, np.float32)
for n, nereid in enumerate((first, second, first)):
    space = {"tl": nereid.language, "nereid": nereid}
    import linecache
    text = f"def f(x):\\n    tl.atomic_add(x, {n + 1}.0)\\n"
    linecache.cache[f"f{n}"] = (len(text), None, text.splitlines(True), f"f{n}")
    exec(compile(text, f"f{n}", "exec"), space)
    nereid.jit(space["f"])[(2,)](x)
print(x[0])
"""


def check_two_versions():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        shutil.copytree(BUILD / "python" / "nereid", pathlib.Path(folder, "nereid"))
        status, text = run_python(TWO, str(BUILD / "python"), folder)
        check("two libraries in one process", (status, text) == (0, "12.0\n"), text[-2000:])


SUBINTERPRETER = """
import sys
import nereid, nereid.language as tl, linecache, ctypes
class Pointer:
    def __init__(self, address):
        self._nereid_described = address, (0, 4), (1, 0), (0, 32)
text = "def f(x, n):\\n    tl.store(x, KNOWN + n)\\n"
linecache.cache["m"] = len(text), None, text.splitlines(True), "m"
KNOWN = tl.constexpr(4)
exec(compile(text, "m", "exec"))
number = ctypes.c_int()
nereid.jit(f)[(1,)](Pointer(ctypes.addressof(number)), 3)
print(number.value, flush=True)
"""


def check_subinterpreters():
    try:
        import _xxsubinterpreters  # noqa: F401
    except ImportError:
        print("1 skipped: no module _xxsubinterpreters")
        return
    code = f"""
import _xxsubinterpreters as subinterpreters
code = {SUBINTERPRETER!r}
for _ in range(2):
    other = subinterpreters.create()
    subinterpreters.run_string(other, code)
    exec(code)
    subinterpreters.destroy(other)
"""
    status, text = run_python(code)
    check("two interpreters of one process", (status, text) == (0, "7\n" * 4), text[-2000:])


def check_threads():
    arrays = [np.ones(256, np.float32) for _ in range(8)]
    kernel = nereid.jit(scale.fn)
    errors = []

    def work(x):
        try:
            for i in range(200):
                kernel[(256 // 64,)](x, x, 256, B=64)
                x[:] = 1
                if i % 50 == 7:
                    kernel._forget()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check("threads of one kernel, which is forgotten meanwhile", not errors, errors)


if __name__ == "__main__":
    for part in (check_tensors, check_torch, check_descriptors, check_grids, check_arguments,
                 check_sources, check_hooks, check_interrupts, check_fork, check_two_versions,
                 check_subinterpreters, check_threads):
        part()
    sys.exit(tally.report())
