# nereid: --sig x=*fp32 -D F=fn:nothing
import triton
import triton.language as tl


@triton.jit
def kernel(x, F: tl.constexpr):
    tl.store(x, F(1.0))
