"""Softmax of each row of a matrix.  One program takes one row, which stays on chip from the load
to the store; BLOCK is at least the row's length.

build/nereid run examples/kernels/softmax.py x_ptr=randn:f32[64,1000] out_ptr=empty:f32[64,1000] n_cols=1000 -D BLOCK=1024 --grid 64
"""
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    # Columns past the end count as -inf: they don't change the maximum, and exp makes them 0.
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    y = e / tl.sum(e, axis=0)
    tl.store(out_ptr + row * n_cols + cols, y, mask=mask)
