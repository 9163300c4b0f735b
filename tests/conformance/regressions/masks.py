"""Masks that are constants, as tiles and as scalars."""
import triton
import triton.language as tl


@triton.jit
def masks(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    yes = tl.full([BLOCK], 1, tl.int1)
    x = tl.load(x_ptr + at, yes)
    x += tl.load(x_ptr + at, False, other=10)
    x += tl.load(x_ptr, mask=True) + tl.load(x_ptr, mask=False, other=100)
    tl.store(out_ptr + at, x, mask=yes)
    tl.store(out_ptr + at, x - x, mask=tl.zeros([BLOCK], tl.int1))
    tl.store(out_ptr, 0, mask=False)
    tl.atomic_add(out_ptr + at, 1000, mask=False)
    tl.atomic_add(out_ptr + at, at, mask=yes)
