# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.zeros((16, 16), tl.bfloat16)
    c = tl.dot(a, a, acc=tl.zeros((16, 8), tl.float32))
