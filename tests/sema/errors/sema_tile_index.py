# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    o = tl.arange(0, 64)
    v = tl.load(x + o)
    s = v[64]
