# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        y = 1.0
    tl.store(x, y)
