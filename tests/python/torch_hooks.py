#!/usr/bin/env python3
"""PyTorch's hooks for backends: the backend's name by `import nereid` alone, functions that
aot_compile() writes and another process loads, artifacts that carry executables, and regions that
are compiled once."""
import contextlib, importlib, json, os, pathlib, shutil, subprocess, sys, tempfile
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None
else:
    import nereid
    from nereid import torch_backend as backend
    from nereid._nereid import build_id

    region = getattr(torch.compiler, "nested_compile_region", None)

NO_TOOLS = {"PATH": "", "CC": "no-such-compiler"}


def python(text, *words, cache="", by_pytorch=False, **environment):
    """The last line that a process prints; None: it failed, or PyTorch ran a node, which it shall
    if `by_pytorch` says so."""
    done = subprocess.run([sys.executable, "-c", text, *map(str, words)], text=True,
                          stdout=subprocess.PIPE,
                          stderr=None if "--verbose" in sys.argv else subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python"),
                               "NEREID_CACHE_DIR": f"{cache}/nereid",
                               "TORCHINDUCTOR_CACHE_DIR": f"{cache}/torch", **environment})
    if done.returncode or ("PyTorch runs" in done.stdout) != by_pytorch:
        return None
    return json.loads(done.stdout.splitlines()[-1])


# ---- the name ----


def check_name(folder):
    """A package without metadata, imported before PyTorch, after it, and after its backends."""
    shutil.copytree(BUILD / "python/nereid", folder / "bare/nereid",
                    ignore=shutil.ignore_patterns("__pycache__"))
    for names in ("nereid, sys; early = 'torch' in sys.modules; import torch",
                  "torch._dynamo.backends.registry, nereid; early = False"):
        text = (f"import {names}\nimport json, torch\n"
                "f = torch.compile(lambda x: x + 1, backend='nereid')\n"
                "print(json.dumps([early, *f(torch.ones(3)).tolist(), "
                "*torch._dynamo.list_backends()]))")
        got = python(text, cache=folder, PYTHONPATH=str(folder / "bare"))
        tally.check(got is not None and got[:4] == [False, 2, 2, 2] and "nereid" in got[4:],
                    f"import {names}: {got}")


# ---- ahead of time ----

LOG = """
import json, logging, pathlib, sys, torch
import nereid
log = logging.getLogger("nereid.torch_backend")
log.addHandler(logging.StreamHandler(sys.stdout))
log.setLevel(logging.INFO)
"""
MODEL = LOG + """
torch._dynamo.config.enable_aot_compile = True

def f(x, w, b):
    y = torch.nn.functional.gelu(x @ w + b)
    return y.softmax(-1).sum(0), y[1:]

def far(function):
    torch.manual_seed(5)
    given = [torch.randn(8, 16), torch.randn(16, 16), torch.randn(16)]
    results = []
    for run in (function, f):
        leaves = [x.clone().requires_grad_() for x in given]
        made = run(*leaves)
        loss = sum(y.square().sum() for y in made)
        results.append([*made, *torch.autograd.grad(loss, leaves)])
    return max((a - b).abs().max().item() for a, b in zip(*results))

given = [torch.randn(8, 16), torch.randn(16, 16).requires_grad_(), torch.randn(16)]
for x in given: x.requires_grad_()
"""
WRITE = MODEL + """
options = json.loads(sys.argv[2])
made = torch.compile(f, backend="nereid", fullgraph=True, **options).aot_compile((tuple(given), {}))
made.save_compiled_function(sys.argv[1])
print(json.dumps(far(made)))
"""
READ = MODEL + """
with open(sys.argv[1], "rb") as file:
    made = torch.compiler.load_compiled_function(file)
if len(sys.argv) > 2:  # and is written again
    made.save_compiled_function(sys.argv[2])
    with open(sys.argv[2], "rb") as file:
        made = torch.compiler.load_compiled_function(file)
print(json.dumps(far(made)))
"""
FALLBACK = LOG + """
torch._dynamo.config.enable_aot_compile = True
def f(x):
    return torch.linalg.eigvals(x.sin()).abs().sum() + x.cos()
x = torch.randn(5, 5)
made = torch.compile(f, backend="nereid", fullgraph=True).aot_compile(((x,), {}))
made.save_compiled_function(sys.argv[1])
with open(sys.argv[1], "rb") as file:
    again = torch.compiler.load_compiled_function(file)
print(json.dumps((again(x) - f(x)).abs().max().item()))
"""


def has_ahead():
    return hasattr(torch.compiler, "load_compiled_function")


def check_ahead(folder):
    """A function that is written by one process runs in another, which compiles nothing."""
    if not has_ahead():
        return
    path = folder / "function"
    for options, tools in (({"dynamic": True}, {}), ({"mode": "reduce-overhead"}, NO_TOOLS)):
        got = python(WRITE, path, json.dumps(options), cache=folder / "first")
        tally.check(got is not None and got < 1e-4, f"{options}: a function is written: {got}")
        again = [] if tools else [folder / "again"]
        got = python(READ, path, *again, cache=folder / "second", **tools)
        tally.check(got is not None and got < 1e-4, f"{options}: and read: {got}")
    data, name = path.read_bytes(), build_id().encode()
    tally.check(name in data, "the build's name is in the file")
    path.write_bytes(data.replace(name, name[:-1] + (b"1" if name[-1:] == b"0" else b"0")))
    got = python(READ, path, cache=folder / "third")
    tally.check(got is not None and got < 1e-4, f"of another build: {got}")
    got = python(FALLBACK, folder / "fallback", cache=folder / "first", by_pytorch=True)
    tally.check(got is not None and got < 1e-4, f"with a node that PyTorch runs: {got}")


ARTIFACTS = MODEL + """
compiled = torch.compile(f, backend="nereid")
if sys.argv[1] == "read":
    torch.compiler.load_cache_artifacts(pathlib.Path(sys.argv[2]).read_bytes())
distance = far(compiled)
if sys.argv[1] == "write":
    pathlib.Path(sys.argv[2]).write_bytes(torch.compiler.save_cache_artifacts()[0])
print(json.dumps(distance))
"""


def check_artifacts(folder):
    """Artifacts carry the executables: a process with other caches needs no compiler."""
    path = folder / "artifacts"
    got = python(ARTIFACTS, "write", path, cache=folder / "one")
    tally.check(got is not None and got < 1e-4, f"artifacts are written: {got}")
    got = python(ARTIFACTS, "read", path, cache=folder / "two", **NO_TOOLS)
    tally.check(got is not None and got < 1e-4, f"artifacts are read without tools: {got}")
    got = python(ARTIFACTS, "none", path, cache=folder / "three", **NO_TOOLS)
    tally.check(got is None, f"a process compiles without tools: {got}")


# ---- offloaded activations ----


def offloading():
    """PyTorch's operators of offloaded activations, or ones with their schemas: waiting frees the
    memory of what was copied."""
    with contextlib.suppress(ImportError):  # before PyTorch 2.12
        importlib.import_module("torch._functorch._activation_offloading.offload_ops")
    if hasattr(torch.ops.ao, "wait_tensor"):
        return None
    library = torch.library.Library("ao", "FRAGMENT")
    library.define("offload(Tensor tensor) -> Tensor")
    library.define("wait_tensor(Tensor(a) tensor, Tensor? keepalive=None, "
                   "Tensor? last_use_of_storage=None) -> Tensor(a)")

    def wait(tensor, keepalive=None, last_use_of_storage=None):
        keepalive.untyped_storage().resize_(0)
        return tensor

    for name, function, fake in (("offload", torch.clone, torch.empty_like),
                                 ("wait_tensor", wait, lambda tensor, *_: tensor)):
        library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"ao::{name}", fake, lib=library)
    return library


def check_offload():
    """What reads a tensor before its memory is freed does so in the compiled program, too.  Such
    nodes are in graphs that AOTAutograd has made."""
    from torch.fx.experimental.proxy_tensor import make_fx

    library = offloading()
    if library is None:
        return  # PyTorch's own need a GPU

    def offload(module):
        graph = module.graph
        (sine,) = graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
        (output,) = graph.find_nodes(op="output")
        with graph.inserting_before(output):
            kept = graph.call_function(torch.ops.ao.offload.default, (sine,))
            waited = graph.call_function(torch.ops.ao.wait_tensor.default, (kept, sine))
        kept.meta["val"] = waited.meta["val"] = sine.meta["val"]
        output.args = ((output.args[0][0], waited),)
        module.recompile()

    x = torch.randn(1 << 18)  # the product reads the sine after PyTorch has made the cosine
    module = make_fx(lambda x: (x.sin() * x.cos(), x * 2))(x)
    made = nereid.standalone_compile(module, [x], dynamic_shapes="from_example_inputs",
                                     options={"by_pytorch": ("aten.cos.default",)}, change=offload)
    for got, want in zip(made(x), (x.sin() * x.cos(), x.sin())):
        tally.check(torch.allclose(got, want), "a tensor is freed once it was read")


# ---- regions ----


class Compiled:
    """Keeps the programs that are made."""

    def __init__(self):
        torch._dynamo.reset()
        backend._programs.clear()
        backend._programs.keep()

    def texts(self):
        return [len({id(one) for one in program.segments}) for program in backend._programs]

    def reasons(self):
        return [reason for program in backend._programs for reason in program.reasons.values()]


def results(function, given, train):
    leaves = [x.detach().clone().requires_grad_(train) for x in given]
    torch.manual_seed(2)
    with torch.set_grad_enabled(train):
        made = function(*leaves)
        return [made, *(torch.autograd.grad(made.sum(), leaves) if train else [])]


def check_region(name, function, given, most, train=True, **options):
    """Values, and segments of each program, which share those of the region: more than the one of
    an inlined region, and at most `most`, where regions that are compiled for each call have
    more."""
    watch = Compiled()
    got = results(torch.compile(function, backend="nereid", **options), given, train)
    want = results(function, given, train)
    far = max(((a - b).abs().max() / b.abs().max().clamp_min(1)).item()
              for a, b in zip(got, want))
    tally.check(far < 1e-5, f"{name}: {far}")
    texts = watch.texts()
    tally.check(len(texts) == (2 if train else 1) and 1 < max(texts) <= most,
                f"{name}: {texts} segments")
    tally.check(not watch.reasons(), f"{name}: {watch.reasons()}")


def check_regions():
    if region is None:
        return
    nn = torch.nn.functional

    @region
    def block(x, w):
        return nn.gelu(x @ w) + x

    @region
    def outer(x, w):
        return block(x, w) - block(x * 0.5, w)

    @region
    def attend(q, k):
        return nn.scaled_dot_product_attention(q, k, k, is_causal=True)

    def layers(inner):
        def function(x, *ws):
            for w in ws:
                x = inner(x, w)
            return x.sin()
        return function

    torch.manual_seed(0)
    given = [torch.randn(8, 16), *(torch.randn(16, 16) / 4 for _ in range(6))]
    # Of the forward pass one region for an input without gradient, and the nodes around them.
    check_region("layers", layers(block), given, 4)
    check_region("layers of open sizes", layers(block), given, 5, dynamic=True)
    check_region("layers without gradients", layers(block), given, 2, train=False)
    check_region("regions in regions", layers(outer), given, 6)
    heads = [torch.randn(2, 4, 32, 16) for _ in range(5)]
    check_region("attention", layers(attend), heads, 4)
    check_verified(layers(block), given)


def check_verified(function, given):
    """The mode that compares, and the report, go into regions."""
    watch = Compiled()
    got = torch.compile(function, backend="nereid", options={"verify": True})(*given)
    tally.check((got - function(*given)).abs().max() < 1e-4 and not watch.reasons(), "verify")
    report = nereid.explain(function, *given)
    titles = [segment.title for graph in report.graphs for segment in graph.segments]
    tally.check(any(" of " in title.partition(" of ")[2] for title in titles),
                f"a region has a name in the report: {titles}")
    tally.check(all("did not run" not in one.table for graph in report.graphs
                    for one in graph.segments), "and measured times")


def check_region_dropout():
    """Both passes of a region draw the same mask; uses of a region have different ones."""
    if region is None:
        return

    @region
    def drop(x):
        return torch.nn.functional.dropout(x, 0.5)

    Compiled()
    x = torch.ones(64, 64, requires_grad=True)
    y = torch.ones(64, 64, requires_grad=True)
    a, b = torch.compile(lambda x, y: (drop(x), drop(y)), backend="nereid")(x, y)
    (a.sum() + b.sum()).backward()
    tally.check(torch.equal(x.grad, a) and torch.equal(y.grad, b), "the mask of both passes")
    tally.check(not torch.equal(a, b) and 0.4 < (a == 0).float().mean() < 0.6, "two masks")


REGION = LOG + """
torch._dynamo.config.enable_aot_compile = True
@torch.compiler.nested_compile_region
def block(x, w):
    return torch.nn.functional.gelu(x @ w) + x
def f(x, ws):
    for w in ws:
        x = block(x, w)
    return x.sin()
torch.manual_seed(0)
x, ws = torch.randn(8, 16), [(torch.randn(16, 16) / 4).requires_grad_() for _ in range(3)]
if sys.argv[1] == "write":
    made = torch.compile(f, backend="nereid", fullgraph=True).aot_compile(((x, ws), {}))
    made.save_compiled_function(sys.argv[2])
else:
    with open(sys.argv[2], "rb") as file:
        made = torch.compiler.load_compiled_function(file)
results = [[y, *torch.autograd.grad(y.sum(), ws)] for y in (made(x, ws), f(x, ws))]
print(json.dumps(max((a - b).abs().max().item() for a, b in zip(*results))))
"""


def check_stored_regions(folder):
    if region is None or not has_ahead():
        return
    got = python(REGION, "write", folder / "region", cache=folder / "r1")
    tally.check(got is not None and got < 1e-3, f"regions are written: {got}")
    got = python(REGION, "read", folder / "region", cache=folder / "r2", **NO_TOOLS)
    tally.check(got is not None and got < 1e-3, f"regions are read without tools: {got}")


def check_written_regions():
    """Regions that write to their inputs; of a view PyTorch runs the call.  Such regions within
    others are wrong in PyTorch 2.11 itself, with every backend of AOTAutograd."""
    if region is None:
        return

    @region
    def write(cache, x):
        cache.mul_(0.5)
        cache[1].add_(x)
        return cache.sum(0) + x.sin()

    for name, call, ours in (
            ("written", lambda cache, x: write(cache, write(cache, write(cache, x))), True),
            ("a view is written", lambda cache, x: write(cache[1:], x) + cache.sum(), False)):
        watch = Compiled()
        given = [torch.randn(4, 8), torch.randn(8)]
        pairs = []
        for function in (torch.compile(call, backend="nereid"), call):
            leaves = [x.clone() for x in given]
            with torch.no_grad():
                pairs.append([function(*leaves), *leaves])
        far = max((a - b).abs().max().item() for a, b in zip(*pairs))
        tally.check(far < 1e-5, f"{name}: {far}")
        if ours:
            tally.check(not watch.reasons() and 0 < max(watch.texts(), default=0) <= 4,
                        f"{name}: {watch.reasons()}, {watch.texts()}")


def check_fake_results():
    """Compilations that overlap leave PyTorch's rules as they were."""
    from torch._subclasses.fake_impls import op_implementations_dict as rules

    from nereid.torch_backend.decompositions.fake_results import fake_results

    before, results = dict(rules), fake_results()
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
    first.enter_context(results)
    second.enter_context(results)
    changed = dict(rules)
    first.close()
    tally.check(rules == changed != before, "rules hold until the last compilation ends")
    second.close()
    tally.check(rules == before, "and are PyTorch's after it")


def check_graph_texts():
    """AOTAutograd prints no graph, but for a log that asks for them."""
    from torch._functorch._aot_autograd import graph_compile

    def printed(factor):  # graphs of their own, which no cache has
        torch._dynamo.reset()
        function = torch.compile(lambda x: (x @ x * factor).sin().sum(), backend="nereid")
        found = []
        with unittest.mock.patch.object(torch.fx.GraphModule, "print_readable",
                                        lambda *_, **__: found.append(1) or ""):
            function(torch.ones(4, 4, requires_grad=True)).backward()
        return len(found)

    tally.check(printed(1.5) == 0, "graphs are not printed")
    log = graph_compile.aot_joint_log
    level = log.level
    log.setLevel("INFO")
    tally.check(printed(2.5) > 0, "but where the log asks for them")
    log.setLevel(level)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_name(folder)
        check_ahead(folder)
        check_artifacts(folder)
        check_stored_regions(folder)
        # What an earlier run of this driver has stored would not be compiled.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "own")
        check_regions()
        check_region_dropout()
        check_written_regions()
        check_offload()
    check_fake_results()
    check_graph_texts()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
