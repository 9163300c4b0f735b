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


def traced_scan(combine, xs, more=()):
    """The graph that torch.compile has of an associative_scan on a GPU."""
    from torch._higher_order_ops.associative_scan import associative_scan_op
    from torch.fx.experimental.proxy_tensor import make_fx

    def scan(xs, more):
        return associative_scan_op(combine, list(xs), tuple(more))

    return make_fx(scan, tracing_mode="fake")(xs, more)


def one_by_one(combine, xs, more):
    rows = [tuple(x[0] for x in xs)]
    for i in range(1, len(xs[0])):
        rows.append(tuple(combine(*rows[-1], *(x[i] for x in xs), *more)))
    return [torch.stack(column) for column in zip(*rows)]


def associative_scans():
    from nereid.torch_backend import _compile
    from nereid.torch_backend.settings import settings_of

    def linear(a, b, c, d):
        return a * c, b * c + d

    def scaled(a, b, s):
        return [torch.maximum(a, b) * s / s]

    def mixed(a, b, c, d):
        return a + c, b * torch.ones_like(b) + d * (c * 0 + 1)

    def products(a, b):
        return [a @ b]

    half = [vector(300, 3) * 0.5, vector(300, 3)]
    cases = {"linear": (linear, half, ()), "one": (linear, [x[:1] for x in half], ()),
             "additional": (scaled, [vector(9, 4)], (vector(4).abs() + 1,)),
             "ranks": (mixed, [vector(17), vector(17, 3)], ()),
             "no single elements": (products, [vector(5, 3, 3)], ())}
    for name, (combine, xs, more) in cases.items():
        graph, want = traced_scan(combine, xs, more), one_by_one(combine, xs, more)
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        program_call = _compile(graph, placeholders, settings_of(None, None), "inference")
        compare(f"associative_scan {name}", want, program_call([*xs, *more]))
        from nereid.torch_backend import _programs

        reasons = by_pytorch(len(_programs) - 1)
        tally.check(not reasons, f"associative_scan {name}: by PyTorch: {reasons}")


def main():
    if torch is None:
        print("1 skipped: no PyTorch")
        tally.check(True, "")
        return tally.report()
    torch.manual_seed(0)
    logging.getLogger("torch._higher_order_ops.partitioner").setLevel(logging.ERROR)
    loops()
    conditions()
    scans()
    associative_scans()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
