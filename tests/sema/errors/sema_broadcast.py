# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.zeros((64, 32), tl.float32)
    b = tl.zeros((64, 16), tl.float32)
    c = a + b
