# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    s = 0
    t = 0.0
    for i in range(n):
        s += tl.load(x + i)
        t += tl.load(x + tl.arange(0, 8))
    tl.store(x, s)
