# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.store(x, tl.exp(1.0, 2.0))
    tl.store(x, tl.program_id(0, 1))
