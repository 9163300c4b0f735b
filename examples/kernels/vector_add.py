"""Adds two vectors: each program adds one block of BLOCK elements.

build/nereid run examples/kernels/vector_add.py x_ptr=rand:f32[1000] y_ptr=rand:f32[1000] out_ptr=empty:f32[1000] n=1000 -D BLOCK=256 --grid "cdiv(n, BLOCK)"
"""
import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n  # the last block may reach past the end
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
