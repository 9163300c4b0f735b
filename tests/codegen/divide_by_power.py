# Division by a power of two is a product with the reciprocal, if that is a normal number.
# nereid: --sig x_ptr=*fp32,out_ptr=*fp32
import triton
import triton.language as tl


@triton.jit
def divide_by_power(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    half = x / 2.0
    scaled = x / -1024.0
    third = x / 3.0
    tiny = x / 1.7014118346046923e38
    tl.store(out_ptr + tl.arange(0, 64), half + scaled + third + tiny)
