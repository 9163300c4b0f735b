# nereid: --sig a_ptr=*fp32:16,b_ptr=*fp32:16,c_ptr=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_tf32(a_ptr, b_ptr, c_ptr):
    """A warpgroup's instruction of f32 in tf32, with both operands contiguous along k."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, 16)
    a = tl.load(a_ptr + m[:, None] * 16 + k[None, :])
    b = tl.load(b_ptr + k[:, None] + n[None, :] * 16)
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], tl.dot(a, b))
