"""Dropout: zeroes each element with probability p and scales the others by 1 / (1 - p).

tl.rand is counter-based (Philox): the same seed and offset give the same number on every device,
so the mask need not be stored for a backward pass.

build/nereid run examples/kernels/dropout.py x_ptr=ones:f32[1000] out_ptr=empty:f32[1000] n=1000 p=0.25 seed=42 -D BLOCK=256 --grid "cdiv(n, BLOCK)"
"""
import triton
import triton.language as tl


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) >= p  # uniform in [0, 1)
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)
