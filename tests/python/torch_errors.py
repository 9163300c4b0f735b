#!/usr/bin/env python3
"""What eager PyTorch refuses, through torch.compile(backend="nereid"): arguments when the graph is
compiled, data when it runs.  Calls next to them that are right stay right."""
import logging, os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import tally

try:
    import torch
    from torch.nn import functional as F
except ImportError:
    torch = None


def arguments():
    """{name: (function, inputs)}: refused whatever the data is."""
    x, i, byte = torch.ones(2), torch.ones(2, dtype=torch.int64), torch.ones(2).byte()
    images = torch.ones(1, 2, 4, 4, dtype=torch.int64)
    row, weight = torch.ones(1, 3, 8), torch.ones(3, 6, 3)
    big = 3.4e39
    return {
        "celu": (lambda x: torch.celu(x, 0.0), x),
        "clamp": (lambda x: x.clamp(max=big), x),
        "clamp of bytes": (lambda x: x.clamp(max=300), byte),
        "full": (lambda x: torch.full((2,), big) + x, x),
        "full of bytes": (lambda x: torch.full((2,), 300, dtype=torch.uint8) + x, byte),
        "fill_": (lambda x: x.clone().fill_(big), x),
        "masked_fill": (lambda x: x.masked_fill(x > 0, big), x),
        "where": (lambda x: torch.where(x > 0, x, big), x),
        "pad": (lambda x: F.pad(x, (1, 1), value=big), x),
        "add": (lambda x: torch.add(x, x, alpha=big), x),
        "hardtanh": (lambda x: F.hardtanh(x, -1, big), x),
        "threshold": (lambda x: F.threshold(x, big, 0), x),
        "leaky_relu": (lambda x: F.leaky_relu(x, big), x),
        "index_fill": (lambda x: x.index_fill(0, torch.tensor([0]), big), x),
        "scatter": (lambda x: x.scatter(0, torch.tensor([0]), big), x),
        "% 0": (lambda x: x % 0, i),
        "// 0": (lambda x: x // 0, i),
        "** -1": (lambda x: x ** -1, i),
        "bernoulli_": (lambda x: x.clone().bernoulli_(1.5), x),
        "uniform_": (lambda x: x.clone().uniform_(2, 1), x),
        "normal_": (lambda x: x.clone().normal_(0, -1), x),
        "exponential_": (lambda x: x.clone().exponential_(-1), x),
        "randint of bytes": (lambda x: torch.randint(0, 300, (2,), dtype=torch.uint8) + x, byte),
        "randint of i32": (lambda x: torch.randint(0, 1 << 40, (2,), dtype=torch.int32) + x, i),
        "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 2), images),
        "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 2), images),
        "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, 2), images[None]),
        "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, output_padding=1), row, weight),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, divisor_override=0), torch.ones(1, 2, 2, 2)),
        "index_add": (lambda x, y: x.index_add(0, torch.tensor([0]), y), torch.ones(3, 2),
                      torch.ones(1, 4)),
    }


def allowed():
    """Calls that look like them."""
    x, i = torch.ones(2), torch.ones(2, dtype=torch.int64)
    row, weight = torch.ones(1, 3, 8), torch.ones(3, 6, 3)
    return {
        "infinite bounds": (lambda x: x.clamp(max=float("inf")), x),
        "a sum that overflows": (lambda x: x + 1e39, x),
        "a byte below 0": (lambda x: x.masked_fill(x > 0, -1), x.byte()),
        "a float by 0": (lambda x: x / 0, i),
        "floor of a float by 0": (lambda x, y: x // y, x, torch.tensor([0.0, 1.0])),
        "celu": (lambda x: torch.celu(x, 0.5), x),
        "no elements": (lambda x, y: x // y, i[:0], i[:0]),
        "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2, output_padding=1),
                             row, weight),
    }


def data():
    """{name: (function, good inputs, bad inputs)}."""
    good, bad = torch.tensor([1, -2, 3]), torch.tensor([1, 0, 3])
    p, above, nan = (torch.tensor([1, at, 0]) for at in (0.5, 1.5, float("nan")))
    w, below = torch.tensor([1, 0.5, 0]), torch.tensor([-1, 0.5, 1])
    return {
        "//": (lambda x: good // x, good, bad),
        "%": (lambda x: good % x, good, bad),
        "% of a number": (lambda x: 7 % x, good, bad),
        "fmod": (lambda x: torch.fmod(good, x), good, bad),
        "div, rounded": (lambda x: torch.div(good, x, rounding_mode="trunc"), good, bad),
        "in place": (lambda x: good.clone().floor_divide_(x), good, bad),
        "bernoulli": (lambda x: torch.bernoulli(x) * 0, p, above),
        "bernoulli of NaN": (lambda x: torch.bernoulli(x) * 0, p, nan),
        "multinomial": (lambda x: torch.multinomial(x, 1) * 0, w, below),
        "multinomial, replaced": (lambda x: torch.multinomial(x, 4, True) * 0, w, below),
        "multinomial of zeros": (lambda x: torch.multinomial(x, 1) * 0, w, w * 0),
    }


def error_of(function, *inputs):
    try:
        function(*inputs)
    except Exception as error:
        return getattr(error, "inner_exception", error)
    return None


def check_arguments():
    for name, (function, *inputs) in arguments().items():
        torch._dynamo.reset()
        want = error_of(function, *inputs)
        got = error_of(torch.compile(function, backend="nereid"), *inputs)
        same = got is not None and (isinstance(got, type(want)) or str(want) in str(got))
        tally.check(same and str(want)[:40] in str(got), f"{name}: {got!r}, not {want!r}")
    for name, (function, *inputs) in allowed().items():
        torch._dynamo.reset()
        got = torch.compile(function, backend="nereid")(*inputs)
        tally.check(torch.allclose(got, function(*inputs), equal_nan=True), f"{name}: {got}")


def check_data():
    for name, (function, good, bad) in data().items():
        torch._dynamo.reset()
        call = torch.compile(function, backend="nereid")
        for _ in range(2):
            tally.check(torch.equal(call(good), function(good)), f"{name}: good data")
            want, got = error_of(function, bad), error_of(call, bad)
            tally.check(isinstance(got, type(want)) and str(want)[:30] in str(got),
                        f"{name}: {got!r}, not {want!r}")
    torch._dynamo.reset()
    unchecked = torch.compile(lambda x, y: x // y, backend="nereid",
                              options={"check_indices": False})
    tally.check(unchecked(torch.tensor([6, 6]), torch.tensor([0, 2]))[1] == 3, "unchecked")


def check_training():
    """The forward pass ends with the error."""
    torch._dynamo.reset()
    weight = torch.ones(3, requires_grad=True)
    call = torch.compile(lambda w, p: (torch.bernoulli(p) * w).sum(), backend="nereid")
    call(weight, torch.ones(3)).backward()
    tally.check(torch.equal(weight.grad, torch.ones(3)), "gradients")
    tally.check(isinstance(error_of(call, weight, torch.full((3,), 2.0)), RuntimeError), "training")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    logging.disable(logging.CRITICAL)
    check_arguments()
    check_data()
    check_training()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
