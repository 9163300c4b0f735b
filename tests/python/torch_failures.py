#!/usr/bin/env python3
"""A failure in any function of the backend, while it compiles, ends in PyTorch running the graph,
with a warning that names a node and its line.

One in eight functions, or all whose names contain an argument: `torch_failures.py segment.`.
"""
import contextlib, importlib, logging, os, pathlib, pkgutil, shutil, sys, tempfile, threading, types

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import tally

try:
    import torch
except ImportError:
    torch = None

# Not compiling: options of the user's, and what comes before or after all else.
APART = {"torch_backend.backend", "torch_backend.forget", "log.start", "log.level_of"}
APART_FILES = {"settings", "failures", "verify", "explain"}


class Injected(Exception):
    """No class that the backend knows."""


# ---- the functions of the backend ----


def modules():
    import nereid.torch_backend as package

    yield package
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(info.name)


def functions():
    """{name: [(owner, attribute, function)]}, with all names that a function is imported by."""
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
                if file in APART_FILES or title in APART or name in ("__getattr__", "__reduce__"):
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


OWN = {"cache_autograd": False}
def train_cold(options):
    """With nothing in PyTorch's cache."""
    shutil.rmtree(os.environ["TORCHINDUCTOR_CACHE_DIR"], ignore_errors=True)
    return train(options)


STEPS = {"train": (train, OWN), "infer": (infer, OWN), "drop": (drop, OWN),
         "max-autotune": (train, {**OWN, "mode": "max-autotune"}),
         "masks, measured": (drop, {**OWN, "mode": "max-autotune"}),
         "masks, at the first run": (explained, OWN),
         "an empty cache of PyTorch's": (train_cold, {"cache_autograd": True}),
         "PyTorch's cache": (train, {"cache_autograd": True})}


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
    """Which of the functions are called."""
    codes, found = {function.__code__: name for name, (function, _) in table.items()}, set()

    def note(frame, event, _):
        if event == "call" and frame.f_code in codes:
            found.add(codes[frame.f_code])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run(step, options)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


# Called after a program is compiled, too: a failure there is one of a run.
RUNNING = ("segment.Compiled.__call__", "segment.Compiled._run", "segment.Compiled._in_order",
           "segment._memory_of", "program.view_of", "program.conform", "failures.",
           "program.Program._first_run", "program.Program._give_up", "program._Work.wait",
           "program._Work.__init__", "program.Program.finish", "program.Program._end",
           "program.Programs.", "program.Program.reads", "program.Program.reasons",
           "program.Program.segments", "program.Program._of_all",  # which reports read
           "stored.StoredProgram.__call__",
           "attention._attention", "attention._attend",
           "overlaps.", "aliases.overlaps_by_pytorch.<locals>.call",
           "segment.Compiled.label", "program.Program._caller.<locals>.call")


def same(got, want):
    return all(torch.allclose(torch.as_tensor(a).float(), torch.as_tensor(b).float(), atol=1e-4,
                              rtol=1e-3) for a, b in zip(got, want, strict=True))


def check_injected(wanted):
    table, turn = functions(), 0
    for title, (step, options) in STEPS.items():
        want = run(step, options)[0]
        names = sorted(name for name in called(step, options, table)
                       if not name.startswith(RUNNING) and any(w in name for w in wanted or [""]))
        names = names if wanted else names[turn::8]
        quiet, turn = 0, turn + 1
        for name in names:
            what = f"{title}, {name} fails"
            try:
                with failing(table[name][1]):
                    got, lines = run(step, options)
            except BaseException as error:
                tally.check(False, f"{what}: {type(error).__name__}: {str(error)[:300]}")
                continue
            tally.check(same(got, want), f"{what}: {got}, not {want}")
            told = [line for line in lines if "PyTorch runs it" in line]
            quiet += not told
            placed = all("torch_failures.py:" in line and "no such luck" in line for line in told)
            tally.check(placed and len(told) <= 1, f"{what}: it says {lines}")
        if not wanted:
            tally.check(quiet <= len(names) // 3, f"{title}: {quiet} of {len(names)} are not told")
        print(f"{title}: {len(names)} functions, {quiet} whose failure needs no warning")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder + "/cache"
        check_injected(sys.argv[1:])


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        main()
    sys.exit(tally.report())
