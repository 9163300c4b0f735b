"""Narrow integers that wrap, and ops that move elements, for commands.txt."""
import triton
import triton.language as tl


@triton.jit
def shapes(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    low, high = tl.split(tl.join(x + x, x))
    tl.store(y_ptr + i, low * high)
