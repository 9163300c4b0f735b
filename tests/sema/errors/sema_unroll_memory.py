# nereid: --sig x=*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    t = ()
    for i in tl.static_range(16000):
        t = t + (i,)
    tl.store(x, len(t))
