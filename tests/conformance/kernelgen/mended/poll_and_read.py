# warps 2, stages 1, grid 1
# x0: i32[64] small -8 8, seed 1
# o0: i32[64] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(x0, o0):
    i = tl.arange(0, 64)
    x = tl.load(x0 + i)
    first = tl.load(x0, volatile=True)
    y = tl.load(x0 + (63 - i), volatile=True)
    tl.store(o0 + i, x + first + y)
    tl.store(x0 + i, x + 1)
