# nereid: --sig a_ptr=*fp16:16,b_ptr=*fp16:16,v_ptr=*fp16:16,c_ptr=*fp32:16 --num-warps 8 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_chained(a_ptr, b_ptr, v_ptr, c_ptr):
    """Two warpgroups have 16 of 32 columns each of the first product, as latent attention has."""
    m, n, k, e = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 128)
    a = tl.load(a_ptr + m[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + k[:, None] + n[None, :] * 64)
    v = tl.load(v_ptr + n[:, None] * 128 + e[None, :])
    p = tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * 128 + e[None, :], tl.dot(p.to(tl.float16), v))
