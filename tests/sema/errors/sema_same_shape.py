# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def pair(a, b):
    return a, b


@triton.jit
def kernel(x, n):
    o = tl.arange(0, 64)
    v = tl.load(x + o)
    s = tl.reduce((v, tl.zeros((32,), tl.float32)), 0, pair)
