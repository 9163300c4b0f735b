# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.zeros((4, 8), tl.float32)
    b = tl.gather(a, tl.zeros((8, 8), tl.int32), 1)
