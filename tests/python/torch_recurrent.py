#!/usr/bin/env python3
"""Recurrent layers by torch.compile on a CPU beside eager mode: results, their strides, and all
gradients, of layers above each other, both directions, with and without biases, projections,
states and gradients of inputs; dropout between layers, open batches, and what is left to PyTorch's
forms.

    torch_recurrent.py [NAME...]     only forms whose name contains a NAME
"""
import os, pathlib, sys, tempfile, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid  # noqa: F401
import quick_cc
import tally

try:
    import torch
    import quick_torch  # noqa: F401
except ImportError:
    torch = None


def forms():
    """(name, kind, steps, settings of the layer, of the run)"""
    two = dict(num_layers=2, bidirectional=True)
    yield "lstm, two layers, both ways", "LSTM", 3, two | dict(batch_first=True), {}
    yield "lstm, projections", "LSTM", 3, dict(proj_size=4, bidirectional=True), dict(given=True)
    yield "lstm, projections, no bias", "LSTM", 2, dict(proj_size=4, bias=False), {}
    yield "lstm, eight rows", "LSTM", 4, {}, dict(batch=8, given=True, whole=False)
    yield "gru, two layers, both ways", "GRU", 3, two | dict(bias=False), dict(given=True)
    yield "gru, in f64", "GRU", 3, dict(batch_first=True), dict(dtype="float64")
    yield "gru, in bf16", "GRU", 2, {}, dict(dtype="bfloat16")
    yield "gru, one step", "GRU", 1, {}, dict(batch=1)
    yield "rnn, both ways", "RNN", 3, two, dict(given=True)
    yield "rnn, relu", "RNN", 3, dict(nonlinearity="relu"), {}


def step(function, model, x, states, whole):
    model.zero_grad()
    x = x.clone().requires_grad_(whole)
    states = [s.clone().requires_grad_() for s in states]
    lstm = isinstance(model, torch.nn.LSTM)
    y, last = function(x, *([tuple(states)] if lstm and states else states))
    last = last if lstm else (last,)
    (y.float().sin().sum() + sum(s.float().cos().sum() for s in last)).backward()
    gradients = [p.grad.clone() for p in model.parameters()] + [s.grad for s in states]
    return [y, *last, *gradients, *([x.grad] if whole else [])]


def is_same(a, b, e):
    return (a.shape == b.shape and a.stride() == b.stride() and a.dtype is b.dtype
            and torch.allclose(a, b, e, e))


def check_form(name, kind, steps, settings, batch=3, given=False, whole=True, dtype="float32"):
    torch._dynamo.reset()
    dtype = getattr(torch, dtype)
    model = getattr(torch.nn, kind)(5, 6, **settings).to(dtype)
    first = settings.get("batch_first", False)
    x = torch.randn(*((batch, steps) if first else (steps, batch)), 5, dtype=dtype)
    count = settings.get("num_layers", 1) * (1 + settings.get("bidirectional", False))
    widths = [settings.get("proj_size", 6)] + [6] * (kind == "LSTM")
    states = [torch.randn(count, batch, width, dtype=dtype) for width in widths if given]
    compiled = torch.compile(model, backend="nereid")
    want, got = (step(f, model, x, states, whole) for f in (model, compiled))
    error = {torch.float64: 1e-10, torch.float32: 2e-5, torch.bfloat16: 5e-2}[dtype]
    tally.check(all(is_same(a, b, error) for a, b in zip(want, got, strict=True)),
                f"{name}: a gradient or a result differs")
    with torch.no_grad():
        given = ([tuple(states)] if kind == "LSTM" else states) if states else []
        tally.check(is_same(model(x, *given)[0], compiled(x, *given)[0], error),
                    f"{name}: inference differs")


def check_one_node():
    """A layer is one node, forward and backward, also where sizes are open."""
    torch._dynamo.reset()
    model = torch.nn.GRU(5, 6)
    compiled = torch.compile(model, backend="nereid", dynamic=True)
    for batch in 3, 5:
        x = torch.randn(4, batch, 5)
        tally.check(is_same(model(x)[0], compiled(x)[0], 2e-5), f"a batch of {batch}")
    torch._dynamo.reset()
    text = str(nereid.explain(model, torch.randn(9, 2, 5)))
    tally.check("by PyTorch" in text and "0 nodes by PyTorch" in text, text)


def check_dropout():
    """Between layers a share of the elements is 0; eval() has none."""
    torch._dynamo.reset()
    model = torch.nn.LSTM(5, 64, 2, dropout=0.5)
    compiled, x = torch.compile(model, backend="nereid"), torch.randn(3, 40, 5)
    spreads = [torch.stack([f(x)[0].detach() for _ in range(30)]).std(0).mean()
               for f in (model, compiled)]
    tally.check(abs(spreads[0] / spreads[1] - 1) < .1, f"dropout between layers: {spreads}")
    model.eval()
    tally.check(is_same(model(x)[0], compiled(x)[0], 2e-5), "no dropout in eval()")


def check_autocast():
    """PyTorch's forms compute in autocast's dtype."""
    torch._dynamo.reset()
    model, x = torch.nn.GRU(5, 6), torch.randn(3, 2, 5)
    with torch.autocast("cpu", torch.bfloat16):
        want, got = model(x)[0], torch.compile(model, backend="nereid")(x)[0]
    tally.check(is_same(want, got, 3e-2), "autocast")
    torch._dynamo.reset()
    model = torch.nn.LSTM(5, 6, 2, bidirectional=True)
    try:
        with torch.autocast("cpu", torch.bfloat16):
            want = step(model, model, x, [], True)
    except RuntimeError:  # oneDNN has no layer of bf16 for this processor
        return
    with torch.autocast("cpu", torch.bfloat16):
        got = step(torch.compile(model, backend="nereid"), model, x, [], True)
    tally.check(all(is_same(a, b, 5e-2) for a, b in zip(want, got, strict=True)),
                "an LSTM that is trained under autocast")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "nothing to compare with")
        return tally.report()
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch._dynamo.config.allow_rnn = True
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        quick_cc.quick_compiler(folder)
        for name, *form, run in forms():
            if not names or any(n in name for n in names):
                check_form(name, *form, **run)
        if not names:
            check_one_node()
            check_dropout()
            check_autocast()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
