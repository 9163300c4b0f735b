# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    for i in range(n):
        y = 1.0
    tl.store(x, y)
