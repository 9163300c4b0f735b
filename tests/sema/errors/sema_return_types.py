# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def pick(n):
    if n > 0:
        return 1.0
    return n


@triton.jit
def kernel(x, n):
    tl.store(x, pick(n))
