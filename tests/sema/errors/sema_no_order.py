# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.store(x, max(1.0, 2.0) + min(3, 0.0))
    tl.store(x, min(-0.0, tl.load(x)))
    tl.store(x, max(1.0, -0.0))
    tl.store(x, min(float("nan"), 1))
