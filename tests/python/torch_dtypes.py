#!/usr/bin/env python3
"""Values and gradients where a dtype, or the data, tells right forms of an operator from others:
torch.compile(backend="nereid") against eager PyTorch."""
import logging, math, os, pathlib, sys, warnings

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


def equal_rows(rows):
    """Columns of equal elements, whose mean in f32 is often another number."""
    return torch.randn(1, 33, generator=torch.Generator().manual_seed(0)).repeat(rows, 1)


def exact():
    """{name: (function, inputs)}: results and gradients have eager mode's bits."""
    scales, zeros = torch.tensor([0.03, 0.2, 1 / 3]), torch.tensor([0, -7, 3], dtype=torch.int32)
    halves = torch.tensor([[-1e6, -0.3, 0.5], [0.1, 1.5, 2.5], [0.7, -40.0, 1e6]]) * 0.2
    on = torch.ones(1)
    quantized = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
    return {
        "levels of a tensor": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.2, 3, 0, 15),
                               halves),
        "levels of no number": (lambda x: torch.fake_quantize_per_tensor_affine(
            torch.where(x < 0, math.nan, x), 0.2, 3, 0, 15), halves),
        "levels of channels": (lambda x: torch.fake_quantize_per_channel_affine(
            x, scales, zeros, 1, -8, 7), halves),
        "levels of channels around fractions": (lambda x: torch.fake_quantize_per_channel_affine(
            x, scales, zeros + 0.4, 1, -8, 7), halves),
        "levels by tensors": (lambda x: torch.stack([quantized(
            x, scales[1:2], zeros[1:2], flag, -8, 7)[0] for flag in (on, 0 * on)]), halves),
        "std of equal elements": (lambda x: x.std(0), equal_rows(5)),
        "std_mean of equal elements": (lambda x: torch.std_mean(x, 0, keepdim=True)[0],
                                       equal_rows(5)),
        "mean of far elements": (lambda x: torch.std_mean(x, 0)[1],
                                 torch.tensor([2.0**127, -2.0**127, 0, 0])),
        "a factor that ends early": (lambda x: torch.linalg.cholesky_ex(x.detach()), torch.tensor(
            [[4.0, 2, 4, 6], [2, 10, 14, 18], [4, 14, 17, 7], [6, 18, 7, 9]])),
    }


def refused():
    """{name: (function, inputs)}: eager mode has no kernel for the dtype on a CPU."""
    truths = torch.ones(3, 3).bool()
    whole, halves = truths.long(), truths.half()
    images, wide = torch.ones(2, 3, 4, 4).long(), torch.ones(2, 3, 5, 20, 20).byte()
    first = torch.zeros(3).long()
    return {
        "abs": (torch.abs, truths), "in place": (lambda x: x.clone().floor_(), truths),
        "a product": (lambda x: x @ x, truths),
        "a list": (lambda x: torch._foreach_abs([x]), truths),
        "arange": (lambda x: torch.arange(2, dtype=torch.bool) & x[0, 0], truths),
        "linspace": (lambda x: torch.linspace(0, 1, 3, dtype=torch.bool) & x, truths),
        "kthvalue": (lambda x: x.kthvalue(1), truths),
        "frac": (torch.frac, whole), "no elements": (lambda x: F.unfold(x, 2), wide[0, :0]),
        "interpolate": (lambda x: F.interpolate(x, 3), images),
        "bilinear": (lambda x: F.interpolate(x, 3, mode="bilinear"), images),
        "grid_sample": (lambda x: F.grid_sample(x, torch.zeros(2, 12, 11, 10, 3).byte()), wide),
        "multi_margin_loss": (lambda x: F.multi_margin_loss(x, first), halves),
        "multilabel_margin_loss": (lambda x: F.multilabel_margin_loss(x, x.long()), halves),
        "soft_margin_loss": (lambda x: F.soft_margin_loss(x, x), whole),
        "nansum": (torch.nansum, whole.cfloat()), "mvlgamma": (lambda x: x.mvlgamma(1), truths),
        "multinomial": (lambda x: x.multinomial(2), whole),
        "batch_norm": (lambda x: F.batch_norm(x, x[0] * 0, x[0] + 1), whole),
        "max_unpool2d": (lambda x: F.max_unpool2d(x[None], x[None] * 0, 2), whole),
    }


def taken():
    """Calls that look like them."""
    truths = torch.ones(3, 3).bool()
    whole, halves = truths.long(), truths.half()
    pixels = torch.arange(96).view(2, 3, 4, 4).byte()
    return {
        "abs": (torch.abs, whole), "a product": (lambda x: x @ x, whole),
        "arange": (lambda x: torch.arange(3, dtype=torch.uint8) & x, truths),
        "cumsum": (lambda x: x.cumsum(0), truths), "sum": (lambda x: x.sum(), truths),
        "interpolate": (lambda x: F.interpolate(x, 3), pixels), "erf": (torch.erf, whole),
        "no elements": (torch.abs, truths[:0]), "nansum": (torch.nansum, whole),
        "softmax": (lambda x: x.softmax(0), halves), "floor": (torch.floor, whole),
        "index_add": (lambda x: x.index_add(0, torch.tensor([1]), x[:1]), truths),
    }


def results_of(function, inputs):
    """The results, and the gradients of their sum."""
    leaves = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    results = function(*leaves)
    results = list(results) if isinstance(results, tuple) else [results]
    sums = [x.sum() for x in results if x.requires_grad]
    wanted = [x for x in leaves if x.requires_grad]
    gradients = torch.autograd.grad(sum(sums), wanted) if sums else ()
    return [x.detach() for x in (*results, *gradients)]


def check_exact():
    for name, (function, *inputs) in exact().items():
        torch._dynamo.reset()
        want = results_of(function, inputs)
        got = results_of(torch.compile(function, backend="nereid", fullgraph=True), inputs)
        same = all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(got, want))
        tally.check(same and len(got) == len(want), f"{name}: {got}, not {want}")


def outcome(function, inputs):
    """The results, or the error."""
    try:
        return results_of(function, inputs)
    except Exception as error:
        return getattr(error, "inner_exception", error)


def check_labels():
    """PyTorch's form of multilabel_margin_loss counts places after the first -1 of a row."""
    torch.manual_seed(0)
    labels = torch.tensor([[3, 0, -1, 1], [-1, 2, 1, 0], [0, 1, 2, 3], [2, -1, -1, -1]])
    for reduction in "none", "mean", "sum":
        x = torch.randn(4, 4)
        want, got = (results_of(lambda x: f(x, labels, reduction=reduction), [x]) for f in (
            F.multilabel_margin_loss, torch.compile(F.multilabel_margin_loss, backend="nereid")))
        same = all(torch.allclose(a, b) for a, b in zip(got, want))
        tally.check(same and len(got) == 2, f"labels, {reduction}: {got}, not {want}")


def check_inverses():
    """PyTorch's own operator is wrong in a compiled graph."""
    torch.manual_seed(0)
    a, tall = torch.randn(3, 3, dtype=torch.complex64), torch.randn(2, 5, 2, dtype=torch.complex64)
    cases = [(a, {}), (tall, {}), (tall, {"rtol": 0.9}), (a, {"atol": 1.5})]
    want = [torch.linalg.pinv(x, **options) for x, options in cases]
    torch._dynamo.reset()
    found = torch.compile(lambda: [torch.linalg.pinv(x, **options) for x, options in cases],
                          backend="nereid")()
    for got, right, (x, options) in zip(found, want, cases):
        tally.check(torch.allclose(got, right, atol=1e-5), f"pinv {tuple(x.shape)} {options}")


def bf16_products(rows, depth, columns):
    """{name: (function, inputs)}: products whose operands are words of two along the sum, or not:
    an odd depth or offset, turned, gathered and joined operands, a weight of two products."""
    x, w = (torch.randn(n, depth).bfloat16() for n in (rows, columns))
    first, tall = torch.randint(0, rows, (16,)), x.t().contiguous()
    return {
        "linear": (lambda x, w: F.linear(x, w, w[:, 0]).relu(), x, w),
        "dense columns": (lambda x, w: x @ w, x, w.t().contiguous()),
        "turned": (lambda x, w: x.t() @ w.t(), tall, w),
        "an odd offset": (lambda x, w: F.linear(x[:, 1:], w[:, 1:]), x, w),
        "gathered": (lambda x, w, i: F.linear(F.embedding(i, x), w), x, w, first),
        "joined": (lambda x, w: F.linear(torch.cat([x[:, :3], x[:, 3:]], 1), w), x, w),
        "a weight twice": (lambda x, y, w: (x @ w.t(), y.t() @ w.t()), x, tall, w),
    }


def check_bf16_products():
    """Against float64; 512 rows and more have panels of the weight."""
    for shape in ((4, 64, 96), (33, 7, 64), (600, 130, 80)):
        torch.manual_seed(0)
        for name, (function, *inputs) in bf16_products(*shape).items():
            torch._dynamo.reset()
            got = torch.compile(function, backend="nereid")(*inputs)
            want = function(*(x.double() if x.is_floating_point() else x for x in inputs))
            pairs = zip(*(v if isinstance(v, tuple) else (v,) for v in (got, want)))
            good = all((g.double() - v).norm() <= 4e-3 * v.norm() for g, v in pairs)
            tally.check(good, f"bf16, {name}, {shape}")


def wide_products(dtype):
    x, y = (torch.randn(*shape, dtype=dtype) for shape in ((600, 40), (40, 70)))
    tall, z, real = (torch.randn(40, 600, dtype=dtype), torch.randn(3, 40, 9, dtype=dtype),
                     torch.randn(600, 40, dtype=torch.empty((), dtype=dtype).abs().dtype))
    return {
        "rows": (torch.mm, x, y),
        "turned": (lambda x, y: x.t() @ y, tall, y),
        "turned on the right": (lambda x, y: x @ y.t(), x, x[:90].clone()),
        "conjugates": (lambda x, y: x.conj() @ y.t().conj(), x, y.t().contiguous()),
        "an adjoint": (lambda x, y: x.mH @ y, tall, y),
        "by parts": (lambda x, y: (x * 2) @ (y + 1), x, y),
        "a real one by it": (lambda x, y: x.to(y.dtype) @ y, real, y),
        "a batch": (lambda x, z: x[:9].view(3, 3, 40) @ z, x, z),
        "a layer": (F.linear, x, y.t().contiguous(), torch.randn(70, dtype=dtype)),
        "open sizes": (lambda x, y: x[3:] @ y[:, 1:], x, y),
    }


def check_wide_products():
    """Products of float64 and of complex numbers, with panels and without."""
    for dtype, most in ((torch.float64, 1e-14), (torch.complex64, 1e-6), (torch.complex128, 1e-14)):
        torch.manual_seed(0)
        for name, (function, *inputs) in wide_products(dtype).items():
            torch._dynamo.reset()
            compiled = torch.compile(function, backend="nereid", dynamic=name == "open sizes")
            want = function(*(x.to(torch.complex128) for x in inputs))
            good = (compiled(*inputs) - want).norm() <= most * want.norm()
            tally.check(good, f"{dtype}, {name}")


def check_refused():
    for name, (function, *inputs) in {**refused(), **taken()}.items():
        torch._dynamo.reset()
        want = outcome(function, inputs)
        got = outcome(torch.compile(function, backend="nereid"), inputs)
        if isinstance(want, Exception):
            same = isinstance(got, RuntimeError) and str(want)[:40] in str(got)
        else:
            same = isinstance(got, list) and all(map(torch.equal, got, want))
        tally.check(same, f"{name}: {got!r}, not {want!r}")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    check_exact()
    check_labels()
    check_inverses()
    check_bf16_products()
    check_wide_products()
    check_refused()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
