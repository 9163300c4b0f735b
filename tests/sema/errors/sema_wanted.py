# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    o = tl.arange(0, "a")
    tl.store(x + o, tl.full((4,), 1.0, 5))
