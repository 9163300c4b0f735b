# nereid: --sig a_ptr=*fp16:16,b_ptr=*fp16:16,c_ptr=*fp32:16 --num-warps 4 --target sm_90a
import triton
import triton.language as tl


@triton.jit
def dot_group_columns(a_ptr, b_ptr, c_ptr):
    """A warpgroup's instruction of 48 columns: B's rows are cut into panels of 32 bytes."""
    m, n, k = tl.arange(0, 64), tl.arange(0, 48), tl.arange(0, 32)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    b = tl.load(b_ptr + k[:, None] * 48 + n[None, :])
    tl.store(c_ptr + m[:, None] * 48 + n[None, :], tl.dot(a, b))
