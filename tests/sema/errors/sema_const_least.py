# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    least: tl.constexpr = -(2**126) * 2
    tl.static_assert(least % 3 == 1)
    tl.static_assert(least % -1 == 0)
    tl.static_assert("" * 2**126 == "")
    tl.store(x, least // -1)
