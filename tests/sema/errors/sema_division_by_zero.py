# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, ZERO: tl.constexpr = 0):
    tl.store(x, 1 // 0)
    tl.store(x, 8 % ZERO)
    tl.store(x, 8 / ZERO)
    tl.store(x, tl.cdiv(8, ZERO))
    tl.store(x, 2.0 % ZERO)
