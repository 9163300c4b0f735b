#!/usr/bin/env python3
"""Nereid under the name of Triton: which module each name gives, what a missing one says, programs
and tests that run so, and what torch asks of triton, where torch is installed."""
import importlib.util, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally

ENV = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
BEGIN = "import nereid\nnereid.install_as_triton()\n"


def run(text, *arguments, **variables):
    """The output of a program, and its errors."""
    done = subprocess.run([sys.executable, *arguments, *(["-c", text] if text else [])], text=True,
                          env={**ENV, **variables}, capture_output=True)
    return done.stdout + done.stderr


def check(what, text, want, **variables):
    found = run(BEGIN + text, **variables).strip()
    tally.check(want in found if len(want) > 40 else found == want, f"{what}: {found}")


def check_names():
    same = {
        "triton.language.load": "nereid.language.load",
        "triton.language.extra.libdevice.exp": "nereid.language.extra.libdevice.exp",
        "triton.language.extra.cuda.libdevice.exp": "nereid.language.extra.libdevice.exp",
        "triton.language.core.constexpr": "nereid.language.constexpr",
        "triton.language.math.exp": "nereid.language.exp",
        "triton.runtime.jit.JITFunction": "nereid.JITFunction",
        "triton.runtime.JITFunction": "nereid.JITFunction",
        "triton.JITFunction": "nereid.JITFunction",
        "triton.runtime.autotuner.Autotuner": "nereid.Autotuner",
        "triton.runtime.autotuner.OutOfResources": "nereid.OutOfResources",
        "triton.runtime.errors.OutOfResources": "nereid.OutOfResources",
        "triton.compiler.errors.CompilationError": "nereid.CompilationError",
        "triton.compiler.CompilationError": "nereid.CompilationError",
        "triton.compiler.CompiledKernel": "nereid.CompiledKernel",
        "triton.compiler.compiler.CompiledKernel": "nereid.CompiledKernel",
        "triton.cdiv": "nereid.cdiv",
        "triton.testing.do_bench": "nereid.testing.do_bench",
        "triton.tools.tensor_descriptor.TensorDescriptor":
            "nereid.tools.tensor_descriptor.TensorDescriptor",
        "triton.tools.ragged_tma.load_ragged": "nereid.tools.ragged_tma.load_ragged",
        "triton.knobs.runtime": "nereid.knobs.runtime",
        "triton.constexpr_function": "nereid.constexpr_function",
    }
    lines = ["import importlib", "def get(name):",
             "    module, _, name = name.rpartition('.')",
             "    return getattr(importlib.import_module(module), name)"]
    lines += [f"print(get({a!r}) is get({b!r}))" for a, b in same.items()]
    found = run(BEGIN + "\n".join(lines)).split("\n")
    for (name, ours), line in zip(same.items(), [*found, *[""] * len(same)]):
        tally.check(line == "True", f"{name} is {ours}: {line}")
    if "True" not in found:
        print("\n".join(found))


def check_modules():
    check("the version", "import triton; print(triton.__version__)", "3.6.0")
    check("the distribution", "import importlib.metadata as m; print(m.version('triton'))", "3.6.0")
    check("a spec", "import importlib.util as u; print(u.find_spec('triton').name)", "triton")
    check("a spec of a part", "import importlib.util as u\n"
          "print(u.find_spec('triton.language.extra') is not None)", "True")
    check("attributes without imports", "import triton\n"
          "print(triton.language.extra.cuda.libdevice.tanh.__name__, triton.runtime.errors.__name__"
          ")",
          "tanh nereid.errors")
    check("as in triton", "import triton.language as tl; print(tl.float16)", "fp16")
    check("reloaded", "import importlib, triton; print(importlib.reload(triton) is triton)", "True")
    check("a target", "from triton.runtime import driver\n"
          "print(driver.active.get_current_target().backend)",
          "cuda" if os.path.exists("/dev/nvidiactl") else "cpu")
    check("a backend", "from triton.compiler.compiler import make_backend\n"
          "from triton.backends.compiler import GPUTarget\n"
          "print(make_backend(GPUTarget('cuda', 90, 32)).binary_ext)", "cubin")
    check("a setting", "import triton; print(triton.knobs.autotuning.print)", "True",
          TRITON_PRINT_AUTOTUNING="1")
    check("a setting is assigned", "import os, triton\n"
          "with triton.knobs.cache.scope():\n"
          "    triton.knobs.cache.dir = '/a'\n    print(os.environ['NEREID_CACHE_DIR'], end=' ')\n"
          "print(os.environ.get('TRITON_CACHE_DIR'))", "/a None", NEREID_CACHE_DIR="/b")
    check("Triton's variable", "import os, triton; print(os.environ['NEREID_CACHE_DIR'])", "/c",
          TRITON_CACHE_DIR="/c", NEREID_CACHE_DIR="")
    check("a file that is kept", "from triton.runtime.cache import get_cache_manager\n"
          "m = get_cache_manager('ab12')\nm.put(b'x', 'f')\n"
          "print(open(m.get_file('f')).read())", "x", TRITON_CACHE_DIR=tempfile.mkdtemp())
    check("a class of caches", "from triton.runtime.cache import get_cache_manager as get\n"
          "print(type(get('ab')).__name__)", "Mine", TRITON_CACHE_MANAGER="mine:Mine",
          TRITON_CACHE_DIR=tempfile.mkdtemp(),
          PYTHONPATH=f"{BUILD}/python:{with_file('mine.py', MINE)}")


MINE = """from triton.runtime.cache import FileCacheManager
class Mine(FileCacheManager):
    pass
"""


def with_file(name, text):
    """A new folder with one file."""
    folder = tempfile.mkdtemp()
    path = pathlib.Path(folder, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return folder


def check_missing():
    say = "Nereid, which is installed as triton, has no "
    for name in ("triton.nothing", "triton.runtime.nothing", "triton.runtime.jit.nothing",
                 "triton.language.nothing", "triton.language.math.nothing"):
        check(name, f"import triton.language.math\nimport triton.runtime.jit\n{name}", say + name)
    for name in ("triton._C.libtriton", "triton.profiler", "triton.profiler.language",
                 "triton.language.nothing", "triton.models"):
        module = ".".join(name.split(".")[:2]) if name != "triton.language.nothing" else name
        check(name, f"import {name}", f"ModuleNotFoundError: {say}module {module}")
    check("hasattr", "import triton; print(hasattr(triton.language, 'nothing'))", "False")
    check("from import", "try:\n    from triton.language import nothing\n"
          "except ImportError as e:\n    print('ImportError')", "ImportError")


KERNEL = """
import sys
import numpy as np
import triton, triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, libdevice.exp(tl.load(x + i, mask=i < n)), mask=i < n)

def test_exp():
    x = np.linspace(0, 1, 1000, dtype=np.float32)
    y = np.empty_like(x)
    kernel[(triton.cdiv(1000, 256),)](x, y, 1000, BLOCK=256)
    assert np.allclose(y, np.exp(x))
    return x

if __name__ == "__main__":
    test_exp()
    print(sys.argv[1:], triton.__file__.split("/")[-2], __name__)
"""


def check_programs():
    if not importlib.util.find_spec("numpy"):
        print("5 skipped: no numpy")
        return
    folder = with_file("test_program.py", KERNEL)
    real = with_file("triton/__init__.py", "raise SystemError('this is Triton itself')")
    path = f"{BUILD}/python:{real}:{folder}"
    want = "['a', '-b'] as_triton __main__"
    found = run("", "-m", "nereid", "--as-triton", f"{folder}/test_program.py", "a", "-b",
                PYTHONPATH=path)
    tally.check(found.strip() == want, f"a script: {found}")
    found = run("", "-m", "nereid", "--as-triton", "-m", "test_program", "a", "-b", PYTHONPATH=path)
    tally.check(found.strip() == want, f"a module: {found}")
    child = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])\n"
    found = run("", "-m", "nereid", "--as-triton", with_file("start.py", child) + "/start.py",
                f"{folder}/test_program.py", "a", "-b", PYTHONPATH=path)
    tally.check(found.strip() == want, f"a script that a script starts: {found}")
    found = run("", "-m", "nereid", "--as-triton")
    tally.check("usage: python -m nereid --as-triton SCRIPT" in found, f"no script: {found}")
    if not importlib.util.find_spec("pytest"):
        print("1 skipped: no pytest")
        return
    found = run("", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                "--as-triton", folder, PYTHONPATH=path)
    tally.check("1 passed" in found, f"pytest: {found}")


def check_refused():
    theirs = with_file("triton/__init__.py", "")
    found = run("import triton\n" + BEGIN, PYTHONPATH=f"{BUILD}/python:{theirs}")
    tally.check(f"triton is imported already, from {theirs}" in found, f"after triton: {found}")
    found = run(BEGIN + BEGIN + "print('twice')").strip()
    tally.check(found == "twice", f"installed twice: {found}")


ERRORS = """
import triton, triton.language as tl
@triton.jit
def inner(N: tl.constexpr):
    xyz + N
def make():
    @triton.jit
    def outer():
        # a line
        inner(3)
    @triton.jit
    def direct():
        tl.program_id(20)
    @triton.jit
    def failed():
        tl.static_assert(False, "so")
    return outer, direct, failed
def cause(kernel):
    try:
        triton.compile(triton.compiler.ASTSource(fn=kernel, signature={}, constexprs={}))
    except triton.CompilationError as error:
        return error
links = [cause(k) for k in make()]
print(["at 3:4:" in str(links[0]), "xyz" in str(links[0]), "script.py:10:" in str(links[0])])
print(["at 2:4:" in str(links[0].__cause__), str(links[0].__cause__.__cause__)])
print(["at 2:4:" in str(links[1]), str(links[1].__cause__), str(links[1]).split(chr(10))[-1]])
print(type(links[2]).__name__, links[2].__cause__)
"""


def check_errors():
    script = with_file("script.py", ERRORS) + "/script.py"
    found = run("", "-m", "nereid", "--as-triton", script)
    wrong = "program_id axis must be 0, 1, or 2 but got 20"
    wanted = ["[True, True, True]", "[True, \"'xyz' is not defined\"]",
              f"[True, '{wrong}', '{wrong}']", "CompileTimeAssertionFailure None"]
    tally.check(found.splitlines() == wanted, f"errors as Triton's: {found}")


TORCH = """
import sys, torch
import torch.utils._triton as t
from torch._inductor.runtime import triton_compat
from torch._inductor.runtime.hints import AttrsDescriptorWrapper
import torch._inductor.runtime.triton_helpers
import triton, nereid
print(t.has_triton_package(), t.get_triton_version(), triton_compat.HAS_TRITON)
print(triton_compat.builtins_use_semantic_kwarg, triton_compat.JITFunction is nereid.JITFunction)
print(triton_compat.libdevice.__name__, triton_compat.OutOfResources is nereid.OutOfResources)
import inspect
# Later versions of torch look at the CPU only where they are told to.
cpu = {"include_cpu": True} if "include_cpu" in inspect.signature(t.has_triton).parameters else {}
print(len(t.triton_hash_with_backend()), t.has_triton(**cpu))
from triton import language as tl
from torch.library import triton_op, wrap_triton
@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) * 2)
@triton_op("mine::twice", mutates_args={})
def twice(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(kernel)[(1,)](x, y, 16)
    return y
print(twice(torch.ones(16)).sum().item())
from torch._higher_order_ops import triton_kernel_wrap as wrap
arguments = kernel, {"x": torch.ones(16), "y": torch.ones(16), "BLOCK": 16}, {}
if hasattr(wrap, "identify_mutated_tensors"):
    print(wrap.identify_mutated_tensors(*arguments))
else:
    print([dep.name for dep in wrap.identify_accessed_tensors(*arguments).read_writes.writes])
compiled = torch.compile(lambda x: twice(x) + 1, backend="aot_eager", fullgraph=True)
print(compiled(torch.ones(16)).sum().item())
@triton.autotune(configs=[triton.Config({"BLOCK": 16})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 16 == 0})
@triton.jit
def scale(x, y, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)
def user(x):
    y = torch.zeros_like(x)
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
print(torch.compile(user, backend="aot_eager", fullgraph=True)(torch.ones(40)).sum().item())
"""


def check_torch():
    if not importlib.util.find_spec("torch"):
        print("4 skipped: no torch")
        return
    want = ["True (3, 6) True", "True True", "nereid.language.extra.libdevice True", "64 True",
            "32.0", "['y']", "48.0", "120.0"]
    found = run(None, with_file("program.py", BEGIN + TORCH) + "/program.py").strip().split("\n")
    for line, text in zip(want, [*found, *[""] * len(want)]):
        tally.check(line == text, f"torch: {text}, not {line}")
    if found != want:
        print("\n".join(found))
    late = ("import torch.utils._triton as t\nprint(t.has_triton_package())\n" + BEGIN
            + "print(t.has_triton_package())\n")
    hidden = "import sys\nsys.modules['triton'] = None\n"
    found = run(hidden + late).split()
    tally.check(found == ["False", "True"], f"torch has looked for triton: {found}")
    found = run(hidden + "import torch._inductor.runtime.triton_compat\n" + BEGIN)
    tally.check("has found no triton: call nereid.install_as_triton() before" in found, found)


check_names()
check_modules()
check_missing()
check_programs()
check_refused()
check_errors()
check_torch()
sys.exit(tally.report())
