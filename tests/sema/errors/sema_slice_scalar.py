# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.store(x[:, None], 1.0)
    x[10:]
