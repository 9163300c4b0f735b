"""Addresses that fall from one element to the next, by constants below zero."""
import triton
import triton.language as tl


@triton.jit
def backward(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    last = x_ptr + n - 1
    total = tl.zeros([BLOCK], tl.int32)
    for _ in range(4):
        total += tl.load(last - 1) + tl.load(last - 2 - at)
        last -= BLOCK
    tl.store(out_ptr + at - 3, total, mask=at > 2)
