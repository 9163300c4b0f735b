"""Reductions by functions without a neutral element, of axes that threads do not share evenly."""
import triton
import triton.language as tl


@triton.jit
def extremes(low, high, n, low2, high2, n2):
    return min(low, low2), max(high, high2), n + n2


@triton.jit
def kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    low, high, n = tl.reduce((x, x + 100, x * 0 + 1), AXIS, extremes)
    K: tl.constexpr = M if AXIS == 1 else N
    i = tl.arange(0, K)
    tl.store(out_ptr + i, low)
    tl.store(out_ptr + K + i, high)
    tl.store(out_ptr + 2 * K + i, n)


@triton.jit
def welford(mean, m2, n, mean2, m22, n2):
    total = n + n2
    d = mean2 - mean
    return mean + d * (n2 / total), m2 + m22 + d * d * (n * n2 / total), total


@triton.jit
def variance(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    mean, m2, n = tl.reduce((x, x * 0, x * 0 + 1), 0, welford)
    tl.store(out_ptr, mean)
    tl.store(out_ptr + 1, m2 / n)
    tl.store(out_ptr + 2, n)


@triton.jit
def left(a, b):
    return a


@triton.jit
def right(a, b):
    return b


@triton.jit
def ends(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.reduce(x, 0, left))
    tl.store(out_ptr + 1, tl.reduce(x, 0, right))
