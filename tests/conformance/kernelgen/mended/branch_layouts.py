# warps 1, stages 1, grid 1
# x0: i32[1024] small -8 8, seed 1
# x1: i1[8] small 0 1, seed 402
# o0: i32[128] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def swap_if(c, a, b):
    if c:
        return b, a
    return a, b


@triton.jit
def kernel(x0, x1, o0):
    i = tl.arange(0, 64)[:, None]
    x = tl.load(x0 + i * 16 + tl.arange(0, 16)[None, :])
    least, at = tl.min(x, 1, keep_dims=True, return_indices=True)
    a, b = swap_if(tl.load(x1 + 1), at, tl.load(x0 + i))
    tl.store(o0 + i[:, :, None] * 2 + tl.arange(0, 2)[None, None, :], tl.join(b, a))
