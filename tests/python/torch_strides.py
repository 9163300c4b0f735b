#!/usr/bin/env python3
"""Strides of results where PyTorch's operators give others than its fake tensors, and values that
no order in memory may change: torch.compile(backend="nereid") against eager PyTorch."""
import logging, os, pathlib, random, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import tally

try:
    import torch
    import quick_torch
    from torch.nn import functional as F
except ImportError:
    torch = None

TOGETHER = 25  # random calls in a graph
EACH = 50  # random calls of each kind of sizes


def ordered(shape, order):
    """Numbers whose axes are in memory in that order."""
    made = torch.randn([shape[axis] for axis in order])
    return made.permute([order.index(axis) for axis in range(len(order))])


def reversed_axes(*shape):
    return ordered(shape, list(range(len(shape)))[::-1])


def channels_last(*shape):
    return ordered(shape, [0, *range(2, len(shape)), 1])


def calls():
    """{name: (function, inputs)}."""
    reverse, last, columns = reversed_axes, channels_last, reversed_axes(10, 5)
    volume, image = last(1, 3, 3, 3, 3), last(2, 3, 6, 6)
    places, aten = torch.tensor([[0, 2]]), torch.ops.aten
    norm = [torch.ones(5), torch.ones(5)]
    return {
        "an index without axes": (lambda x, i: torch.ops.aten.index.Tensor(x, [None, i]),
                                  ordered((2, 5, 4, 2), (3, 1, 2, 0)), torch.tensor(1)),
        "one of two indices without axes": (
            lambda x, i, j: torch.ops.aten.index.Tensor(x, [i, None, j]),
            reverse(3, 4, 5), torch.tensor([0, 2]), torch.tensor(1)),
        "strides of an index": (lambda x, i: x[i] + 1, reverse(4, 3, 2),
                                torch.tensor([[0, 1, 2], [3, 0, 1]]).t()),
        "an index that repeats": (lambda x, i: x[None, i, i[:1]] + 1, reverse(5, 4, 3), places[0]),
        "index_select": (lambda x, i: x.index_select(2, i), reverse(5, 1, 4), places[0]),
        "copysign": (torch.copysign, reverse(5, 10, 5), columns),
        "floor_divide": (lambda x, y: x // (y.abs() + 1), reverse(5, 10, 5), columns),
        "batch_norm": (lambda x, m, v: F.batch_norm(x, m, v), reverse(4, 5, 3), *norm),
        "batch_norm of images": (lambda x, m, v: F.batch_norm(x, m, v), last(4, 5, 3, 2), *norm),
        "training": (lambda x, m, v: F.batch_norm(x, m.clone(), v.clone(), training=True),
                     reverse(4, 5, 3), *norm),
        "reflection_pad3d": (lambda x: F.pad(x, (1,) * 6, "reflect"), volume),
        "reflection_pad2d": (lambda x: F.pad(x, (1, 1, 0, 1), "reflect"), image),
        "channel_shuffle": (lambda x: F.channel_shuffle(torch.cat([x, x], 1), 2), image),
        "replication_pad2d": (lambda x: F.pad(x, (1, 1, -1, 1), "replicate"), image),
        "nearest of rows": (lambda x: F.interpolate(x, 3), reverse(2, 3, 4)),
        "nearest of volumes": (lambda x: F.interpolate(x, (4, 4, 4)), volume),
        "bilinear, antialiased": (lambda x: F.interpolate(x, (3, 3), mode="bilinear",
                                                          antialias=True), image),
        "max_unpool2d": (lambda x: F.max_unpool2d(x, torch.zeros(1, 2, 1, 3).long() + torch.arange(
            0, 6, 2), (1, 2), output_size=(1, 6)), ordered((1, 2, 1, 3), (3, 1, 2, 0))),
        "max_unpool2d of images": (lambda x: F.max_unpool2d(
            *F.max_pool2d(x, 2, return_indices=True), 2), image),
        "fft of reals": (lambda x: torch.fft.fft(x, dim=1), torch.randn(3, 4, 5)),
        "rfft": (lambda x: torch.fft.rfft(x, dim=1), reverse(3, 4, 5)),
        "irfft": (lambda x: torch.fft.irfft(x + 0j, dim=0), torch.randn(3, 4, 5)),
        "fft2": (lambda x: torch.fft.fft2(x, dim=(1, 0)), torch.randn(3, 4, 5)),
        "irfft2": (lambda x: torch.fft.irfft2(x + 0j, dim=(2, 0)), reverse(3, 4, 5)),
        "a rolled image": (lambda x: x.roll((1, -2), (1, 3)), image),
        "an image rolled by nothing": (lambda x: x.roll(0, 1), image),
        "an image rolled flat": (lambda x: x.roll(5), image),
        "a rolled volume": (lambda x: x.roll(-1, 0), last(2, 3, 3, 3, 3)),
        "one of a batch, rolled": (lambda x: x.roll(2, 2), reverse(3, 4, 5, 1)),
        "gradient of reflected padding": (lambda x: aten.reflection_pad2d_backward(
            F.pad(x, (1, 1, 0, 1)).contiguous(), x, (1, 1, 0, 1)), image),
        "gradient of replicated padding": (lambda x: aten.replication_pad3d_backward(
            F.pad(x, (1, 0, 1, 1, 1, 2)).contiguous(), x, (1, 0, 1, 1, 1, 2)), volume),
        "gradient of batch_norm": (lambda x: aten.native_batch_norm_backward(
            x.contiguous(), x, None, None, None, x.mean((0, 2, 3)), x.var((0, 2, 3)), True, 1e-5,
            [True, False, False])[0], image),
        "gradient of glu": (lambda x: aten.glu_backward(x[:, :1], x[:, 1:], 1),
                            last(2, 3, 2, 4)),
        "gradient of log_softmax": (lambda x: aten._log_softmax_backward_data(
            x, x.contiguous(), 1, torch.float32), last(2, 3, 1, 2)),
        "gradient of mse_loss": (lambda x: aten.mse_loss_backward(x, x, x + 1, 0), image),
        "gradient of huber_loss": (lambda x: aten.huber_loss_backward(x, x, x + 1, 0, 0.5), image),
        "gradient of binary_cross_entropy": (lambda x, y: aten.binary_cross_entropy_backward(
            y, x.sigmoid(), y, None, 0), columns, torch.rand(10, 5)),
        "gradient of hardtanh": (lambda x, y: aten.hardtanh_backward(y, x, -1, 1), columns,
                                 torch.randn(10, 5)),
        "xlogy": (lambda x, y: torch.xlogy(x, y.abs()), torch.rand(5, 10, 5), columns),
        "heaviside": (torch.heaviside, reverse(10, 1, 5), columns),
        "logaddexp": (torch.logaddexp, reverse(10, 1, 5), columns),
        "logical_and": (lambda x, y: torch.logical_and(x > 0, y > 0) + 0.0, reverse(10, 1, 5),
                        columns),
        "view_copy": (lambda x: torch.view_copy(x, (5, 5, 5)), reverse(25, 5)),
        "log_sigmoid": (F.logsigmoid, columns),
        "log_sigmoid, what it saves": (lambda x: torch.ops.aten.log_sigmoid_forward(x)[1], columns),
        "a power of a number": (lambda x: torch.pow(2.0, x), columns),
        "ldexp": (torch.ldexp, reverse(10, 1, 5), reverse(1, 10, 5)),
        "one_hot": (lambda x: F.one_hot((x > 0).long(), 3), reverse(5, 4)),
        "select_scatter of repeats": (lambda x: x.select_scatter(torch.zeros(4), 0, 1),
                                      torch.randn(4).expand(3, 4)),
        "slice_scatter of repeats": (lambda x: x.slice_scatter(torch.zeros(3, 2), 1, 1, 3),
                                     torch.randn(3, 1).expand(3, 4)),
        "diagonal_scatter of repeats": (lambda x: x.diagonal_scatter(torch.zeros(3)),
                                        torch.randn(4).expand(3, 4)),
        "diagonal_scatter below": (lambda x: x.diagonal_scatter(torch.ones(2, 4), -1, 2, 0),
                                   torch.randn(4, 2, 5)),
        "diagonal_scatter above": (lambda x: x.diagonal_scatter(torch.ones(3), 2), reverse(4, 5)),
        "diagonal_backward": (lambda x: torch.ops.aten.diagonal_backward(x, [2, 5, 4], 1, 1, 2),
                              torch.randn(2, 3)),
        "cross": (torch.linalg.cross, reverse(7, 3), torch.randn(1, 3)),
        "columns of batches": (torch.bmm, torch.randn(7, 5, 3), torch.randn(7, 3, 1)),
        "as_strided_scatter of repeats": (
            lambda x: torch.as_strided_scatter(x, torch.zeros(2), (2,), (1,), 3),
            torch.randn(4).expand(3, 4)),
        "put": (lambda x, i: x.put(i, torch.ones(1, 2), True), reverse(3, 3), places),
        "nll_loss": (lambda x: F.nll_loss(x, torch.zeros(2, 4, 4).long().mT, reduction="none"),
                     last(2, 3, 4, 4)),
    }


def difference(got, want):
    if got.shape != want.shape or got.stride() != want.stride():
        return f"{tuple(got.shape)}, {got.stride()}, not {tuple(want.shape)}, {want.stride()}"
    return None if torch.allclose(got, want, atol=1e-6) else f"{got}, not {want}"


def check_calls():
    made = calls()
    functions = [function for function, *_ in made.values()]

    def every(inputs):
        return [function(*given) for function, given in zip(functions, inputs)]

    inputs = [given for _, *given in made.values()]
    found = torch.compile(every, backend="nereid", fullgraph=True)(inputs)
    for name, got, want in zip(made, found, every(inputs)):
        problem = difference(got, want)
        tally.check(problem is None, f"{name}: {problem}")


def check_ties():
    """Of equal elements any index is right, and of equal pivots any permutation: the elements at
    the indices are the values, and the factors multiply to the matrix."""
    def every(x, a):
        return (x.mode(0), x.median(0), x.kthvalue(2, 0), x.topk(2, 0)), torch.linalg.lu(a)

    x = torch.randint(0, 3, (7, 9), generator=torch.Generator().manual_seed(1)).float()
    a = torch.tensor([[1.0, 2, 0], [-1, 1, 3], [1, 1, 1]]).repeat(2, 1, 1)
    torch._dynamo.reset()
    found, (p, l, u) = torch.compile(every, backend="nereid", fullgraph=True)(x, a)
    for (values, indices), (want, _) in zip(found, every(x, a)[0]):
        at = indices if indices.dim() == 2 else indices[None]
        tally.check(torch.equal(values, want) and torch.equal(
            x.gather(0, at).reshape(values.shape), values), f"{values} at {indices}, not {want}")
    permutes = torch.equal(p.sum(-1), torch.ones(2, 3)) and torch.equal(p.sum(-2), torch.ones(2, 3))
    small = l.abs().max() <= 1 and torch.equal(u, u.triu())
    tally.check(permutes and small and torch.allclose(p @ l @ u, a, atol=1e-6), f"{p}, {l}, {u}")


def random_index(r):
    """A tensor in some order, and indices of some of its axes."""
    shape = [r.choice((1, 2, 3, 4)) for _ in range(r.randint(1, 4))]
    x = ordered(shape, r.sample(range(len(shape)), len(shape)))
    common = [r.choice((1, 2, 3)) for _ in range(r.randint(0, 3))]
    indices = []
    for axis in range(r.randint(1, len(shape))):
        sizes = [1 if r.random() < 0.25 else n for n in common[r.randint(0, len(common)):]]
        index = torch.randint(0, shape[axis], sizes)
        if index.dim() > 1 and r.random() < 0.4:
            index = index.transpose(0, -1).contiguous().transpose(0, -1)
        indices.append(None if r.random() < 0.4 else index)
    if all(index is None for index in indices):
        indices[-1] = torch.tensor(0)
    return x, indices


def check_random(is_open):
    r = random.Random(int(is_open))
    torch.manual_seed(0)
    for _ in range(0, EACH, TOGETHER):
        made = [random_index(r) for _ in range(TOGETHER)]

        def every(made):
            return [torch.ops.aten.index.Tensor(x, indices) for x, indices in made]

        torch._dynamo.reset()
        found = torch.compile(every, backend="nereid", fullgraph=True, dynamic=is_open)(made)
        for (x, indices), got, want in zip(made, found, every(made)):
            wrong = [tuple(got.shape), *(step for step, n in zip(got.stride(), got.shape) if n > 1)]
            right = [tuple(want.shape), *(
                step for step, n in zip(want.stride(), want.shape) if n > 1)]
            tally.check(wrong == right and torch.equal(got, want),
                        f"{tuple(x.shape)}, {x.stride()} at {indices}: {wrong}, not {right}")


class Encoder(torch.nn.Module if torch else object):
    """A convolution whose transposed result is the residual of a block: eager mode's sums have its
    order."""

    def __init__(self):
        super().__init__()
        self.window, self.norm = torch.nn.Conv1d(5, 16, 3, padding=1), torch.nn.LayerNorm(16)
        self.up, self.down = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)

    def forward(self, sound):
        x = F.gelu(self.window(sound)).permute(0, 2, 1)
        x = x + self.down(F.gelu(self.up(self.norm(x))))
        return x + self.norm(x).tanh()


def check_saved():
    """What is saved for gradients is in the order in which kernels compute it: rows of what follows
    a product, channels last of a signal; results and gradients have eager mode's strides."""
    for batch in (1, 3):
        torch._dynamo.reset()
        model, sound, saved = Encoder(), torch.randn(batch, 5, 24, requires_grad=True), []
        compiled = torch.compile(model, backend="nereid")
        with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
            got = compiled(sound)
        want = model(sound)
        tally.check(got.stride() == want.stride(), f"{batch}: {got.stride()}, not {want.stride()}")
        gradients = [torch.autograd.grad(y.square().sum(), [sound, *model.parameters()])
                     for y in (got, want)]
        tally.check(all(torch.allclose(a, b, atol=1e-4) and a.stride() == b.stride()
                        for a, b in zip(*gradients)), f"{batch}: gradients")
        rows = [t.stride() for t in saved if t.shape == (batch, 24, 16)]
        tally.check(rows and all(strides[1:] == (16, 1) for strides in rows), f"{batch}: {rows}")
        signals = [t.stride() for t in saved if t.shape == (batch, 16, 24)]
        tally.check(signals and all(strides[1:] == (1, 16) for strides in signals),
                    f"{batch}: {signals}")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    warnings = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warnings.append(record.getMessage())
    logging.getLogger("nereid.torch_backend").addHandler(handler)
    check_calls()
    check_ties()
    check_random(False)
    check_random(True)
    check_saved()
    tally.check(not warnings, f"warnings: {warnings[:1]}")
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
