# nereid: --sig x=*fp32,n=i32 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    tl.assume(n > 0)
    o = tl.max_contiguous(tl.multiple_of(tl.arange(0, 16) + n, 16), 16)
    tl.device_assert(o >= 0, "negative", mask=o < n)
    assert n < 100, "too many"
    tl.static_assert(True)
    m = tl.multiple_of(n, 8)
    tl.store(x + o, m)
