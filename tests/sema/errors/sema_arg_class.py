# nereid: --sig x=kernel(*fp32,i32)
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    tl.store(x.ptr, x.value)
