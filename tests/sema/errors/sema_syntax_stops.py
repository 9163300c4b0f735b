# nereid: --sig x_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def two(a):
    return a +


@triton.jit
def calls(x_ptr):
    tl.store(x_ptr, two(1))
    b = x_ptr ? 1 : 2
    tl.store(x_ptr, b)
