# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    o = tl.zeros((1, 1, 1, 1, 1, 1, 1, 1, 1), tl.float32)
