#!/usr/bin/env python3
"""Seeing what torch.compile(backend="nereid") does: nereid.explain(), the log, profiles, messages
with the model's lines, and the mode that compares with PyTorch; and input that is bad."""
import logging, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None
else:
    import nereid
    from nereid import torch_backend
    from nereid.torch_backend.segments import segment as segments
    from nereid.torch_backend.base.log import level_of
    from nereid.torch_backend.segments.verify import WrongResult

SCRIPT = """
import torch
print(torch.compile(lambda x: torch.linalg.eig(x)[0].abs(), backend="nereid")(torch.eye(3)))
"""


def check_words(text, *words, what=""):
    for word in words:
        tally.check(word in text, f"{what}: {word!r} is not in\n{text}")


def raised(action):
    try:
        action()
    except BaseException as error:
        return error
    return None


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, backend="nereid", options=options or None)


class Model(torch.nn.Module if torch else object):
    def __init__(self):
        super().__init__()
        self.norm, self.linear = torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(self.norm(x))
        torch._dynamo.graph_break()
        values = torch.linalg.eig(y.t() @ y + 1)[0]  # by PyTorch
        return values.abs().sum()


class Odd(torch.Tensor if torch else object):
    """A subclass that PyTorch cannot take apart."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


def check_reads():
    """What the host reads of the data is no node that PyTorch computes."""
    scalars = torch._dynamo.config.patch(capture_scalar_outputs=True)
    count, x = torch.tensor(3), torch.randn(8, 4)

    def model(x, count):
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= x.shape[0])
        return x.narrow(0, 0, n) * 2

    with scalars:
        page = nereid.explain(model, x, count)
        got = torch.compile(model, backend="nereid")(x, count)
    tally.check(torch.equal(got, x[:3] * 2), f"rows that are counted: {got}")
    tally.check(not page.fallbacks, f"reads by PyTorch: {page.fallbacks}")
    found = [one.operator for graph in page.graphs for one in graph.reads]
    told = "the host reads a number" in str(page)
    tally.check(told and "aten._local_scalar_dense.default" in found,
                f"what the host reads: {found}")


def check_explain():
    torch.manual_seed(0)
    model, x = Model(), torch.randn(4, 8)
    mean = model.norm.running_mean.clone()
    page = nereid.explain(model, x, train=True)
    kinds = [graph.kind for graph in page.graphs]
    tally.check(sorted(kinds) == ["backward"] * 2 + ["forward"] * 2, f"kinds {kinds}")
    tally.check(torch.equal(mean, model.norm.running_mean), "explain() changed a buffer")
    tally.check(all(p.grad is None for p in model.parameters()), "explain() left gradients")
    tally.check(len(page.breaks) == 1 and "torch_explain.py" in page.breaks[0].line,
                f"breaks {page.breaks}")
    eig = [one for one in page.fallbacks if "eig" in one.operator]
    tally.check(bool(eig) and "by PyTorch" in eig[0].line, f"fallbacks {page.fallbacks}")
    tally.check(page.dynamo_seconds > 0 and page.aot_seconds > 0 and page.nereid_seconds > 0,
                "no times")
    tally.check(all(graph.kernels for graph in page.graphs if graph.segments), "no kernels")
    for graph in page.graphs:
        for segment in graph.segments:
            for step in segment.table.split("\nstep ")[1:]:
                tally.check("  from     torch_explain.py:" in step,
                            f"a kernel of the {graph.kind} graph without a line: {step}")
    check_words(str(page), "4 graphs", "1 graph break", "PyTorch runs aten", "segment 0 on cpu",
                "in torch_explain.py", "TorchDynamo", what="page")
    again = nereid.explain(torch.compile(lambda x: x.sin() + 1, backend="nereid"), x)
    tally.check([graph.kind for graph in again.graphs] == ["inference"], "a compiled function")
    written = torch.zeros(4)
    check_reads()
    tally.check(len(nereid.explain(lambda x: x.add_(1), written).graphs) == 1, "a write")


def run_script(**variables):
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True)
    tally.check(done.returncode == 0, done.stderr)
    return done.stderr


def check_log():
    for text, level in (("", None), ("info", logging.INFO), ("graph,cache", logging.INFO),
                        ("all,-graph", None), ("cache", None), ("debug", logging.DEBUG)):
        tally.check(level_of(text) == level, f"the level of {text!r}")
    words = "inference graph 0", "PyTorch runs aten.linalg_eig"
    check_words(run_script(NEREID_LOG="graph"), "nereid: graph: inference", *words,
                what="NEREID_LOG")
    check_words(run_script(TORCH_LOGS="+nereid.torch_backend"), *words, "def forward",
                what="TORCH_LOGS")
    tally.check("graph 0" not in run_script(NEREID_LOG=""), "a log without NEREID_LOG")


def check_profile():
    function, x = compiled(lambda x: x.relu() + 1), torch.randn(4)
    function(x)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        function(x)
    names = [event.key for event in profile.key_averages()]
    tally.check(any(name.startswith("nereid: segment 0 of inference graph") and "(1 kernel)" in name
                    for name in names), f"names in a profile: {names}")


def check_messages():
    table = torch.randn(4, 2)
    function = compiled(lambda i: table[i] * 2)
    error = raised(lambda: function(torch.tensor([1, 7])))
    tally.check(isinstance(error, (nereid.NereidError, IndexError)), f"an index: {error!r}")
    check_words(str(error), "segment 0 of", what="an index out of range")


def lent_nothing(self, values):
    """A run whose temporaries are the caller's, which has no memory, as on a full GPU."""
    def workspace(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 5 GiB, 1 GiB is free")

    return self.executable.run(self._in_order(values), None, self.allocate, workspace, 0)


def check_memory():
    """What was needed, and what there is."""
    n, x = 1 << 20, torch.randn(1)
    lines = compiled(lambda x: x.expand(n, n).cumsum(0).cumsum(1).sum())
    error = raised(lambda: lines(x))
    tally.check(isinstance(error, MemoryError), f"temporaries: {error!r}")
    check_words(str(error), f"{4 << 20} MiB requested, ", " MiB free", f"{4 << 20} of temporaries",
                "segment 0 of", what="temporaries")
    error = raised(lambda: compiled(lambda x: x + 1)(x.expand(n, n << 6)))
    check_words(str(error), f"{4 * n * n << 6} bytes", " MiB free", "segment 0 of",
                what="an output")
    y = torch.randn(64, 64)
    small = compiled(lambda y: y.cumsum(0).cumsum(1).sum())
    original = segments.Compiled._run
    segments.Compiled._run = lent_nothing
    try:
        error = raised(lambda: small(y))
    finally:
        segments.Compiled._run = original
    tally.check(isinstance(error, torch.OutOfMemoryError), f"lent memory: {error!r}")
    check_words(str(error), "Tried to allocate 5 GiB, 1 GiB is free", "segment 0 of",
                what="lent memory")
    tally.check(torch.allclose(small(y), y.cumsum(0).cumsum(1).sum(), rtol=1e-3),
                "after a run without memory")


def wrong_relu(text):
    """A rewrite that is wrong: NaN where relu has 0."""
    return text.replace("aten.relu.default", "aten.log.default")


def check_verify():
    nn, x = torch.nn, torch.randn(4, 8, 6, 6)
    model = nn.Sequential(nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.5),
                          nn.Flatten(), nn.Linear(128, 8))
    compiled(model, verify=True)(x).sum().backward()
    compiled(lambda x: x.t().add_(1).softmax(0), verify=True)(torch.randn(4, 5))
    compiled(lambda x: x.to(torch.bfloat16) @ x.to(torch.bfloat16).t(), verify=True)(
        torch.randn(16, 64))
    opened = torch.compile(lambda x: x.reshape(-1).cumsum(0) / x.shape[0], backend="nereid",
                           dynamic=True, options={"verify": True})
    opened(torch.randn(5, 3)), opened(torch.randn(7, 3))

    original = segments.Text.finish
    segments.Text.finish = lambda self, outputs: wrong_relu(original(self, outputs))
    try:
        def function(x):
            y = x.sin() * 2
            z = y.relu()  # here
            return (z + 1).cos()
        error = raised(lambda: compiled(function, verify=True)(torch.randn(4, 8)))
    finally:
        segments.Text.finish = original
    tally.check(isinstance(error, WrongResult), f"a wrong rewrite: {error!r}")
    if isinstance(error, WrongResult):
        tally.check(error.target == "aten.relu.default" and error.alone, str(error))
        check_words(str(error), "segment 0 of inference graph", "# here", what="a wrong rewrite")


def check_interrupt():
    """KeyboardInterrupt ends the compilation, and the next one is as if it had not begun."""
    original = segments.Compiled.__init__

    def interrupted(*_):
        raise KeyboardInterrupt

    function, x = compiled(lambda x: x.exp() - 1), torch.randn(4)
    before = len(torch_backend._programs)
    segments.Compiled.__init__ = interrupted
    try:
        error = raised(lambda: function(x))
    finally:
        segments.Compiled.__init__ = original
    tally.check(isinstance(error, KeyboardInterrupt), f"an interrupt: {error!r}")
    tally.check(len(torch_backend._programs) == before, "an interrupt left a program")
    tally.check(torch.allclose(function(x), x.exp() - 1), "after an interrupt")


def check_failing():
    """A compiler that fails is told once, and PyTorch runs the graph."""
    original = segments.Compiled.__init__

    def failing(*_):
        raise ValueError("no such thing")

    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("nereid.torch_backend").addHandler(handler)
    segments.Compiled.__init__ = failing
    try:
        x = torch.randn(4)
        function = compiled(lambda x: x.exp() - 1)
        tally.check(torch.equal(function(x), x.exp() - 1), "by PyTorch")
        function(x)
    finally:
        segments.Compiled.__init__ = original
        logging.getLogger("nereid.torch_backend").removeHandler(handler)
    told = [line for line in lines if "can't be compiled" in line]
    tally.check(len(told) == 1 and "no such thing" in told[0], f"lines {lines}")


def check_floats_of_sizes():
    """n / (n - 1) of an open batch is computed by kernels, in float64."""
    norm, x = torch.nn.BatchNorm1d(4), torch.randn(6, 4)
    torch._dynamo.mark_dynamic(x, 0)
    report = nereid.explain(norm, x, train=True)
    tally.check(not report.fallbacks, f"batch norm: PyTorch runs {report.fallbacks}")

    def function(x):
        n = x.shape[0]
        return (x * (n / 3) - 1 / n) / (n / (n - 1.0)) + (-n / 7), x.sum() * (n / 3)

    made = torch.compile(function, backend="nereid", dynamic=True)
    for kind in (torch.float32, torch.bfloat16, torch.float64, torch.int32):
        for n in (3, 5):
            x = (torch.randn(n, 4) * 3).to(kind)
            for got, want in zip(made(x), function(x)):
                loose = 2e-2 if kind is torch.bfloat16 else 1e-6
                same = got.dtype == want.dtype and torch.allclose(got, want, loose, loose)
                tally.check(same, f"floats of {n} rows of {kind}: {got}, not {want}")


def check_seeds():
    """Seeds are there before a graph's kernels, which they don't part."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8), nn.Dropout(0.5))
    report = nereid.explain(model, torch.randn(4, 8), train=True)
    parts = [len(graph.segments) for graph in report.graphs]
    tally.check(parts == [1, 1], f"segments {parts}")


def check_recompile_limit():
    """After the limit calls are eager, with PyTorch's one warning; fullgraph makes it an error."""
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("torch._dynamo").addHandler(handler)
    function = lambda x, k: (x * k).sin()
    values, inputs = [], [torch.randn(4, requires_grad=True) for _ in range(6)]
    try:
        with torch._dynamo.config.patch(recompile_limit=2, accumulated_recompile_limit=99):
            opened = torch.compile(function, backend="nereid", dynamic=False)
            for k, x in enumerate(inputs):
                before = len(torch_backend._programs)
                value = opened(x, k)
                value.sum().backward()
                values.append(len(torch_backend._programs) - before)
                right = torch.allclose(value, function(x, k), atol=1e-6)
                right &= torch.allclose(x.grad, k * (x * k).cos(), atol=1e-5)
                tally.check(right, f"call {k}, with a limit of 2")
            told = [line for line in lines if "hit config.recompile_limit (2)" in line]
            torch._dynamo.reset()
            whole = torch.compile(function, backend="nereid", dynamic=False, fullgraph=True)
            error = raised(lambda: [whole(inputs[0], k) for k in range(4)])
    finally:
        logging.getLogger("torch._dynamo").removeHandler(handler)
    tally.check(len(told) == 1, f"of the limit: {lines}")
    tally.check(all(values[:2]) and not any(values[2:]), f"graphs of each call: {values}")
    tally.check("FailOnRecompileLimit" in repr(error), f"fullgraph: {error!r}")


def check_lost_compiler():
    """A process that was forked has no thread that compiles, and compiles itself."""
    from nereid.torch_backend.segments import program

    original = program._Work.run
    program._Work.run = lambda self: None
    try:
        x = torch.randn(4, 4, requires_grad=True)
        out = compiled(lambda x: x.exp() - x)(x)
        out.sum().backward()
    finally:
        program._Work.run = original
    tally.check(torch.allclose(x.grad, x.exp() - 1), "without the thread that compiles")


def check_bad_input():
    x = torch.randn(4, 4)
    same = lambda got, want, what: tally.check(torch.allclose(got, want), what)
    same(compiled(lambda x: x * 2)(x.as_subclass(Odd)).as_subclass(torch.Tensor), x * 2,
         "a subclass")
    sparse = torch.eye(4).to_sparse()
    same(compiled(lambda a, b: torch.sparse.mm(a, b) + 1)(sparse, x), x + 1, "a sparse tensor")
    same(compiled(lambda x: x.to("meta").to(torch.float16).new_zeros(4, device="cpu") + x)(x), x,
         "two devices")
    error = raised(lambda: compiled(lambda a, b: a + b)(x, torch.empty(4, 4, device="meta")))
    tally.check(error is not None and "device" in str(error), f"a device mix: {error!r}")
    error = raised(lambda: compiled(lambda x: x + 1, verfy=True)(x))
    check_words(str(error), "there is no option 'verfy'", what="an option")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        torch_backend._programs.keep()
        for name, function in list(globals().items()):
            if name.startswith("check_") and name != "check_words" and (
                    len(sys.argv) < 2 or name[6:] in sys.argv[1:]):
                function()
    sys.exit(tally.report())
