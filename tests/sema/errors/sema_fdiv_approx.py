# nereid: --sig x=*fp32,y=*fp16
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    a, b = tl.load(x), tl.load(y)
    tl.store(x, tl.fdiv(a, a, approx=True))
    tl.store(x, tl.fdiv(a, a, ieee_rounding=True, approx=True))
    tl.store(y, tl.fdiv(b, b, approx=True))
