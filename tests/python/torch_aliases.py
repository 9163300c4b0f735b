#!/usr/bin/env python3
"""Inputs and results that share memory, and masks of dropout that aren't saved, where AOTAutograd
alone is wrong: torch.compile(backend="nereid") against eager PyTorch."""
import logging, os, pathlib, sys, tempfile

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


# A process that is tested takes graphs from PyTorch's cache in check_warm() alone.
FOLDER = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = FOLDER.name


class Told(logging.Handler):
    """The warnings of the backend."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


TOLD = Told()


def update_both(x, y):
    x.mul_(2)
    y.add_(1)
    return x + y


def update_and_view(x, y):
    x.add_(1)
    return y[1:3]


def update_and_return(x, y):
    x.add_(1)
    return y


def read_both(x, y):
    return x * 2, y[1:3]


def halves(base):
    return base[:4], base[4:]


def overlap(base):
    return base[:4], base[2:6]


def overlap_less(base):
    return base[:4], base[3:7]


def apart(base):
    return base[:4], torch.ones(4)


def apart_first(base):
    return torch.ones(4), base[:4]


def equal(base):
    return base[:4], base[:4]


def backwards(base):
    return base[2:6], base[:4]


def interleaved(base):
    return base[::2], base[1::2]


# (function, inputs of each call, does a warning name the sharing of memory?)
SHARED = [
    (update_both, (halves, overlap, halves), True),
    (update_both, (overlap, overlap_less), True),
    (update_both, (overlap, halves, apart), True),
    (update_both, (apart, halves, equal, backwards, overlap), True),
    (update_both, (interleaved, overlap_less), False),
    (update_both, (overlap, overlap), False),
    (update_both, (interleaved, interleaved), False),
    (update_both, (apart, halves, apart), False),
    (update_and_view, (overlap,), True),
    (update_and_view, (halves, overlap), True),
    (update_and_return, (overlap, overlap), False),
    (read_both, (halves, overlap, equal), False),
    (read_both, (overlap, apart_first), False),
]


def results_of(function, kinds):
    """What each call gives, what it makes of its inputs, and what a later write to them changes."""
    found = []
    for kind in kinds:
        base = torch.arange(8.0)
        results = function(*kind(base))
        results = results if isinstance(results, tuple) else (results,)
        found.append([*(x.tolist() for x in results), base.tolist()])
        base.add_(100)
        found.append([x.tolist() for x in results])
    return found


def check_inputs():
    for function, kinds, warns in SHARED:
        for dynamic in (False, True):
            torch._dynamo.reset()
            TOLD.texts.clear()
            compiled = torch.compile(function, backend="nereid", dynamic=dynamic)
            got, want = results_of(compiled, kinds), results_of(function, kinds)
            name = (f"{function.__name__} of {', '.join(kind.__name__ for kind in kinds)}"
                    f"{', open sizes' if dynamic else ''}")
            tally.check(got == want, f"{name}: {got}, not {want}")
            told = [text for text in TOLD.texts if "overlap" in text]
            few = len(told) <= 1 and TOLD.texts == told
            tally.check(few and (dynamic or bool(told) == warns), f"{name}: {TOLD.texts}")


def check_warm():
    """Graphs of PyTorch's cache hold for inputs that overlap as when they were stored."""
    for kind in (halves, overlap, overlap_less, halves, overlap):
        torch._dynamo.reset()
        compiled = torch.compile(update_both, backend="nereid", options={"cache_autograd": True})
        got, want = results_of(compiled, [kind]), results_of(update_both, [kind])
        tally.check(got == want, f"{kind.__name__} from the cache: {got}, not {want}")


def part(x):
    y = x * 2
    return y, y[1:3].detach()


def all_of_it(x):
    y = x * 2
    return y.data, y[1:], y.view(2, 2).data[1]


def of_saved(x):
    y = (x * 2).sigmoid()
    return y, y.detach(), y.view(2, 2).detach()


def of_input(x):
    return x * 2, x.detach(), x[1:3].detach()


def expanded(x):
    y = x * 2
    return y.detach().expand(3, 4), y * 2, y.detach()[1:].t(), y.detach() * 3


def outcome(function, written):
    """Results and gradients, after a write to a result that needs no gradient."""
    x = torch.arange(4.0, requires_grad=True)
    results = function(x)
    free = [result for result in results if not result.requires_grad]
    try:
        if written is not None:
            with torch.no_grad():
                free[written].add_(5)
        sum(result.sum() for result in results if result.requires_grad).backward()
        grad = [round(value, 5) for value in x.grad.tolist()]
    except RuntimeError as error:
        grad = str(error)[:60]
    numbers = [torch.round(result.detach(), decimals=5).tolist() for result in results]
    return numbers, [result.requires_grad for result in results], grad, x.tolist()


def check_detached():
    """Detached results are tensors of their own, which share memory and nothing else."""
    for function in (part, all_of_it, of_saved, of_input, expanded):
        for written in (None, 0, 1):
            if (function, written) in ((part, 1), (expanded, 0)):
                continue  # there is one, or its elements are one
            torch._dynamo.reset()
            got = outcome(torch.compile(function, backend="nereid"), written)
            want = outcome(function, written)
            tally.check(got == want, f"{function.__name__}, {written}: {got}, not {want}")


def dropped(x, w):
    h = torch.nn.functional.dropout((x @ w).sin(), 0.5, True)
    return torch.nn.functional.dropout((h @ w).sin(), 0.5, True) @ w


def masked(x):
    return torch.dropout(x.sin(), 0.5, True)


def check_budget():
    """A backward pass that may save little has the forward pass's mask, also one that PyTorch
    draws."""
    for options in ({}, {"fallback_random": True}, {"by_pytorch": ("aten.bernoulli.p",)}):
        for budget in (1, 0.5, 0.1, 0):
            for function in (dropped, masked):
                torch._dynamo.reset()
                inputs = [torch.rand(8, 8).requires_grad_()]
                inputs += [torch.eye(8)] if function is dropped else []
                with torch._functorch.config.patch(activation_memory_budget=budget):
                    y = torch.compile(function, backend="nereid", options=options)(*inputs)
                    y.sum().backward()
                name = f"{function.__name__} under a budget of {budget}, {options}"
                tally.check(torch.equal(y != 0, inputs[0].grad != 0), f"{name}: another mask")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    import nereid.torch_backend  # registers the backend

    logging.getLogger("nereid.torch_backend").addHandler(TOLD)
    logging.getLogger("nereid.torch_backend").propagate = False
    check_inputs()
    check_detached()
    check_budget()
    check_warm()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
