"""Root-mean-square normalization of each row: y = x / sqrt(mean(x^2) + eps) * w.

build/nereid run examples/kernels/rms_norm.py x_ptr=randn:f32[64,1000] w_ptr=rand:f32[1000] out_ptr=empty:f32[64,1000] n_cols=1000 eps=1e-6 -D BLOCK=1024 --grid 64
"""
import triton
import triton.language as tl


@triton.jit
def rms_norm(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(out_ptr + row * n_cols + cols, x * scale * w, mask=mask)
