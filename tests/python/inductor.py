#!/usr/bin/env python3
"""TorchInductor's kernels compiled by Nereid.  On a machine without a GPU they are compiled as for
an H200 and never run; with the argument cuda they run on a GPU, and are compared with eager."""
import importlib.util, json, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
BEGIN = "import nereid.inductor\nnereid.inductor.enable()\n"


def run(text, **variables):
    """The output of a program, and its errors."""
    path = f"{BUILD}/python:{ROOT}/tests/support"
    env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([sys.executable, file.name], text=True, env=env, capture_output=True)
    return done.stderr + done.stdout


def check_order():
    """enable() before and after parts of PyTorch are imported."""
    ask = "import torch.utils._triton as t\nprint(t.has_triton_package(), t.get_triton_version())\n"
    hidden = "import sys\nsys.modules['triton'] = None\n"
    for what, text in {
        "before torch": BEGIN + ask,
        "twice": BEGIN + BEGIN + ask,
        "after torch": "import torch\n" + BEGIN + ask,
        "after torch has looked in vain": hidden + ask.split("print")[0]
        + "t.has_triton_package()\n" + BEGIN + ask,
        "after Inductor's settings": "import torch._inductor.config\n" + BEGIN + ask,
    }.items():
        found = run(text).strip()
        tally.check(found == "True (3, 6)", f"enabled {what}: {found[-1000:]}")
    found = run(hidden + "import torch._inductor.runtime.triton_compat\n" + BEGIN)
    tally.check("before torch's compiler is imported" in found, f"too late: {found[-1000:]}")
    theirs = "t = sys.modules['triton'] = types.ModuleType('triton')\n"
    found = run("import sys, types\n" + theirs + BEGIN)
    tally.check("triton is imported already" in found, f"after triton: {found[-1000:]}")
    found = run("import torch._inductor.async_compile as a\n" + BEGIN
                + "print(a.AsyncCompile.process_pool.__module__)\n").strip()
    if "has found no triton" not in found:  # Triton itself is not installed
        tally.check(found == "nereid.inductor" or "triton is imported already" in found,
                    f"after Inductor: {found[-1000:]}")


FUNCTIONS = '''
import torch
F = torch.nn.functional


def pointwise(x, w):
    return F.gelu(x * 2) + w.sum(), x.t() + 1


def norm(x, w):
    return F.layer_norm(x, (x.shape[1],)), F.batch_norm(x, None, None, training=True)


def softmax(x, w):
    return torch.softmax(x @ w, -1), x.logsumexp(0), x.argmax(1), x.var(0)


def large(x, w):
    y = torch.cat([x] * 64, 1)
    return y.softmax(-1).amax(1), F.rms_norm(y, (y.shape[1],)), y.argmin(1)


def scans(x, w):
    return x.cumsum(1), x.cumprod(0), (x > 0).any(1), x.sort(1).values


def indices(x, w):
    i = x.argsort(1)
    return x.gather(1, i), torch.zeros_like(x).scatter_add(1, i, x), x.sum()


def integers(x, w):
    n = (x * 100).int()
    return n // 7, n % 5, n.bitwise_xor(3), n.long().float(), torch.div(n, 3, rounding_mode="trunc")


def convolution(x, w):
    image = x.reshape(1, 1, 100, 64)
    return F.max_pool2d(image, 3, 2, 1), F.interpolate(image, scale_factor=2, mode="bilinear")


def in_place(x, w):
    y = x.clone()
    y.add_(1)
    return y.half(), y.bfloat16().float()
'''

COMPILE = BEGIN + '''
import json, sys, torch
import torch._inductor.config as config
config.joint_graph_constant_folding = False  # it would run operators
import absent_gpu
from torch._subclasses import FakeTensorMode
absent_gpu.install()
from torch._inductor.runtime import triton_heuristics as heuristics
launchable = heuristics.StaticTritonCompileResult.can_statically_launch
facts = []
def can_statically_launch(kernel, *rest):
    found = launchable(kernel, *rest)
    types = found and found.arg_tys
    params = [p[1] for p in kernel.image.params]
    facts.append((kernel.name, types, params, len(kernel.image.variants), kernel.metadata.num_warps,
                  kernel.image.variants[0]["threads"]))
    return found
heuristics.StaticTritonCompileResult.can_statically_launch = staticmethod(can_statically_launch)
out = {}
names = [f.__name__ for f in list(globals().values()) if getattr(f, "__module__", 0) == "__main__"
         and callable(f) and f.__name__ not in ("can_statically_launch",)]
with FakeTensorMode(allow_non_fake_inputs=True):
    x = torch.randn(100, 64, device="cuda")
    w = torch.randn(64, 64, device="cuda")
    for name in names:
        torch._dynamo.reset()
        facts.clear(), absent_gpu.loaded.clear()
        try:
            torch.compile(globals()[name])(x, w)
            end = "no kernel"
        except absent_gpu.Ran:
            end = "ran"
        except Exception as e:
            end = "".join(__import__("traceback").format_exception(e))[-3000:]
        out[name] = (end, list(facts), list(absent_gpu.loaded))
from torch._dynamo.utils import counters
import os
children = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()
print(json.dumps({"functions": out, "children": len(children), "counters": counters["inductor"]}))
'''


def check_compiled():
    """What Inductor writes for a GPU compiles, and its static launcher finds the machine code."""
    with tempfile.TemporaryDirectory() as cache:
        found = run(FUNCTIONS + COMPILE, TORCHINDUCTOR_CACHE_DIR=cache)
        try:
            found = json.loads(found.splitlines()[-1])
        except (IndexError, ValueError):
            tally.check(False, f"compiling: {found[-3000:]}")
            return
        for name, (end, facts, loaded) in found["functions"].items():
            tally.check(end == "ran" and facts, f"{name}: {end}")
            for kernel, types, params, variants, warps, threads in facts:
                tally.check(types is not None and len(types) == len(params) and variants == 1
                            and threads == 32 * warps, f"{name}, {kernel}: {types} for {params}")
            for path, symbol, _ in loaded:
                with open(path, "rb") as f:
                    code = f.read()
                tally.check(code[:4] == b"\x7fELF" and symbol.encode() in code, f"{path} of {name}")
        tally.check(found["children"] == 0, f"{found['children']} processes were started")


RECORDS = BEGIN + """
import types
import nereid.language as tl
from nereid import _nereid, inductor
from nereid.compiler.source import ASTSource, compile
from nereid.runtime import driver
cpu = _nereid.Device("cpu")
driver.device = lambda name: cpu

@nereid.jit
def kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, i, mask=i < n)

launchers, images = [], {}
for b in (64, 128):
    types_ = {"x": "*i32", "n": "i32", "B": "constexpr"}
    compiled = compile(ASTSource(kernel, types_, {"B": b}), "sm_90a")
    images[compiled.hash] = compiled.image
    config = types.SimpleNamespace(kwargs={"B": b}, num_warps=4, num_stages=1)
    launchers.append(types.SimpleNamespace(cache_hash=compiled.hash, config=config))
kept = []
tuner = types.SimpleNamespace(
    fn=kernel, launchers=launchers, inductor_meta={},
    device_props=types.SimpleNamespace(type="cuda", index=0),
    coordesc_tuner=types.SimpleNamespace(cache_benchmark_result=lambda c, t: kept.append(t)))
measured = []
def theirs(self, *args):
    measured.append(args)
    return {launcher: i + 1.5 for i, launcher in enumerate(self.launchers)}
# SimpleNamespaces have no hash.
class Launcher(types.SimpleNamespace):
    __hash__ = object.__hash__
tuner.launchers = [Launcher(**vars(l)) for l in launchers]
benchmark = inductor._with_records(theirs, images)
for n in (1000, 1000, 2000):
    found = benchmark(tuner, "a tensor", n)
    print(list(found.values()), len(measured))
print(kept)
"""


def check_records():
    with tempfile.TemporaryDirectory() as cache:
        found = run(RECORDS, NEREID_CACHE_DIR=cache).split("\n")
    want = ["[1.5, 2.5] 1", "[1.5, 2.5] 1", "[1.5, 2.5] 2", "[1.5, 2.5]"]
    tally.check(found[:4] == want, f"records: {found}")


def main():
    check_records()
    if not importlib.util.find_spec("torch"):
        print("1 skipped: no torch")
        tally.check(True, "")
        return
    check_order()
    if DEVICE == "cpu":
        check_compiled()


if __name__ == "__main__":
    main()
    sys.exit(tally.report())
