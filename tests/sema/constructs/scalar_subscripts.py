# nereid: --sig x=*fp32,n=i32 --run-passes ''
# Subscripts of scalars: None puts in an axis, a colon does nothing.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    s = tl.load(x)
    tl.static_assert(s[:, None].shape == [1])
    tl.static_assert(s[None, :, None].shape == [1, 1])
    o = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(x + o, o * s[:, None] + n[None, :])
