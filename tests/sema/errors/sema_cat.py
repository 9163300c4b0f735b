# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.cat(tl.zeros((4, 8), tl.float32), tl.zeros((4, 4), tl.float32))
