# nereid: --sig a_ptr=*i8:16,b_ptr=*i8:16,c_ptr=*i32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_i8(a_ptr, b_ptr, c_ptr):
    """A warpgroup's instruction of 8-bit integers, with both operands contiguous along k."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, 64)
    a = tl.load(a_ptr + m[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + k[:, None] + n[None, :] * 64)
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], tl.dot(a, b))
