#!/usr/bin/env python3
"""Losses of logits in chunks of rows: values and gradients against float64, what is in memory at
once, and graphs that keep their logits."""
import os, pathlib, sys

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
    import torch.nn.functional as F

    from nereid import torch_backend as backend

BATCH, LENGTH, WIDTH, WORDS = 3, 32, 24, 256
ROWS = BATCH * LENGTH


def smoothed(x, w, b, t):
    logits = F.linear(x.view(BATCH, LENGTH, WIDTH), w, b).float()
    return F.cross_entropy(logits.flatten(0, 1), t, label_smoothing=0.1, ignore_index=3)


def capped(x, w, b, t):
    """A soft cap, weights of words, a sum, and a square of the logarithm of the sum."""
    logits = 30 * torch.tanh(F.linear(x, w) / 30)
    weights = torch.linspace(0.5, 1.5, WORDS, dtype=x.dtype)
    loss = F.cross_entropy(logits, t, weight=weights, reduction="sum") / 50
    return loss + 1e-2 * logits.logsumexp(-1).square().mean() + b.sum()


def written_out(x, w, b, t):
    chosen = (x @ w.t() + b).log_softmax(-1).gather(-1, t[:, None])
    return -chosen.mean() * 3 + x.square().sum()


def returned(x, w, b, t):
    logits = F.linear(x, w, b)
    return F.cross_entropy(logits, t) + 0 * logits.sum(0).max(), logits


def each_row(x, w, b, t):
    return F.cross_entropy(F.linear(x, w, b), t, reduction="none")


def perceptron(x, w, b, t):
    return F.linear(F.relu(F.linear(x, w, b)), w.t()).sum()


def operands(dtype):
    torch.manual_seed(4)
    t = torch.randint(0, WORDS, (ROWS,))
    t[::5] = 3
    leaves = [torch.randn(ROWS, WIDTH), torch.randn(WORDS, WIDTH) / 2, torch.randn(WORDS)]
    return [x.to(dtype).requires_grad_() for x in leaves], t


def results(function, leaves, t):
    made = function(*leaves, t)
    first = made[0] if isinstance(made, tuple) else made
    grads = torch.autograd.grad(first.sum(), leaves, allow_unused=True)
    return [first.detach(), *(x for x in grads if x is not None)]


def far_from(got, want):
    return [((a.double() - b).abs().max() / b.abs().max()).item() for a, b in zip(got, want)]


def run(function, dtype, rows):
    """Errors of us and of eager PyTorch from float64, and the programs with chunks of `rows`."""
    torch._dynamo.reset()
    backend._programs.clear()
    backend._programs.keep()
    leaves, t = operands(dtype)
    most = 0 if rows is None else rows * WORDS * 4
    compiled = torch.compile(function, backend="nereid", options={"loss_bytes": most})
    got = results(compiled, leaves, t)
    want = results(function, [x.detach().double().requires_grad_() for x in leaves], t)
    return far_from(got, want), far_from(results(function, leaves, t), want), [*backend._programs]


def at_once(programs):
    """The bytes that the plans of both passes need, results included."""
    info = [segment.executable.info for program in programs for segment in program.segments]
    return max(one["pool"] + one["outputs"] for one in info)


def has_whole(programs):
    """Is there a node with all logits?"""
    return any(isinstance(node.meta.get("val"), torch.Tensor)
               and node.meta["val"].numel() == ROWS * WORDS
               for program in programs for node in program.graph.nodes)


def check_chunks():
    for function, dtype, rows in ((smoothed, torch.float32, 24), (capped, torch.float32, 48),
                                  (written_out, torch.bfloat16, 40), (written_out,
                                                                      torch.bfloat16, 9)):
        far, eager, programs = run(function, dtype, rows)
        name = f"{function.__name__}, {dtype}, {rows} rows"
        right = all(a <= 2 * b + 1e-6 for a, b in zip(far, eager))
        tally.check(right, f"{name}: errors {far}, eager {eager}")
        tally.check(not has_whole(programs), f"{name}: the logits are there as a whole")
        tally.check(not any(program.reasons for program in programs), f"{name}: PyTorch runs nodes")


def check_integers():
    """Counts have all their bits."""
    def count(x, w, b, t):
        logits = F.linear(x, w, b)
        return F.cross_entropy(logits, t), (logits.detach() > -1e9).long().mul(100000001).sum(0)

    torch._dynamo.reset()
    leaves, t = operands(torch.float32)
    compiled = torch.compile(count, backend="nereid", options={"loss_bytes": 24 * WORDS * 4})
    tally.check(torch.equal(compiled(*leaves, t)[1], count(*leaves, t)[1]), "a sum of integers")


def check_memory():
    """The loss alone, in chunks of an eighth of the rows, needs a chunk, some rows, and the
    weight in panels, which chunks of so few rows share."""
    backend._programs.clear()
    backend._programs.keep()
    whole = ROWS * WORDS * 4
    leaves, t = operands(torch.float32)
    with torch.no_grad():
        compiled = torch.compile(smoothed, backend="nereid", options={"loss_bytes": whole // 8})
        got = compiled(*leaves, t)
    tally.check(torch.allclose(got, smoothed(*leaves, t).detach(), rtol=1e-5), "the loss alone")
    (program,) = [one for one in backend._programs if one.kind == "inference"]
    most = at_once([program])
    panels = WIDTH * WORDS * 4
    tally.check(most < whole / 4 + panels, f"the loss alone: {most} bytes at once")


def check_kept():
    """Logits that something else reads, whose loss has a gradient of each row, or that no loss
    reads, stay whole."""
    for function in (returned, each_row, perceptron):
        far, eager, programs = run(function, torch.float32, 12)
        tally.check(all(a <= 2 * b + 1e-6 for a, b in zip(far, eager)),
                    f"{function.__name__}: errors {far}, eager {eager}")
        tally.check(has_whole(programs), f"{function.__name__}: in chunks")
    try:
        torch.compile(each_row, backend="nereid", options={"loss_bytes": -1})(
            *operands(torch.float32)[0], operands(torch.float32)[1])
        tally.check(False, "a negative number of bytes")
    except Exception as error:
        tally.check("loss_bytes" in str(error), f"a negative number of bytes: {error}")


def raise_in(*_, **__):
    raise IndexError("no such axis")


def check_unwritten():
    """Logits whose chunks can't be written, also after some were, and those of open sizes stay
    whole, without a word."""
    from nereid.torch_backend.passes import row_chunks

    for name in ("_leaves_of", "_sort", "_Region.find"):
        of, _, last = name.rpartition(".")
        owner = getattr(row_chunks, of) if of else row_chunks
        before = getattr(owner, last)
        setattr(owner, last, raise_in)
        try:
            far, eager, programs = run(written_out, torch.float32, 24)
        finally:
            setattr(owner, last, before)
        tally.check(all(a <= 2 * b + 1e-6 for a, b in zip(far, eager)), f"{name} fails: {far}")
        tally.check(has_whole(programs), f"{name} fails: there are chunks")
        tally.check(not any(one.reasons for one in programs), f"{name} fails: PyTorch runs nodes")


def check_open():
    """Rows of another operand, and then all, of open sizes."""
    def beside(x, w, b, t, other):
        chosen = F.cross_entropy(F.linear(x, w, b), t)
        return chosen + (other @ w.t()).logsumexp(-1).mean()

    def accuracy(x, w, b, t, other):
        logits = F.linear(x, w, b)
        return F.cross_entropy(logits, t) + (logits.argmax(-1) == t).sum() + logits.argmax()

    for function, dynamic in ((beside, None), (accuracy, None), (accuracy, True)):
        torch._dynamo.reset()
        backend._programs.clear()
        leaves, t = operands(torch.float32)
        other = torch.randn(5, WIDTH)
        torch._dynamo.mark_dynamic(other, 0)
        compiled = torch.compile(function, backend="nereid", dynamic=dynamic,
                                 options={"loss_bytes": 24 * WORDS * 4})
        got, want = (call(*leaves, t, other) for call in (compiled, function))
        tally.check(torch.allclose(got, want, rtol=1e-5), f"{function.__name__}: {got}, not {want}")
        programs = [*backend._programs]
        tally.check(programs and not any(one.reasons for one in programs),
                    f"{function.__name__}: PyTorch runs nodes")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        check_chunks()
        check_integers()
        check_memory()
        check_kept()
        check_unwritten()
        check_open()
    sys.exit(tally.report())
