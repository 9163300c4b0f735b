# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    b = tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))
    y = tl.load(b, mask=n > 0)
