# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    s: tl.constexpr = "abc"
    if s.startswith(1):
        tl.store(x, 1.0)
