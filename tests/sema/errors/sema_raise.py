# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if x.dtype.element_ty == tl.float32:
        raise ValueError("no floats")
