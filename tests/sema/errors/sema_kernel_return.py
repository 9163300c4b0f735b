# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
        return n
    tl.store(x, 1.0)
