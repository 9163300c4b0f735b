# nereid: --sig x=*fp32,n=i32 --run-passes ''
# A loop that can be left early becomes a while loop.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    s = 0.0
    for i in range(n):
        v = tl.load(x + i)
        if v < 0:
            break
        if v == 0:
            continue
        s += v
    tl.store(x, s)
