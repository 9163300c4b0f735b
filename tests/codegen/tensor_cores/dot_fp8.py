# nereid: --sig a_ptr=*fp8e4nv:16,b_ptr=*fp8e4nv:16,c_ptr=*fp32:16 --num-warps 1 --target sm_89
import triton
import triton.language as tl


@triton.jit
def dot_fp8(a_ptr, b_ptr, c_ptr):
    """8-bit floats have a matrix instruction from sm_89 and PTX 8.4 on."""
    i = tl.arange(0, 32)
    a = tl.load(a_ptr + i[:, None] * 32 + i[None, :])
    b = tl.load(b_ptr + i[:, None] * 32 + i[None, :])
    tl.store(c_ptr + i[:, None] * 32 + i[None, :], tl.dot(a, b))
