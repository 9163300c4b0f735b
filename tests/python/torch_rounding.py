#!/usr/bin/env python3
"""Layers of 16 bits with a bias round their results once, whatever computes them: convolutions and
linear layers of torch.compile(backend="nereid") on CPUs against PyTorch's in f32, rounded."""
import os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
    from torch.nn import functional as F
except ImportError:
    torch = None

# A sum in another order gives another float now and then: a second rounding of a fifth of them.
DIFFER = 0.02


def conv(images, weight, last=False, **kwargs):
    """images: N, C and sizes; the weight's shape."""
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(images) - 3]
    return images, weight, weight[0], lambda x, w, b: convolve(x, w, b, **kwargs), last


def transposed(images, weight, groups=1, **kwargs):
    convolve = (F.conv_transpose1d, F.conv_transpose2d)[len(images) - 3]
    return (images, weight, weight[1] * groups,
            lambda x, w, b: convolve(x, w, b, groups=groups, **kwargs), False)


def linear(rows, k, n, after=lambda y: y):
    return (rows, k), (n, k), n, lambda x, w, b: after(F.linear(x, w, b)), False


CASES = {
    "panels": lambda: conv((2, 32, 14, 14), (32, 32, 3, 3), padding=1),
    "panels, channels last": lambda: conv((2, 32, 14, 14), (32, 32, 3, 3), True, padding=1),
    "few windows": lambda: conv((1, 40, 7, 7), (16, 40, 4, 4), stride=3),
    "one element": lambda: conv((2, 32, 14, 14), (64, 32, 1, 1)),
    "patches": lambda: conv((2, 3, 32, 32), (32, 3, 4, 4), stride=4),
    "first layer": lambda: conv((2, 3, 32, 32), (32, 3, 7, 7), stride=2, padding=3),
    "each channel": lambda: conv((2, 32, 14, 14), (32, 1, 3, 3), padding=1, groups=32),
    "groups of 8": lambda: conv((2, 32, 14, 14), (32, 8, 3, 3), padding=1, groups=4),
    "groups of 24": lambda: conv((4, 48, 14, 4), (48, 24, 1, 4), stride=3, groups=2),
    "signal": lambda: conv((2, 32, 100), (48, 32, 3), padding=1),
    "signal with a stride": lambda: conv((2, 32, 100), (48, 32, 3), stride=2, padding=1),
    "three axes": lambda: conv((1, 16, 6, 8, 8), (16, 16, 3, 3, 3), padding=1),
    "phases": lambda: transposed((2, 32, 8, 8), (32, 16, 4, 4), stride=2, padding=1),
    "phases one by one": lambda: transposed((1, 64, 4, 4), (64, 32, 4, 4), stride=2, padding=1),
    "phases of one element": lambda: transposed((2, 32, 8, 8), (32, 32, 2, 2), stride=2),
    "phases of groups": lambda: transposed((2, 16, 6, 6), (16, 8, 2, 2), groups=2, stride=2),
    "phases that differ": lambda: transposed((2, 32, 9), (32, 16, 3), stride=2),
    "linear": lambda: linear(33, 64, 48),
    "one row": lambda: linear(1, 8, 48, F.relu),
    "one column": lambda: linear(64, 3072, 1),
    "a long sum": lambda: linear(130, 3072, 48),
    "its transpose": lambda: linear(130, 256, 48, lambda y: y.t().contiguous()),
}


def operands(case, dtype):
    shape, weight, features, _, last = case
    x, w, b = torch.randn(shape), torch.randn(weight), torch.randn(features)
    x = x.contiguous(memory_format=torch.channels_last) if last else x
    return [y.to(dtype) for y in (x, w / w[0].numel() ** 0.5, b)]


def main():
    torch.manual_seed(0)
    cases = [make() for make in CASES.values()]

    def layers(given):
        return [case[3](*operands) for case, operands in zip(cases, given)]

    for dtype in (torch.bfloat16, torch.float16):
        given = [operands(case, dtype) for case in cases]
        with torch.no_grad():
            got = torch.compile(layers, backend="nereid")(given)
        want = layers([[x.float() for x in each] for each in given])
        for name, y, exact in zip(CASES, got, want):
            differ = (y != exact.to(dtype)).float().mean().item()
            tally.check(y.shape == exact.shape and differ <= DIFFER,
                        f"{name}, {dtype}: {differ:.3f} of the results are rounded otherwise")


if torch is None:
    print("1 skipped: no torch")
    tally.check(True, "")
else:
    main()
sys.exit(tally.report())
