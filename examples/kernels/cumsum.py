"""Running sum along each row.  A program walks over its row in blocks of BLOCK columns and carries
the sum so far, so a row may be of any length.

build/nereid run examples/kernels/cumsum.py x_ptr=randn:f32[64,1000] out_ptr=empty:f32[64,1000] n_cols=1000 -D BLOCK=256 --grid 64
"""
import triton
import triton.language as tl


@triton.jit
def cumsum(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * n_cols + cols, carry + tl.cumsum(x, axis=0), mask=mask)
        carry += tl.sum(x, axis=0)
