# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    assert x.dtype.element_ty == tl.float16, "only for halves"
