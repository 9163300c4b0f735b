#!/usr/bin/env python3
"""Open sizes by torch.compile on a CPU beside eager mode: one compilation for several sizes, whose
results, and gradients of weights, are eager mode's.

    torch_sizes.py [NAME...]     only forms whose name contains a NAME
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


def steps_of(layer, steps=4):
    """Products of open rows that share a weight."""
    class Steps(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            h = x
            for _ in range(steps):
                h = torch.tanh(self.layer(h)) + x
            return h

    return Steps()


def forms():
    """(name, module, inputs of several sizes, the first of which is compiled for, gradients?)"""
    from torch import nn
    rows = [torch.randn(n, 520) for n in (8, 2, 3, 17, 65)]
    layers = nn.Sequential(nn.Linear(520, 1100), nn.ReLU(), nn.Linear(1100, 700))
    yield "a linear layer beyond a cache", nn.Linear(520, 1100), rows, False
    yield "two linear layers", layers, rows, True
    yield "a linear layer in bf16", nn.Linear(520, 2100).bfloat16(), [x.bfloat16() for x in rows], \
        False
    yield "steps", steps_of(nn.Linear(64, 64)), [x[:, :64].clone() for x in rows], True
    for name, layer, sizes in (
            ("3x3", nn.Conv2d(16, 24, 3, padding=1),
             ((2, 16, 9, 12), (3, 16, 8, 31), (2, 16, 4, 5))),
            ("3x3, few channels", nn.Conv2d(3, 17, 3), ((2, 3, 9, 12), (3, 3, 8, 35))),
            ("a stride", nn.Conv2d(16, 8, 3, 2, 1), ((2, 16, 9, 12), (3, 16, 8, 35))),
            ("a dilation", nn.Conv2d(16, 8, 3, dilation=2), ((2, 16, 9, 12), (3, 16, 8, 35))),
            ("one element", nn.Conv2d(16, 24, 1), ((2, 16, 9, 12), (3, 16, 8, 35))),
            ("one element, a stride", nn.Conv2d(16, 24, 1, 2), ((2, 16, 9, 12), (3, 16, 8, 35))),
            ("transposed", nn.ConvTranspose2d(8, 16, 2, 2), ((2, 8, 9, 12), (3, 8, 8, 35))),
            ("a signal", nn.Conv1d(16, 24, 3, padding=1), ((2, 16, 12), (3, 16, 35))),
            ("a signal, one element", nn.Conv1d(16, 24, 1), ((2, 16, 12), (3, 16, 35))),
            ("groups", nn.Conv2d(16, 16, 3, groups=2), ((2, 16, 9, 12), (3, 16, 8, 35))),
            ("each channel", nn.Conv2d(16, 16, 3, groups=16), ((2, 16, 9, 12), (3, 16, 8, 35)))):
        yield f"convolution: {name}", layer, [torch.randn(s) for s in sizes], True


def results(function, module, x, train):
    module.zero_grad()
    if not train:
        with torch.no_grad():
            return [function(x)]
    y = function(x)
    y.float().sin().sum().backward()
    return [y.detach(), *(p.grad.clone() for p in module.parameters())]


def is_near(a, b):
    e = 2e-2 if a.dtype is torch.bfloat16 else 1e-4
    return a.shape == b.shape and (a - b).float().norm() <= e * (b.float().norm() + 1)


def check_form(name, module, inputs, train):
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    compiled = torch.compile(module, backend="nereid", dynamic=True)
    for x in inputs:
        pairs = zip(results(compiled, module, x, train), results(module, module, x, train),
                    strict=True)
        tally.check(all(is_near(a, b) for a, b in pairs), f"{name}: {tuple(x.shape)}")
    graphs = counters["stats"]["unique_graphs"]
    tally.check(graphs == 1, f"{name}: {graphs} compilations")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "nothing to compare with")
        return tally.report()
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        quick_cc.quick_compiler(folder)
        for name, *form in forms():
            if not names or any(n in name for n in names):
                check_form(name, *form)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
