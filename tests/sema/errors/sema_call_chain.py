# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def inner(a, b):
    return a + b


@triton.jit
def outer(a, b):
    return inner(a, b)


@triton.jit
def kernel(x, n):
    tl.store(x, outer(tl.arange(0, 4), tl.arange(0, 8)))
    tl.store(x, tl.sort(n))
