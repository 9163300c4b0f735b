# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if tl.arange:
        tl.store(x, 1.0)
    if range(4):
        tl.store(x, 2.0)
