# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    u = n.to(tl.uint32)
    tl.store(x, u + -1)
