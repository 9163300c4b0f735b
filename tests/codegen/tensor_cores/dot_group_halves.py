# nereid: --sig a_ptr=*fp16:16,b_ptr=*fp16:16,c_ptr=*fp32:16 --num-warps 8 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_halves(a_ptr, b_ptr, c_ptr):
    """Two warpgroups have half of 64 columns each, of an operand that is contiguous along k."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 32)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    b = tl.load(b_ptr + k[:, None] + n[None, :] * 32)
    tl.store(c_ptr + m[:, None] * 64 + n[None, :], tl.dot(a, b))
