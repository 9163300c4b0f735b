# nereid: --sig a_ptr=*bf16:16,b_ptr=*bf16:16,v_ptr=*bf16:16,c_ptr=*fp32:16,N=i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def near_tangents(a_ptr, b_ptr, v_ptr, c_ptr, N):
    """Warps vote on tangents of two terms, and others on three."""
    m, n, k, e = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 16)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    acc = tl.zeros((64, 16), tl.float32)
    for start in range(0, N, 64):
        b = tl.load(b_ptr + k[:, None] + (start + n[None, :]) * 32)
        v = tl.load(v_ptr + (start + n[:, None]) * 16 + e[None, :])
        p = libdevice.fast_tanhf(tl.dot(a, b) * 0.125) * 4.0 - 2.0
        acc = tl.dot(p.to(tl.bfloat16), v, acc)
    tl.store(c_ptr + m[:, None] * 16 + e[None, :], acc)
