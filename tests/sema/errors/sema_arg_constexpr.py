# nereid: --sig x=*fp32,BLOCK=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)
