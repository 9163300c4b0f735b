# nereid: --sig a_ptr=*fp8e4nv:16,b_ptr=*fp8e5:16,c_ptr=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_fp8(a_ptr, b_ptr, c_ptr):
    """A warpgroup's instruction of 8-bit floats: k is the contiguous axis of both operands in
    shared memory, whatever it is in global memory."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, 64)
    a = tl.load(a_ptr + m[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 16 + n[None, :])
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], tl.dot(a, b))
