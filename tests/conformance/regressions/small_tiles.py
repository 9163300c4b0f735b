"""Tiles smaller than a warp: every warp holds a replica, and reduces it to the same scalar."""
import triton
import triton.language as tl


@triton.jit
def small_sum(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) + 1
    total = tl.sum(x)
    if total > 0:
        x = x * total
    tl.store(out_ptr + at, x)


@triton.jit
def carried_constants(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A scalar and a tile that is a constant before the branch, side by side."""
    at = tl.arange(0, BLOCK)
    best = tl.zeros((BLOCK,), dtype=tl.int32) - 100
    top = -100
    for i in tl.static_range(3):
        if i < n:
            x = tl.sum(tl.load(x_ptr + i * BLOCK + at))
            best = tl.where(at == i, x, best)
            top = tl.maximum(top, x)
    tl.store(out_ptr + at, best + top)
