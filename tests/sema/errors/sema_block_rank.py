# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    b = tl.make_block_ptr(x, (n,), (1, 1), (0,), (64,), (0,))
