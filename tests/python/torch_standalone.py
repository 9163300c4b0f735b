#!/usr/bin/env python3
"""`nereid.standalone_compile`, by which other programs embed Nereid: the pieces of models that are
cut at their attention, any number of tokens by one compilation, artifacts that another process
loads without a compiler, and what is refused."""
import hashlib, json, logging, os, pathlib, pickle, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import quick_cc, tally

try:
    import torch
    import quick_torch
    from torch._dynamo import aot_compile_types  # noqa: F401
except ImportError:
    torch = None
else:
    import nereid
    import served_models as served
    from nereid._nereid import build_id
    from nereid.torch_backend import standalone
    from nereid.torch_backend.cache import ahead, stored

NO_TOOLS = {"PATH": "", "CC": "no-such-compiler"}
COUNTS = (40, 1, 2, 3, 16, 64, 257)


def graph_of(function, *inputs, dynamic=()):
    """TorchDynamo's graph of a call, and its fake inputs; the first axes of `dynamic` are open."""
    found = []

    def keep(module, inputs):
        found.append(module)
        return module.forward

    torch._dynamo.reset()
    for tensor in dynamic:
        torch._dynamo.mark_dynamic(tensor, 0)
    torch.compile(function, backend=keep, fullgraph=True, dynamic=False)(*inputs)
    (module,) = found
    return module, fake_inputs(module)


def fake_inputs(module):
    return [node.meta["example_value"] for node in module.graph.nodes if node.op == "placeholder"]


def pieces_of(module):
    """The module as a caller of pieces: calls of the operator that cuts, and what is between."""
    from torch.fx.passes.split_module import split_module

    number, numbers = 0, {}
    for node in module.graph.nodes:
        cuts = str(node.target).replace(".", "::").startswith(served.SPLITS)
        number += cuts
        numbers[node] = number
        number += cuts
    return split_module(module, None, numbers.__getitem__, keep_original_order=True)


def compile_pieces(module, folder, **options):
    """Compiles the pieces that are computed, and gives the caller of them."""
    split = pieces_of(module)
    for name, piece in list(split.named_children()):
        if not any(str(node.target).startswith(served.SPLITS.replace("::", "."))
                   for node in piece.graph.nodes):
            artifact = nereid.standalone_compile(piece, fake_inputs(piece), **options)
            if folder is not None:
                artifact.save(path=str(folder / name))
            split.__dict__[name] = artifact
            del split._modules[name]
            setattr(split, name, Called(artifact))
    return split


class Called(torch.nn.Module if torch else object):
    def __init__(self, artifact):
        super().__init__()
        self.artifact = artifact

    def forward(self, *args):
        return self.artifact(*args)


def distance(got, want):
    return max((a - b).abs().max().item() for a, b in zip(got, want))


class Lines(logging.Handler):
    """Lines of the log."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __enter__(self):
        self.logger = logging.getLogger("nereid.torch_backend")
        self.level = self.logger.level
        self.logger.addHandler(self)
        self.logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *_):
        self.logger.removeHandler(self)
        self.logger.setLevel(self.level)


LOAD = """
import json, pathlib, sys
sys.path[:0] = [sys.argv[1]]
import torch_standalone as test
import torch, nereid, served_models as served
folder, kind = pathlib.Path(sys.argv[2]), sys.argv[3]
model, call = served.Served(kind), served.call_of(40)
module, _ = test.graph_of(model, *call, dynamic=call)
split = test.pieces_of(module)
for name in [name for name, _ in split.named_children() if (folder / name).exists()]:
    del split._modules[name]
    setattr(split, name, test.Called(nereid.CompiledArtifact.load(path=str(folder / name))))
print(json.dumps([test.run(split, model, module, count) for count in test.COUNTS]))
"""


def run(split, model, module, count):
    """The largest difference of a call by pieces from eager mode."""
    tokens, positions = served.call_of(count)
    names = [node.target for node in module.graph.nodes if node.op == "placeholder"]
    held = dict(model.named_parameters())
    given = []
    for name, value in zip(names, fake_inputs(module)):
        if isinstance(value, torch.SymInt):
            given.append(count)
        elif value.dtype == torch.int64:
            given.append(positions if "position" in name else tokens)
        else:
            path = name.replace("L_self_modules_", "").replace("L_self_parameters_", "")
            (found,) = [p for key, p in held.items() if plain(key) == plain(path)]
            given.append(found)
    made = split(*given)
    made = made[0] if isinstance(made, (tuple, list)) else made
    return (made - model(tokens, positions)).abs().max().item()


def plain(name):
    """A parameter's name without what TorchDynamo puts between the words."""
    for word in ("modules", "parameters", "_", "."):
        name = name.replace(word, "")
    return name


def check_pieces(folder):
    for kind in served.KINDS:
        model, call = served.Served(kind), served.call_of(40)
        module, _ = graph_of(model, *call, dynamic=call)
        where = folder / kind
        where.mkdir()
        with Lines() as log:
            split = compile_pieces(module, where, limits=(1, 300))
            compiled = len(log.lines)
            far = [run(split, model, module, count) for count in COUNTS]
        tally.check(max(far) < 1e-5, f"{kind}: {far}")
        tally.check(len(log.lines) == compiled, f"{kind} compiles in calls: {log.lines}")
        tally.check(all(", 0 nodes by PyTorch" in line or "cache" in line for line in log.lines),
                    f"{kind}: {log.lines}")
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(ROOT / "tests/python"), str(where), kind], text=True,
            stdout=subprocess.PIPE, stderr=None if "--verbose" in sys.argv else subprocess.DEVNULL,
            env={**os.environ, **NO_TOOLS, "NEREID_CACHE_DIR": str(folder / f"other {kind}")})
        far = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else [9]
        tally.check(max(far) < 1e-5, f"{kind} in another process without a compiler: {far}")


# ---- what is compiled ----


def simple(x, w):
    y = torch.nn.functional.gelu(x @ w)
    return y.softmax(-1).sum(0), y * 2


def check_forms(folder):
    x, w = torch.randn(9, 16), torch.randn(16, 16)
    module, _ = graph_of(simple, x, w)
    tally.check(distance(nereid.standalone_compile(module, [x, w])(x, w), simple(x, w)) < 1e-5,
                "tensors as example inputs")
    for tail, kind in (("one", torch.Tensor), ("list", list), ("nested", tuple)):
        graph = torch.fx.Graph()
        a, b = graph.graph_copy(module.graph, {})
        graph.output({"one": a, "list": [a, b], "nested": (a, (b, 3))}[tail])
        artifact = nereid.standalone_compile(torch.fx.GraphModule(module, graph), [x, w])
        artifact.save(path=str(folder / tail))
        for made in (artifact, nereid.CompiledArtifact.load(path=str(folder / tail))):
            got = made(x, w)
            tally.check(isinstance(got, kind), f"{tail}: {type(got)}")
            flat = torch.utils._pytree.tree_leaves(got)
            tally.check(distance(flat[:1], simple(x, w)) < 1e-5 and flat[2:] in ([], [3]),
                        f"{tail}: {flat[2:]}")


def check_open(folder):
    x, w = torch.randn(9, 16), torch.randn(16, 16)
    module, inputs = graph_of(simple, x, w, dynamic=[x])
    fixed = nereid.standalone_compile(
        module, [9 if isinstance(value, torch.SymInt) else t for value, t in
                 zip(inputs, [9, x, w] if len(inputs) > 2 else [x, w])],
        dynamic_shapes="from_example_inputs")
    first = [9] if len(inputs) > 2 else []
    tally.check(distance(fixed(*first, x, w), simple(x, w)) < 1e-5, "fixed sizes of an open graph")
    module, inputs = graph_of(lambda x, w: (x @ w * 2)[1:], x, w, dynamic=[x])
    artifact = nereid.standalone_compile(module, inputs)
    artifact.save(path=str(folder / "open"), format="unpacked")
    names = [path.name for path in (folder / "open").iterdir()]
    tally.check(any(name.endswith(".program.py") for name in names), f"unpacked: {names}")
    for made in (artifact, nereid.CompiledArtifact.load(path=str(folder / "open"),
                                                        format="unpacked")):
        first = [5] if len(inputs) > 2 else []
        y = torch.randn(5, 16)
        tally.check(distance(made(*first, y, w), [(y @ w * 2)[1:]]) < 1e-5, "five rows")
        fails(lambda: made(*[2] * len(first), y[:2], w), standalone.SizesDiffer, "compiled for")


def check_sizes(folder):
    """Real tensors as examples: sizes within limits, and fixed ones."""
    from torch.fx.experimental.proxy_tensor import make_fx

    x, differ = torch.randn(8, 3), standalone.SizesDiffer
    module = make_fx(lambda x: (x.sum(0) * x.shape[0], x + 1), tracing_mode="symbolic")(x)
    artifact = nereid.standalone_compile(module, [x], limits=(1, 16))
    artifact.save(path=str(folder / "limits"))
    for made in (artifact, nereid.CompiledArtifact.load(path=str(folder / "limits"))):
        for rows in (1, 5, 16):
            y = torch.randn(rows, 3)
            tally.check(distance(made(y), (y.sum(0) * rows, y + 1)) < 1e-3, f"limits: {rows}")
        fails(lambda: made(torch.ones(17, 3)), differ, "<= 16")
        fails(lambda: made(torch.ones(0, 3)), differ, ">= 1")
    artifact = nereid.standalone_compile(module, [x])
    tally.check(distance(artifact(y), (y.sum(0) * 16, y + 1)) < 1e-3, "no limits")
    fails(lambda: artifact(torch.ones(1, 3)), differ, ">= 2")
    fixed = nereid.standalone_compile(module, [x], dynamic_shapes="from_example_inputs")
    tally.check(distance(fixed(x), (x.sum(0) * 8, x + 1)) < 1e-3, "fixed sizes")
    for shape in ((5, 3), (8, 4)):
        fails(lambda: fixed(torch.ones(shape)), differ, "compiled for args[0].shape")
    module = make_fx(lambda x: (x + 1,), tracing_mode="fake")(x)
    artifact = nereid.standalone_compile(module, [x])
    fails(lambda: artifact(torch.ones(5, 3)), differ, "compiled for args[0].shape")
    both = torch.fx.symbolic_trace(lambda x, y, n: (x + y * n,))
    artifact = nereid.standalone_compile(both, [x, x, 5])
    tally.check(distance(artifact(y, y, 7), [y * 8]) < 1e-5, "an open number")
    fails(lambda: artifact(x, x[:1], 5), differ, "compiled for args[1].shape[0] ==")
    fixed = nereid.standalone_compile(both, [x, x, 5], dynamic_shapes="from_example_inputs")
    tally.check(distance(fixed(x, x, 5), [x * 6]) < 1e-5, "a fixed number")
    fails(lambda: fixed(x, x, 7), differ, "compiled for args[2] == 5")


def check_files(folder):
    """Files' modes, what a failed write leaves, and folders of graphs from PyTorch's cache."""
    x = torch.randn(6, 5)
    module, _ = graph_of(lambda x: (x.sin() * 3).sum(1), x)
    for name in ("first", "again"):
        artifact = nereid.standalone_compile(module, [x])
        artifact.save(path=str(folder / name), format="unpacked")
        names = [path.name for path in (folder / name).iterdir()]
        tally.check(any(n.endswith(".program.py") for n in names) and "artifact" in names, names)
        tally.check(any(n.endswith(".0.py") for n in names), names)
        loaded = nereid.CompiledArtifact.load(path=str(folder / name), format="unpacked")
        tally.check(distance([loaded(x)[0]], [(x.sin() * 3).sum(1)]) < 1e-5, f"unpacked {name}")
    before = os.umask(0o027)
    try:
        artifact.save(path=str(folder / "mode"))
    finally:
        os.umask(before)
    tally.check((folder / "mode").stat().st_mode & 0o777 == 0o640, "a file's mode")
    (folder / "taken").mkdir()
    count = len(list(folder.iterdir()))
    fails(lambda: artifact.save(path=str(folder / "taken")), OSError, "taken")
    tally.check(len(list(folder.iterdir())) == count, "a failed write leaves no file")


def check_gradients(folder):
    """Gradients, and tensors that the module holds, in the file too."""
    from torch.fx.experimental.proxy_tensor import make_fx

    w = torch.randn(16, 16)
    module = make_fx(lambda x: (x @ w).tanh())(torch.randn(4, 16))
    x = torch.randn(4, 16)
    artifact = nereid.standalone_compile(module, [x], dynamic_shapes="from_example_inputs")
    artifact.save(path=str(folder / "held"))
    loaded = nereid.CompiledArtifact.load(path=str(folder / "held"))
    tally.check(distance([loaded(x)], [(x @ w).tanh()]) < 1e-5, "a tensor that the module holds")
    x, v = (torch.randn(n, 16, requires_grad=True) for n in (9, 16))
    module, _ = graph_of(simple, x, v)
    artifact = nereid.standalone_compile(module, [x, v])
    artifact.save(path=str(folder / "gradients"))
    for made in (artifact, nereid.CompiledArtifact.load(path=str(folder / "gradients"))):
        got, want = (torch.autograd.grad(sum(y.square().sum() for y in f(x, v)), (x, v))
                     for f in (made, simple))
        tally.check(distance(got, want) < 1e-3, "gradients")


def check_inside():
    """A backend of torch.compile that hands its graphs over."""
    def outer(module, inputs):
        return nereid.standalone_compile(module, inputs, dynamic_shapes="from_tracing_context")

    torch._dynamo.reset()
    x, w = torch.randn(9, 16), torch.randn(16, 16)
    compiled = torch.compile(simple, backend=outer, dynamic=True)
    for rows in (9, 12):
        x = torch.randn(rows, 16)
        tally.check(distance(compiled(x, w), simple(x, w)) < 1e-5, f"in a backend: {rows} rows")


def check_writes(folder):
    """A stored function compares how its inputs overlap."""
    def write(x, y):
        x.add_(1)
        return y * 2

    x, y = torch.randn(8), torch.randn(8)
    module, _ = graph_of(write, x, y)
    artifact = nereid.standalone_compile(module, [x, y])
    artifact.save(path=str(folder / "writes"))
    for made in (artifact, nereid.CompiledArtifact.load(path=str(folder / "writes"))):
        a, b = torch.zeros(8), torch.ones(8)
        (got,) = made(a, b)
        tally.check(a.sum() == 8 and got.sum() == 16, "a graph that writes")
        z = torch.zeros(12)
        fails(lambda: made(z[:8], z[4:]), ahead.StoredFunctionError, "overlap in memory")
        tally.check(not z.any(), "a refused call wrote nothing")


# ---- what is refused ----


def fails(call, kind, text):
    try:
        call()
    except kind as error:
        tally.check(text in str(error), f"{text}: {error}")
    else:
        tally.check(False, f"no error: {text}")


def check_refusals(folder):
    x, w = torch.randn(9, 16), torch.randn(16, 16)
    module, _ = graph_of(simple, x, w)
    path = folder / "refused"
    artifact = nereid.standalone_compile(module, [x, w])
    artifact.save(path=str(path))
    data, load = path.read_bytes(), lambda: nereid.CompiledArtifact.load(path=str(path))
    for damaged, text in ((b"PK" + data, "not an artifact"), (data[:200], "damaged"),
                          (data[:20], "damaged"),
                          (data[:-40] + b"\xff" + data[-39:], "damaged: its bytes differ"),
                          (summed(data.replace(torch.__version__.encode(),
                                               b"9" + torch.__version__.encode()[1:], 1)),
                           "was written under PyTorch 9")):
        path.write_bytes(damaged)
        fails(load, ahead.StoredFunctionError, text)
    path.write_bytes(other_text(data, build_id()))
    with Lines() as log:
        tally.check(distance(load()(x, w), simple(x, w)) < 1e-5, "another build")
    tally.check(any("compiled by build" in line and "anew" in line for line in log.lines),
                f"another build is told: {log.lines}")
    path.write_bytes(other_text(data, stored.sources()))
    fails(load, ahead.StoredFunctionError, "another version of Nereid")
    fails(lambda: artifact.save(path=str(path), format="text"), ValueError, "format is one of")
    fails(lambda: nereid.standalone_compile(module, [x, w], dynamic_shapes="from"), ValueError,
          "dynamic_shapes is one of")
    fails(lambda: nereid.standalone_compile(module, [x, w], options={"dumb": 1}), ValueError,
          "there is no option")
    fails(lambda: nereid.standalone_compile(module, [x, w], dynamic_shapes="from_tracing_context"),
          ValueError, "for backends of torch.compile")


def other_text(data, name):
    """The bytes of a file as if another build had written it."""
    name = name.encode()
    tally.check(name in data, "the file has the build's name")
    return summed(data.replace(name, name[:-1] + (b"1" if name[-1:] == b"0" else b"0")))


def summed(data):
    """The bytes of a file with the right sum."""
    begin = len(standalone._HEADER)
    return data[:begin] + hashlib.sha256(data[begin + 32:]).digest() + data[begin + 32:]


def check_serialized():
    """The bytes that PyTorch's own artifacts read, as vLLM does."""
    from torch._inductor import standalone_compile as theirs

    kind = getattr(sys.modules["torch._inductor.standalone_compile"], "AOTCompiledArtifact", None)
    if kind is None:
        return
    x, w = torch.randn(9, 16), torch.randn(16, 16)
    module, _ = graph_of(simple, x, w)
    data = nereid.standalone_compile(module, [x, w]).serialize()
    made = kind.deserialize(pickle.loads(pickle.dumps(data)))
    tally.check(distance(made(x, w), simple(x, w)) < 1e-5 and theirs, "bytes as PyTorch's")


def main():
    if torch is None:
        print("1 skipped: no PyTorch that stores functions")
        tally.check(True, "")
        return tally.report()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        quick_cc.quick_compiler(folder)
        for check in (check_forms, check_open, check_sizes, check_files, check_gradients,
                      check_writes, check_refusals, check_pieces):
            check(folder)
        check_inside()
        check_serialized()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
