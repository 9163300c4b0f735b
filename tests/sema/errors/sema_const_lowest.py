# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    most: tl.constexpr = (1 << 126) - 1 + (1 << 126)
    tl.static_assert(most % (1 - most) == 2 - most)
    tl.static_assert(most % -3 == -2)
    tl.static_assert((-most - 1) % -1 == 0)
    y: tl.constexpr = (-most - 1) // -1
    tl.store(x, y)
