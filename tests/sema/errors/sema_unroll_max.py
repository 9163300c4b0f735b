# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    s = 0
    for i in tl.static_range(2000):
        for j in tl.static_range(2000):
            s += 1
    tl.store(x, s)
