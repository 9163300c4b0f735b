# nereid: --sig x=*fp32 --run-passes ''
# Subscripts by constants, slices, None and ....
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    o = tl.arange(0, 4)[:, None, None] * 64 + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)
    v = tl.load(x + o)
    row = v[1, -1, :]
    part = v[::2, 1:4, 7:3:-2]
    tl.static_assert(v[::9223372036854775807, :, -1:0:-9223372036854775807].shape == [1, 8, 1])
    more = v[..., None, 0]
    one = v[3, 7, 7]
    tl.store(x + tl.arange(0, 8), row)
    tl.static_assert(part.shape == [2, 3, 2])
    tl.static_assert(more.shape == [4, 8, 1])
    tl.store(x + tl.arange(0, 2), tl.sum(tl.sum(part, 1), 1))
    tl.store(x, one + tl.sum(more))
