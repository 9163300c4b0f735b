#!/usr/bin/env python3
"""A failure in any function of the backend, while it compiles, ends in PyTorch running the graph,
with a warning that names a node and its line.

Each function fails in one of the programs that call it; with `--all` in each of them; with an
argument those whose names contain it: `torch_failures.py segment.`.
"""
import contextlib, importlib, logging, os, pathlib, pkgutil, shutil, subprocess, sys, tempfile
import threading, types
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None

# Not compiling: options of the user's, and what comes before or after all else.
APART = {"torch_backend.backend", "torch_backend.compile_ahead", "torch_backend.forget",
         "torch_backend.Embedding.__init__", "log.start", "log.level_of"}
APART_FILES = {"settings", "failures", "verify", "explain", "standalone"}


class Injected(Exception):
    """No class that the backend knows."""


# ---- the functions of the backend ----


def modules():
    import nereid.torch_backend as package

    yield package
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(info.name)


def functions(apart=frozenset(APART_FILES)):
    """{name: [(owner, attribute, function)]}, with all names that a function is imported by; but
    for those of some files."""
    found: dict = {}
    everywhere = list(modules())
    for module in everywhere:
        file = module.__name__.rpartition(".")[2]
        classes = [value for value in vars(module).values()
                   if isinstance(value, type) and value.__module__ == module.__name__]
        for owner in [module, *classes]:
            for name, value in vars(owner).items():
                function = getattr(value, "__func__", value)
                if isinstance(function, property):
                    function = function.fget
                function = getattr(function, "__wrapped__", function)
                if (not isinstance(function, types.FunctionType)
                        or function.__module__ != module.__name__):
                    continue
                title = f"{file}.{function.__qualname__}"
                if file in apart or title in APART or name in ("__getattr__", "__reduce__"):
                    continue
                owners = [(owner, name, value)]
                if owner is module:
                    owners = [(other, key, value) for other in everywhere
                              for key, one in vars(other).items() if one is value]
                found.setdefault(title, (function, owners))
    return found


@contextlib.contextmanager
def failing(owners):
    """The function raises wherever it is called, until the end."""
    def fail(*_, **__):
        raise Injected("no such luck")

    for owner, name, value in owners:
        kind = type(value)
        setattr(owner, name, kind(fail) if kind in (property, staticmethod, classmethod) else fail)
    try:
        yield
    finally:
        for owner, name, value in owners:
            setattr(owner, name, value)


# ---- programs that are compiled ----


class Model(torch.nn.Module if torch else object):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        y = torch.nn.functional.max_pool2d(self.conv(x).relu(), 2).mean((2, 3))
        by_pytorch = torch.linalg.eigvals(y.t() @ y + torch.tensor([1.0, 2.0, 3.0, 4.0])).abs()
        y = by_pytorch + self.linear(y)
        q = torch.nn.functional.softmax(y @ y.t() / 2, -1) @ y
        return q.flip(0).sum() + torch.nn.functional.embedding(x.long().abs()[0, 0] % 4, y).sum()


def train(options):
    torch.manual_seed(5)
    model, x = Model(), torch.randn(6, 3, 9, 9)
    loss = torch.compile(model, backend="nereid", options=options)(x)
    loss.backward()
    return [loss.detach(), model.count, *(p.grad for p in model.parameters())]


def infer(options):
    torch.manual_seed(5)
    model = Model()
    compiled = torch.compile(model, backend="nereid", options=options, dynamic=True)
    with torch.no_grad():
        return [compiled(torch.randn(n, 3, 9, 9)) for n in (5, 6)]


def drop(options):
    """With masks that forward and backward share: the gradient is that of the masked elements."""
    torch.manual_seed(5)
    x = torch.randn(64, 64).abs_().add_(1).requires_grad_()
    dropped = torch.compile(lambda x: torch.nn.functional.dropout(x.sin() + 2, 0.5) * x,
                            backend="nereid", options=options)(x)
    dropped.sum().backward()
    mask = (dropped != 0) * 2
    want = mask * (x.sin() + 2 + x * x.cos())
    return [torch.allclose(x.grad, want, atol=1e-4) and mask.float().mean().sub(1).abs() < 0.2]


def explained(options):
    """Masks in a backward graph that is compiled when it is first run."""
    import nereid

    torch.manual_seed(5)
    x = torch.ones(64, 64, requires_grad=True)
    nereid.explain(lambda x: torch.nn.functional.dropout(x.sin(), 0.5) * x, x, train=True,
                   options=options)
    return [torch.ones(1)]


OWN = {"cache_autograd": False}  # PyTorch's


def linear(options):
    torch.manual_seed(5)
    model, x = torch.nn.Linear(4, 4), torch.randn(6, 4)
    y = torch.compile(lambda x: model(x).sin().flip(0), backend="nereid", options=options)(x)
    y.sum().backward()
    return [y.detach(), *(p.grad for p in model.parameters())]


def linear_cold(options):
    """With nothing in PyTorch's cache."""
    shutil.rmtree(os.environ["TORCHINDUCTOR_CACHE_DIR"], ignore_errors=True)
    return linear(options)


def regions(options):
    """Regions, one of which writes to an operand, and numbers that data decides."""
    region = torch.compiler.nested_compile_region

    @region
    def block(x, w):
        return torch.nn.functional.gelu(x @ w) + x

    @region
    def write(cache, x):
        cache.copy_(cache + x)
        return cache * 2

    def function(x, w, cache, n):
        y = block(block(x, w), w) * n.item() + torch.arange(4)
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        return write(cache, y) + n, cache

    torch.manual_seed(5)
    x, w, cache = torch.randn(4, 4), torch.randn(4, 4), torch.ones(4, 4)
    with torch.no_grad(), torch._dynamo.config.patch(capture_scalar_outputs=True):
        return [*torch.compile(function, backend="nereid", options=options)(
            x, w, cache, torch.tensor(-3))]


def flex(options):
    """FlexAttention with a function of scores and a mask in blocks."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch.manual_seed(5)
    q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))
    mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 32, 32, device="cpu",
                             BLOCK_SIZE=16)
    with torch.no_grad():
        return [torch.compile(lambda q, k, v: flex_attention(
            q, k, v, score_mod=lambda s, b, h, i, j: s + (i - j), block_mask=mask).sin(),
            backend="nereid", options=options)(q, k, v)]


def standalone(options):
    """An artifact for an embedding program."""
    import nereid
    from torch.fx.experimental.proxy_tensor import make_fx

    torch.manual_seed(5)
    x, w = torch.randn(4, 4), torch.randn(4, 4)
    module = make_fx(lambda x, w: ((x @ w).sin().sum(0), x.flip(0)))(x, w)
    with torch.no_grad():
        made = nereid.standalone_compile(module, [x, w], dynamic_shapes="from_graph")
        return [*made(x, w)]


STEPS = {"drop": (drop, OWN),
         "masks, measured": (drop, {**OWN, "mode": "max-autotune"}),
         "masks, at the first run": (explained, OWN),
         "an empty cache of PyTorch's": (linear_cold, {"cache_autograd": True}),
         "PyTorch's cache": (linear, {"cache_autograd": True}),
         "max-autotune": (linear, {**OWN, "mode": "max-autotune"}),
         "train": (train, OWN), "infer": (infer, OWN), "regions": (regions, OWN),
         "flex": (flex, OWN), "standalone": (standalone, {})}
SHORT = 6  # of them take a third of the others' time


def run(step, options):
    """The values, and the backend's warnings."""
    log = logging.getLogger("nereid.torch_backend")
    lines, handler = [], logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())
    log.addHandler(handler)
    torch._dynamo.reset()
    try:
        return step(options), lines
    finally:
        log.removeHandler(handler)


def called(step, options, table):
    """The values, and which of the functions are called."""
    codes, found = {function.__code__: name for name, (function, _) in table.items()}, set()

    def note(frame, event, _):
        if event == "call" and frame.f_code in codes:
            found.add(codes[frame.f_code])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        return run(step, options)[0], found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


# Called after a program is compiled, too: a failure there is one of a run.
RUNNING = ("segment.Compiled.__call__", "segment.Compiled._run", "segment.Compiled._counted",
           "segment.Compiled._in_order", "segment._memory_of", "segment._no_limit",
           "program.view_of", "program.Program.function", "stored.StoredProgram.function",
           "direct.direct.<locals>.call",
           "program.conform", "failures.",
           "program.Program._first_run", "program.Program._give_up", "program._Work.wait",
           "program._Work.__init__", "program.Program.finish", "program.Program._end",
           "program.Programs.", "program.Program.reads", "program.Program.reasons",
           "program.Program.segments", "program.Program._of_all",  # which reports read
           "stored.StoredProgram.__call__", "ahead.StoredFunction", "called.Called.__call__",
           "attention._attention", "attention._attend",
           "overlaps.", "aliases.overlaps_by_pytorch.<locals>.call",
           "segment.Compiled.label", "program.Program._caller.<locals>.call")


def same(got, want):
    return all(torch.allclose(torch.as_tensor(a).float(), torch.as_tensor(b).float(), atol=1e-4,
                              rtol=1e-3) for a, b in zip(got, want, strict=True))


def chosen(callers, wanted):
    """{program: [functions that fail in it]}: of short programs one for each function."""
    found = {title: [] for title in STEPS}
    for name, titles in sorted(callers.items()):
        if wanted is None:
            short = [title for title in titles if title in [*STEPS][:SHORT]] or titles
            titles = [short[zlib.crc32(name.encode()) % len(short)]]
        elif not any(word in name for word in wanted):
            continue
        for title in titles:
            found[title].append(name)
    return found


def check_one(title, name, owners, want):
    """Is the failure told?"""
    what, (step, options) = f"{title}, {name} fails", STEPS[title]
    try:
        with failing(owners):
            got, lines = run(step, options)
    except BaseException as error:
        tally.check(False, f"{what}: {type(error).__name__}: {str(error)[:300]}")
        return False
    tally.check(same(got, want), f"{what}: {got}, not {want}")
    told = [line for line in lines if "PyTorch runs it" in line]
    where = " at " if title == "standalone" else "torch_failures.py:"  # its graph has no lines
    placed = all(where in line and "no such luck" in line for line in told)
    tally.check(placed and len(told) <= 1, f"{what}: it says {lines}")
    return bool(told)


def check_injected(wanted):
    table, wants, callers = functions(), {}, {}
    for title, (step, options) in STEPS.items():
        wants[title], found = called(step, options, table)
        for name in found:
            if not name.startswith(RUNNING):
                callers.setdefault(name, []).append(title)
    told, names = 0, chosen(callers, wanted)
    for title, some in names.items():
        found = sum(check_one(title, name, table[name][1], wants[title]) for name in some)
        print(f"{title}: {len(some)} functions, {len(some) - found} whose failure needs no warning")
        told += found
    count = sum(map(len, names.values()))
    if wanted is None:
        tally.check(count > 200, f"{count} functions are called")
        tally.check(told >= count * 2 // 3, f"{told} of {count} failures are told")


def check_failing_warning():
    """A failure while another one is described: the warning names the first."""
    table, want = functions(apart=()), run(*STEPS["train"])[0]
    for name in ("log.line_of", "failures._node_of"):
        with failing(table["partition.partition"][1]), failing(table[name][1]):
            got, lines = run(*STEPS["train"])
        told = [line for line in lines if "PyTorch runs it: Injected" in line]
        tally.check(same(got, want) and len(told) == 1, f"{name} fails, too: {got}, {lines}")


WITHOUT = """
import torch
for step in (torch.exp, torch.sin):
    print(torch.compile(lambda x: step(x) + 1, backend="nereid")(torch.zeros(9)).sum().item())
"""


def check_missing_compiler(folder):
    """A machine without a C compiler computes by PyTorch, and is told once."""
    env = {**os.environ, "PATH": folder, "NEREID_CACHE_DIR": folder,
           "PYTHONPATH": str(BUILD / "python")}
    env.pop("CC", None)
    done = subprocess.run([sys.executable, "-c", WITHOUT], env=env, capture_output=True, text=True,
                          check=False)
    told = done.stderr.count("no C compiler found")
    tally.check(done.stdout.split() == ["18.0", "9.0"] and told == 1,
                f"no compiler: {done.stdout} {done.stderr}")


def check_refused_segment():
    """An error that is about no node: PyTorch runs the segment, which is told once a graph."""
    from nereid.errors import KERNEL, NereidError
    from nereid.torch_backend.segments import segment

    def refuse(self):
        error = NereidError("a kernel has too many variables", KERNEL)
        raise segment.refusal_of(error, self.text, self.plan) from error

    step, options = STEPS["train"]
    want, lines = run(step, options)
    tally.check(not lines, f"no failure, and yet: {lines}")
    made, segment.Compiled.compile = segment.Compiled.compile, refuse
    try:
        got, lines = run(step, options)
    finally:
        segment.Compiled.compile = made
    told = [line for line in lines if "too many variables" in line and "a segment of" in line]
    tally.check(same(got, want) and len(told) == 1, f"a segment is refused: {got}, {lines}")


@contextlib.contextmanager
def failing_kernel(*operators):
    """A kernel that computes all these operators can't be made."""
    from nereid.errors import KERNEL, Diagnostic, NereidError
    from nereid.torch_backend.segments import segment

    real = segment._nereid

    class Graph:
        def __init__(self, name, source, *rest):
            self.lines = source.decode().splitlines()
            self.graph = real.Graph(name, source, *rest)

        def compile(self, *rest):
            found = [number for number, line in enumerate(self.lines, 1)
                     if any(f".{name}(" in line for name in operators)]
            if len(found) < len(operators):
                return self.graph.compile(*rest)
            parts = [Diagnostic("error", "<kernels of M>", 9, 1, 0, "no such kernel", "")]
            parts += [Diagnostic("note", "<graph>", number, 5, 0, "it is in the kernel", "")
                      for number in found]
            raise NereidError("no such kernel", KERNEL, parts)

    segment._nereid = types.SimpleNamespace(**{**vars(real), "Graph": Graph})
    try:
        yield
    finally:
        segment._nereid = real


def programs_of(step, options):
    """Its result, the lines of the log, and what PyTorch runs of each of its programs."""
    from nereid.torch_backend import _programs as programs

    programs.clear()
    programs.keep()
    result, lines = run(step, options)
    reasons = [{str(node.target) for node in program.reasons} for program in programs]
    programs.clear()
    return result, lines, reasons


def open_sizes(options):
    def function(x, n):
        return (x.sinh() * n).softmax(-1) + x.shape[0], x.t() @ x

    torch.manual_seed(5)
    compiled = torch.compile(function, backend="nereid", options=options, dynamic=True)
    return [one for rows in (5, 9) for one in compiled(torch.randn(rows, 8), 2.5)]


def twice(options):
    """A step whose backward pass computes cosh and the product again."""
    torch.manual_seed(5)
    w, x = torch.randn(8, 8, requires_grad=True), torch.randn(6, 8)
    torch.compile(lambda: ((x @ w).sinh().softmax(-1) * x).sum(), backend="nereid",
                  options=options)().backward()
    return [w.grad]


def check_refused_kernel():
    """PyTorch runs the nodes of a kernel that can't be made, and those alone."""
    for step, operators, refused in (
            (open_sizes, ["sinh.default", "mul.Tensor"], ["aten.sinh.default", "aten.mul.Tensor"]),
            (twice, ["cosh.default"], ["aten.cosh.default"]),
            (drop, ["inductor_random.default", "sin.default"], ["aten.sin.default"])):
        want, lines, reasons = programs_of(step, OWN)
        with failing_kernel(*operators):
            got, told, more = programs_of(step, OWN)
        title = f"{step.__name__}: {told}, {more}"
        tally.check(not lines and len(told) == 1 and "nodes) of" in told[0], title)
        tally.check(same(got, want), f"values of {title}")
        added = set().union(*more) - set().union(*reasons)
        tally.check(added == set(refused), f"{added} of {title}")


def conversions(options):
    """Dtypes of transposed tensors, in both passes."""
    torch.manual_seed(5)
    x = torch.randn(6, 8, requires_grad=True)
    y, z = torch.compile(lambda: (-x.t().bfloat16(), x.exp().half().t()), backend="nereid",
                         options=options)()
    (y.float() * z.float()).sum().backward()
    return [y.detach(), z.detach(), x.grad]


def check_conversions():
    """PyTorch converts dtypes by ATen's operator, with the same strides: a call of one of `prims`
    takes 160 us."""
    from nereid.torch_backend import _programs as programs
    from nereid.torch_backend.segments import program

    convert = torch.ops.prims.convert_element_type.default
    want, _ = run(conversions, OWN)
    programs.clear()
    programs.keep()
    got, _ = run(conversions, {**OWN, "by_pytorch": ("prims.convert_element_type.default",)})
    called = [value for one in programs for value in one.values.values()]
    programs.clear()
    tally.check(same(got, want), f"values by ATen's operator: {got}, not {want}")
    tally.check(all(a.stride() == b.stride() for a, b in zip(got, want)), "their strides")
    tally.check(torch.ops.aten._to_copy.default in called and convert not in called,
                f"conversions by PyTorch: {called}")
    with failing([(program.Program, "_begin", program.Program._begin)]):
        got, _ = run(conversions, OWN)
        tally.check(same(got, want), f"values of a graph that PyTorch runs: {got}, not {want}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder + "/cache"
        words = [word for word in sys.argv[1:] if word != "--all"]
        check_injected([""] if "--all" in sys.argv else words or None)
        check_failing_warning()
        check_refused_segment()
        check_refused_kernel()
        check_conversions()
        check_missing_compiler(folder)


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
