# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.static_assert(1 + 1 == 3, f"sum is {1 + 1}")
