# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    y: tl.constexpr = 5
    tl.store(x, y(1))
