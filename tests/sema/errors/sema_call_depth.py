# nereid: --sig x=*fp32
import triton
import triton.language as tl


@triton.jit
def endless(v):
    return endless(v + 1.0)


@triton.jit
def kernel(x):
    tl.store(x, endless(0.0))
