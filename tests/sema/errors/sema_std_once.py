# nereid: --sig x_ptr=*fp32,n=i32
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def errors_of_std(x_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(x_ptr, libdevice.exp(n))
    tl.store(x_ptr + tl.arange(0, 8), tl.flip(x, 3))
