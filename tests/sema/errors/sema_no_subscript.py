# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    y = tl.load[0]
    z = tl.exp[n](x)
    w = (1.0)[0]
