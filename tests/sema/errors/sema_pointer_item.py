# nereid: --sig x_ptr=*fp32,y_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr):
    i = tl.arange(0, 64)
    y_ptr[i] = x_ptr[i]
