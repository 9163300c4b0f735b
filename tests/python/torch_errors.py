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
    import quick_torch
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
        "alpha of index_add": (lambda x: x.index_add(0, torch.tensor([0, 1]), x, alpha=1e5),
                               x.half()),
        "fill_ of bfloat16": (lambda x: x.clone().fill_(3.395e38), x.bfloat16()),
    }


def small_weights():
    """{name: (a part of the message, function, inputs)}: products of 8-bit floats with scales of
    other shapes, and of weights of 4 and 8 bits in another packing."""
    def bytes_of(*shape):
        return torch.ones(shape).to(torch.float8_e4m3fn)

    def scaled(x, y, a, b):
        return torch._scaled_mm(x, y, a, b, out_dtype=torch.bfloat16)

    def grouped(x, y, a, b, ends):
        return torch._scaled_grouped_mm(x, y, a, b, ends, out_dtype=torch.bfloat16)

    def by_words(x, packed, scales):
        return torch.ops.aten._weight_int4pack_mm(x, packed, 32, scales)

    def by_bytes(x, packed, scales):
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, packed, 32, scales)

    x, y = bytes_of(32, 64), bytes_of(48, 64).t()
    rows, experts = bytes_of(64, 32), bytes_of(3, 48, 32).mT
    ends = torch.tensor([16, 40, 64], dtype=torch.int32)
    wide, scales = torch.ones(3, 64).bfloat16(), torch.ones(2, 32, 2).bfloat16()
    nibbles = torch.ones(32, 64, dtype=torch.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(nibbles, 1)
    words = torch.zeros(4, 2, 32, 4, dtype=torch.int32)
    found = {f"scales of {a} and {b}": ("scal", scaled, x, y, torch.ones(a), torch.ones(b))
             for a, b in (((3,), ()), ((32, 1), (1, 47)), ((31, 1), (1, 48)), ((2, 2), (2, 2)))}
    found |= {f"groups' scales of {a} and {b}": ("Expected scale", grouped, rows, experts,
                                                 torch.ones(a), torch.ones(b), ends)
              for a, b in (((63,), (3, 48)), ((64,), (3, 47)), ((64, 1), (3, 48)), ((64,), (48,)))}
    return found | {
        "an end too few": ("batch sizes have to match", grouped, rows, experts, torch.ones(64),
                           torch.ones(3, 48), ends[:2]),
        "bytes for words": ("w must be a 4D tensor", by_words, wide, packed, scales),
        "words for bytes": ("w must be a 2D tensor", by_bytes, wide, words, scales),
        "half the rows": ("qScaleAndZeros", by_bytes, wide, packed[:16], scales),
        "half the columns": ("to be K/2", by_bytes, wide, packed[:, :16].contiguous(), scales),
        "i8 of other columns": ("B.size(1)", torch.ops.aten._weight_int8pack_mm, wide,
                                torch.zeros(32, 63, dtype=torch.int8), torch.ones(32).bfloat16()),
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
    levels = torch.fake_quantize_per_channel_affine
    return {
        "//": (lambda x: good // x, good, bad),
        "%": (lambda x: good % x, good, bad),
        "% of a number": (lambda x: 7 % x, good, bad),
        "fmod": (lambda x: torch.fmod(good, x), good, bad),
        "div, rounded": (lambda x: torch.div(good, x, rounding_mode="trunc"), good, bad),
        "binary_cross_entropy": (lambda x: F.binary_cross_entropy(x, w), p, above),
        "levels": (lambda x: levels(w.view(1, 3), w + 1, x.int(), 1, -2, 3), good, 2 * good),
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
    warned = []
    logger, keeper = logging.getLogger("nereid.torch_backend"), logging.Handler()
    keeper.emit = lambda record: warned.append(record.getMessage())
    handlers, logger.handlers = logger.handlers, [keeper]
    logging.getLogger("torch._subclasses.fake_tensor").disabled = True
    logging.disable(logging.NOTSET)
    for name, (function, *inputs) in arguments().items():
        torch._dynamo.reset()
        want = error_of(function, *inputs)
        got = error_of(torch.compile(function, backend="nereid"), *inputs)
        same = got is not None and (isinstance(got, type(want)) or str(want) in str(got))
        tally.check(same and str(want)[:40] in str(got), f"{name}: {got!r}, not {want!r}")
    logging.disable(logging.CRITICAL)
    logger.handlers = handlers
    asked = [text for text in warned if "please report" in text]
    tally.check(warned and not asked, f"asks to report what eager mode raises, too: {asked}")
    for name, (function, *inputs) in allowed().items():
        torch._dynamo.reset()
        got = torch.compile(function, backend="nereid")(*inputs)
        tally.check(torch.allclose(got, function(*inputs), equal_nan=True), f"{name}: {got}")


def check_small_weights():
    """PyTorch's own exceptions."""
    for name, (text, function, *inputs) in small_weights().items():
        torch._dynamo.reset()
        got = error_of(torch.compile(function, backend="nereid"), *inputs)
        tally.check(isinstance(got, RuntimeError) and text in str(got), f"{name}: {got!r}")


def check_data():
    for name, (function, good, bad) in data().items():
        torch._dynamo.reset()
        call = torch.compile(function, backend="nereid")
        for _ in range(2):
            tally.check(torch.equal(call(good), function(good)), f"{name}: good data")
            want, got = error_of(function, bad), error_of(call, bad)
            ours = "the divisor" if str(want) == "ZeroDivisionError" else str(want)[:30]
            tally.check(isinstance(got, type(want)) and ours in str(got),
                        f"{name}: {got!r}, not {want!r}")
    torch._dynamo.reset()
    unchecked = torch.compile(lambda x, y: x // y, backend="nereid",
                              options={"check_indices": False})
    tally.check(unchecked(torch.tensor([6, 6]), torch.tensor([0, 2]))[1] == 3, "unchecked")


def counts():
    """{name: (function, masks that are right, masks that are wrong)}: sizes that data decides."""
    y = torch.arange(6.0)
    two, three, one, none = (torch.arange(6) < n for n in (2, 3, 1, 0))

    def checked(m):
        places = m.nonzero()
        torch._check(places.shape[0] == 2)
        return places * 2

    def checked_number(m):
        n = m.sum().item()
        torch._check(n == 2)
        return y[:1] * n

    def written(m):
        z = y.clone()
        z[m] = torch.ones(2)
        return z

    return {
        "view": (lambda m: y[m].view(2, 1), [two], [three]),
        "view of twos": (lambda m: (y[m] * 2).view(-1, 2) + 1, [two], [three]),
        "expand": (lambda m: y[m].expand(3, 2) + 1, [two], [three]),
        "split": (lambda m: y[m].split([1, 1])[0] + 1, [two], [three]),
        "add a known size": (lambda m: y[m] + torch.ones(2), [two], [three]),
        "add another mask": (lambda m, n: y[m] + y[n], [two, two], [two, three]),
        "add nothing": (lambda m, n: y[m] + y[n], [two, two], [none, three]),
        "cat": (lambda m: torch.cat([y[m].unsqueeze(1), torch.ones(2, 1)], 1), [two], [three]),
        "stack": (lambda m, n: torch.stack([y[m], y[n]]), [two, two], [two, three]),
        "product": (lambda m: y[m].view(1, -1) @ torch.ones(2, 2), [two], [three]),
        "where": (lambda m: torch.where(y[:2] > 0, y[m], 0.0), [two], [three]),
        "index_put": (lambda m: y.index_put((torch.tensor([0, 1]),), y[m]), [two], [three]),
        "too few values": (lambda m: y.index_put((m,), torch.ones(2)), [two], [three]),
        "too many values": (lambda m: y.index_put((m,), torch.ones(2)), [two], [none]),
        "x[mask] = values": (written, [two], [three]),
        "masked_scatter": (lambda m: y.masked_scatter(m, y[:2]), [two], [three]),
        "nonzero": (lambda m: m.nonzero().view(2) + 1, [two], [three]),
        "unique": (lambda m: torch.unique(y * m).view(2, 1), [two], [three]),
        "narrow": (lambda m: y[m].narrow(0, 0, 2) + 1, [two], [one]),
        "_check of nonzero": (checked, [two], [three]),
        "_check of item": (checked_number, [two], [three]),
    }


def check_counts():
    """A count that contradicts another size, or a check, is an error."""
    for name, (function, right, wrong) in counts().items():
        torch._dynamo.reset()
        call = torch.compile(function, backend="nereid", fullgraph=True)
        tally.check(torch.equal(call(*right), function(*right)), f"{name}: right counts")
        got, want = error_of(call, *wrong), error_of(function, *wrong)
        tally.check(want is not None and isinstance(got, (type(want), RuntimeError, IndexError)),
                    f"{name}: {got!r}, not {want!r}")
        tally.check(torch.equal(call(*right), function(*right)), f"{name}: right counts again")


def check_counts_of_one():
    """A call with a count that eager mode broadcasts is PyTorch's."""
    x = torch.arange(6.0)
    one, two, three = (torch.arange(6) < n for n in (1, 2, 3))
    calls = {
        "broadcast": (lambda m, n: x[m] + x[n], (one, two)),
        "squeeze": (lambda m, n: x[m].squeeze(0) * x[n][0], (one, two)),
    }
    for name, (function, masks) in calls.items():
        torch._dynamo.reset()
        call = torch.compile(function, backend="nereid", fullgraph=True)
        for m, n in ((two, two), masks, masks, (three, three)):
            tally.check(torch.equal(call(m, n), function(m, n)), f"{name} of one")
    torch._dynamo.reset()
    call = torch.compile(lambda w, m, n: (w[m] * x[n]).sum(), backend="nereid", fullgraph=True)
    for m, n in ((two, two), (one, three), (three, three)):
        w = torch.ones(6, requires_grad=True)
        call(w, m, n).backward()
        want = torch.where(m, x[n].sum() if m.sum() == 1 else x, 0)
        tally.check(torch.equal(w.grad, want), f"gradients of {m.sum()}: {w.grad}")


def check_counts_of_regions():
    """Counts that contradict each other in a region: eager mode's message, and its broadcasting."""
    if not hasattr(torch.compiler, "nested_compile_region"):
        return

    @torch.compiler.nested_compile_region
    def product(x, m, n):
        return (x[m] * x[n]).sum()

    def function(x, m, n):
        return product(x, m, n) + product(x.sin(), m, n)

    x = torch.arange(6.0)
    one, two, three = (torch.arange(6) < n for n in (1, 2, 3))
    torch._dynamo.reset()
    call = torch.compile(function, backend="nereid", fullgraph=True)
    for m, n in ((two, two), (one, three), (three, three)):
        tally.check(torch.allclose(call(x, m, n), function(x, m, n)), f"{m.sum()} in a region")
    got, want = error_of(call, x, two, three), error_of(function, x, two, three)
    tally.check(str(got) == str(want), f"in a region: {got!r}, not {want!r}")


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
    check_small_weights()
    check_data()
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    check_counts()
    check_counts_of_one()
    check_counts_of_regions()
    check_training()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
