# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def find(x, n):
    for i in range(n):
        if tl.load(x + i) > 0:
            return i
    return n


@triton.jit
def kernel(x, n):
    tl.store(x, find(x, n))
