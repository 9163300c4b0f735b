# nereid: --sig x_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def two(a):
    return a +


@triton.jit
def calls(x_ptr):
    b = two(1) ? 1 : 2
    tl.store(x_ptr, b)
    c = 3 *
    tl.store(x_ptr, c)
