"""Gradients of root-mean-square normalization of rows, y = x / sqrt(mean(x^2) + eps) * w.

The gradient of w is a sum over all rows: each of GROUPS programs takes every GROUPS-th row and
keeps the sum of these in registers.  layer_norm_sum_parts of layer_norm.py adds up such sums.

build/nereid run examples/kernels/rms_norm_backward.py dy_ptr=randn:f32[64,1000] x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] dx_ptr=empty:f32[64,1000] dw_parts_ptr=empty:f32[8,1000] n_rows=64 n_cols=1000 eps=1e-6 -D GROUPS=8 -D BLOCK=1024 --grid 8
"""
import triton
import triton.language as tl


@triton.jit
def rms_norm_backward(dy_ptr, x_ptr, w_ptr, dx_ptr, dw_parts_ptr, n_rows, n_cols, eps,
                      GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(group, n_rows, GROUPS):
        dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        wdy = w * dy
        squares = tl.sum(x * x, axis=0) / n_cols
        along = tl.sum(x * wdy, axis=0) / n_cols
        scale = tl.rsqrt(squares + eps)
        # dx is wdy without its part along x.
        dx = (wdy - x * (along * scale * scale)) * scale
        tl.store(dx_ptr + row * n_cols + cols, dx, mask=mask)
        dw += dy * (x * scale)
    tl.store(dw_parts_ptr + group * n_cols + cols, dw, mask=mask)
