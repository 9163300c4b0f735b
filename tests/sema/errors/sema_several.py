# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.arange(0, 3) + tl.arange(0, 5)
    b = undefined_one
    c = b + 1
    d = tl.load(c)
    tl.store(x, undefined_two)
