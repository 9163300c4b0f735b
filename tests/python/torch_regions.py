#!/usr/bin/env python3
"""while_loop, cond, scan, map and associative_scan by torch.compile(backend="nereid"), which runs
none of their nodes by PyTorch, against PyTorch; with gradients where PyTorch has them.  On tensors
of the CPU, or with the argument cuda of a GPU."""
import logging, os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

try:
    import torch
    import quick_torch
    from torch.utils import _pytree as pytree
except ImportError:
    torch = None

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"


def flat(values):
    return list(values) if isinstance(values, (tuple, list)) else [values]


def by_pytorch(first):
    """The nodes that PyTorch runs of programs from number `first` on."""
    from nereid.torch_backend import _programs

    return [f"{node.target}: {reason}" for program in _programs[first:]
            for node, reason in program.reasons.items()]


def compare(name, want, got):
    for i, (a, b) in enumerate(zip(flat(want), flat(got), strict=True)):
        close = a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-5, atol=1e-5)
        tally.check(close, f"{name}: result {i} is {b}, not {a}")


def check(name, function, *args, wrt=()):
    from nereid.torch_backend import _programs

    torch._dynamo.reset()
    verified = torch.compile(function, backend="nereid", options={"verify": True})
    compare(f"{name}, verified", function(*args), verified(*args))
    torch._dynamo.reset()
    first, compiled = len(_programs), torch.compile(function, backend="nereid")
    compare(name, function(*args), compiled(*args))
    if wrt:
        gradients = [torch.autograd.grad(f(*args), wrt) for f in (function, compiled)]
        compare(f"{name}, gradients", *gradients)
    reasons = by_pytorch(first)
    tally.check(not reasons, f"{name}: by PyTorch: {reasons}")


def vector(*shape, grad=False):
    return torch.randn(shape, device=DEVICE, requires_grad=grad)


def loops():
    from torch._higher_order_ops.while_loop import while_loop

    def settle(x, tol):
        def more(i, y, error):
            return (error > tol) & (i < 1000)

        def step(i, y, error):
            z = torch.tanh(y * 0.3 + x)
            return i + 1, z, (z - y).abs().max()

        zero = torch.zeros((), dtype=torch.int64, device=x.device)
        return while_loop(more, step, (zero, torch.zeros_like(x), torch.ones_like(tol)))

    with torch.no_grad():
        for tolerance in (2.0, 1e-4):
            check(f"while {tolerance}", settle, vector(5), torch.tensor(tolerance, device=DEVICE))


def conditions():
    def choose(x, k):
        return torch.cond(x.sum() > 0, lambda x: x[k] * 2, lambda x: x.exp() - 1, (x,)) + 1

    def square(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x.exp(), (x,)).square().sum()

    at = torch.arange(5, device=DEVICE)
    with torch.no_grad():
        check("cond true", choose, vector(5).abs(), at)
        check("cond false, where the other's indices are out of range", choose, -vector(5).abs(),
              at + 70)
    x = vector(5, grad=True)
    check("cond", square, x, wrt=(x,))


def scans():
    from torch._higher_order_ops.map import map
    from torch._higher_order_ops.scan import scan

    def cell(x, w):
        def step(c, a):
            return (c @ w + a).sin(), c * 2

        return scan(step, torch.zeros(4, device=x.device), x)[1].square().sum()

    w = vector(4, 4, grad=True)
    check("scan", cell, vector(6, 4), w, wrt=(w,))
    with torch.no_grad():
        check("map", lambda x, y: map(lambda a, b: a @ b, x, y), vector(3, 2, 4), vector(4))


def pointwise(combine, xs, dim, reverse=False):
    """torch.associative_scan with combine_mode "pointwise", which PyTorch has for GPUs alone: what
    it does beside its higher-order operator."""
    from torch._higher_order_ops.associative_scan import associative_scan_op

    leaves, spec = pytree.tree_flatten(xs)
    leaves = [x.movedim(dim, 0) for x in leaves]
    leaves = [x.flip([0]) for x in leaves] if reverse else leaves

    def flat_combine(*args):
        a, b = (pytree.tree_unflatten(list(part), spec)
                for part in (args[:len(leaves)], args[len(leaves):]))
        return pytree.tree_leaves(combine(a, b))

    made = associative_scan_op(flat_combine, leaves, ())
    made = [x.flip([0]) for x in made] if reverse else made
    return pytree.tree_unflatten([x.movedim(0, dim) for x in made], spec)


def generic(combine, xs, dim, reverse=False):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(combine, xs, dim, reverse, combine_mode="generic")


BOTH = (pointwise, generic)


def one_by_one(combine, xs, dim, reverse=False):
    leaves, spec = pytree.tree_flatten(xs)
    rows = []
    for i in range(leaves[0].shape[dim]):
        at = leaves[0].shape[dim] - 1 - i if reverse else i
        row = pytree.tree_unflatten([x.select(dim, at) for x in leaves], spec)
        rows.append(combine(rows[-1], row) if rows else row)
    columns = zip(*[pytree.tree_leaves(row) for row in (reversed(rows) if reverse else rows)])
    return pytree.tree_unflatten([torch.stack(column, dim) for column in columns], spec)


def check_scan(name, combine, xs, dim=0, reverse=False, modes=(pointwise,), dynamic=None,
               wrt=()):
    from nereid.torch_backend import _programs

    want = one_by_one(combine, xs, dim, reverse)
    results = pytree.tree_leaves(want)
    for mode in modes:
        torch._dynamo.reset()
        first, label = len(_programs), f"associative_scan {mode.__name__}, {name}"
        scan = torch.compile(lambda xs: mode(combine, xs, dim, reverse), backend="nereid",
                             dynamic=dynamic)
        made = pytree.tree_leaves(scan(xs))
        tally.check(all(x.shape == y.shape for x, y in zip(made, results)), f"{label}: shapes")
        for i, (x, y) in enumerate(zip(made, results, strict=True)):
            narrow = x.dtype in (torch.bfloat16, torch.float16)
            tally.check(x.dtype == y.dtype and torch.allclose(
                x, y, rtol=2e-2 if narrow else 1e-4, atol=2e-2 if narrow else 1e-4),
                f"{label}: result {i} is {x}, not {y}")
        if wrt:
            compare(f"{label}, gradients", *[
                torch.autograd.grad(sum(x.square().sum() for x in values), wrt, retain_graph=keep)
                for values, keep in ((results, True), (made, False))])
        reasons = by_pytorch(first)
        tally.check(not reasons, f"{label}: by PyTorch: {reasons}")


def linear(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


def decays(*shape, grad=False):
    return (torch.rand(shape, device=DEVICE, requires_grad=grad), vector(*shape, grad=grad))


def plain_sum(a, b):
    """A sum that is not recognized."""
    return a - -b


def log_sum(a, b):
    most = torch.maximum(a["most"], b["most"])
    total = (a["total"] * torch.exp(a["most"] - most) + b["total"] * torch.exp(b["most"] - most))
    return {"most": most, "total": total}


def best(a, b):
    more = b[0] > a[0]
    return torch.where(more, b[0], a[0]), torch.where(more, b[1], a[1])


def integers(*shape, dtype=None):
    return torch.randint(-99, 99, shape, dtype=dtype or torch.int64, device=DEVICE)


def associative_scans():
    for n in (1, 2, 3, 5, 100, 1000):
        check_scan(f"{n} elements", linear, decays(n, 3), reverse=n == 5, modes=BOTH)
    for dim, reverse in ((1, True), (2, False), (-1, True)):
        check_scan(f"axis {dim}", linear, decays(2, 7, 3), dim, reverse, modes=BOTH)
    check_scan("dict", log_sum, {"most": vector(9, 2), "total": vector(9, 2).abs()},
               modes=BOTH)
    check_scan("index", best, (integers(33, 2), integers(33, 2)))
    for dtype in (torch.bfloat16, torch.float16):
        check_scan(str(dtype), torch.fmax, vector(9, 3).to(dtype), reverse=True)
        check_scan(f"sums in {dtype}", plain_sum, vector(9, 3).to(dtype))
    for dtype in (torch.int8, torch.int32, torch.int64):
        check_scan(str(dtype), plain_sum, integers(2, 9, dtype=dtype), 1)
    check_scan("bool", torch.logical_xor, vector(9, 3) > 0)
    check_scan("complex", torch.mul, torch.complex(*decays(9, 3)))
    check_scan("gaps", plain_sum, vector(3, 18)[:, ::2].t())
    check_scan("no memory of its own", plain_sum, vector(9, 1).expand(9, 4))
    scale, exponent = vector(3).abs() + 1, torch.tensor(2.0, device=DEVICE)
    check_scan("captured", lambda a, b: torch.maximum(a, b * scale / scale), vector(9, 3),
               modes=BOTH)
    check_scan("captured, of another axis", lambda a, b: ((a ** exponent + b ** exponent) * scale
                                                          / scale) ** (1 / exponent),
               vector(3, 9).abs().t() + 1)


def known_scans():
    """Sums, products and extremes, which are one operator each, whatever their size."""
    cases = (torch.add, torch.mul, torch.maximum, torch.minimum, torch.logaddexp)
    for combine in cases:
        name = combine.__name__
        check_scan(name, combine, vector(2, 30, 3).abs(), 1, True)
        check_scan(f"{name}, open", combine, vector(9, 2), dynamic=True)
        check_scan(f"{name}, bf16", combine, vector(9, 3).abs().bfloat16())
        if combine is not torch.logaddexp:
            for dtype in (torch.uint8, torch.int16, torch.int64):
                check_scan(f"{name}, {dtype}", combine, integers(9, 3).abs().to(dtype))
    for combine in (torch.maximum, torch.minimum):
        check_scan(f"{combine.__name__}, bool", combine, vector(9, 3) > 0)
    check_scan("sums of complex numbers", torch.add, torch.complex(*decays(9, 3)))
    check_scan("two at once", lambda a, b: (b[0] + a[0], torch.maximum(a[1], b[1])),
               (vector(9, 3), vector(9)))
    from nereid.torch_backend import _programs
    from nereid.torch_backend.segments.regions import waits

    for combine, is_loop in ((torch.add, False), (torch.fmax, True)):
        torch._dynamo.reset()
        torch.compile(lambda x: pointwise(combine, x, 0), backend="nereid", dynamic=True)(vector(9))
        nodes = [node for segment in _programs[-1].segments for node in segment.plan.nodes]
        tally.check(any(map(waits, nodes)) == is_loop, f"open {combine.__name__}: a loop or not")


def open_scans():
    check_scan("open", linear, decays(2, 9, 3), 1, True, modes=BOTH, dynamic=True)
    check_scan("open, bool", torch.logical_xor, vector(9, 3) > 0, dynamic=True)
    x = vector(9, 4)
    torch._dynamo.mark_dynamic(x, 1)
    check_scan("another open axis", plain_sum, x)
    from nereid.torch_backend import _programs

    torch._dynamo.reset()
    first = len(_programs)
    scan = torch.compile(lambda xs: pointwise(linear, xs, 1), backend="nereid", dynamic=True)
    for n in (5, 2, 3, 100, 1000):
        xs = decays(4, n, 3)  # PyTorch 2.15 compiles anew where both sizes are the same
        compare(f"one program for {n}", one_by_one(linear, xs, 1), scan(xs))
    tally.check(len(_programs) - first == 1, "an open scan is compiled once")


def scans_with_gradients():
    """Of several tensors PyTorch 2.11's pointwise mode leaves out gradients of one by another."""
    x = vector(6, 3, grad=True)
    check_scan("gradients", torch.mul, x, reverse=True, modes=BOTH, wrt=[x])
    y = vector(9, grad=True)
    check_scan("open, gradients", torch.mul, y, dynamic=True, wrt=[y])
    xs = decays(6, 3, grad=True)
    check_scan("gradients of two", linear, xs, modes=[generic], wrt=xs)


def traced_scan(combine, xs, more=()):
    """The graph that torch.compile has of an associative_scan on a GPU."""
    from torch._higher_order_ops.associative_scan import associative_scan_op
    from torch.fx.experimental.proxy_tensor import make_fx

    def scan(xs, more):
        return associative_scan_op(combine, list(xs), tuple(more))

    return make_fx(scan, tracing_mode="fake")(xs, more)


def traced_scans():
    """What torch.associative_scan refuses, and graphs have: other ranks and operators."""
    from nereid.torch_backend import _compile, _programs
    from nereid.torch_backend.base.settings import settings_of

    def each(a, b, c, d):
        return a * c, b * c + d

    def scaled(a, b, s):
        return [torch.maximum(a, b) * s / s]

    def mixed(a, b, c, d):
        return a + c, b * torch.ones_like(b) + d * (c * 0 + 1)

    def products(a, b):
        return [a @ b]

    cases = {"additional": (scaled, [vector(9, 4)], (vector(4).abs() + 1,)),
             "ranks": (mixed, [vector(17), vector(17, 3)], ()),
             "numbers in f64": (each, [vector(17).double(), vector(17, 3)], ()),
             "numbers in f32": (each, [vector(7), vector(7, 3).bfloat16()], ()),
             "numbers in i64": (each, [integers(7) % 3, integers(7, 3, dtype=torch.int32)], ()),
             "no single elements": (products, [vector(5, 3, 3)], ())}
    for name, (combine, xs, more) in cases.items():
        graph = traced_scan(combine, xs, more)
        rows = [tuple(x[0] for x in xs)]
        for i in range(1, len(xs[0])):
            rows.append(tuple(combine(*rows[-1], *(x[i] for x in xs), *more)))
        want = [torch.stack(column) for column in zip(*rows)]
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        program_call = _compile(graph, placeholders, settings_of(None, None), "inference")
        loose = 5e-2 if torch.bfloat16 in [x.dtype for x in xs] else 1e-5
        for i, (x, y) in enumerate(zip(program_call([*xs, *more]), want, strict=True)):
            tally.check(x.dtype == y.dtype and torch.allclose(x, y, rtol=loose, atol=loose),
                        f"associative_scan {name}: result {i} is {x}, not {y}")
        reasons = by_pytorch(len(_programs) - 1)
        tally.check(not reasons, f"associative_scan {name}: by PyTorch: {reasons}")


def main():
    if torch is None:
        print("1 skipped: no PyTorch")
        tally.check(True, "")
        return tally.report()
    from nereid.torch_backend import _programs

    _programs.keep()
    torch.manual_seed(0)
    logging.getLogger("torch._higher_order_ops.partitioner").setLevel(logging.ERROR)
    loops()
    conditions()
    scans()
    with torch.no_grad():
        associative_scans()
        known_scans()
        open_scans()
        traced_scans()
    scans_with_gradients()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
