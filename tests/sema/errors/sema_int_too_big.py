# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    y = 1 << 70
    tl.store(x, y)
    z = tl.constexpr_type(1 << 70)
