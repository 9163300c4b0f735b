# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    b = n.to(tl.int8)
    tl.store(x, b + 300)
