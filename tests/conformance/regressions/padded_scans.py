"""Scans of axes that threads do not share evenly, in both directions, by functions whose operands
have an order."""
import triton
import triton.language as tl


@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    a, b = tl.associative_scan((x, x), AXIS, compose, reverse=True)
    c, d = tl.associative_scan((x, x), AXIS, compose)
    tl.store(out_ptr + i, a ^ (b * 3))
    tl.store(out_ptr + M * N + i, c ^ (d * 3))
    tl.store(out_ptr + 2 * M * N + i, tl.cumsum(x, AXIS, reverse=True))
