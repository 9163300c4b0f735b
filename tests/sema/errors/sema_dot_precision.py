# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.zeros((16, 16), tl.float32)
    c = tl.dot(a, a, input_precision="high")
