# warps 4, stages 1, grid 1
# o0: i32[24] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(o0):
    i = tl.arange(0, 7)
    tl.store(o0 + i, tl.histogram(tl.full((15,), 7, tl.int32), 7))
    tl.store(o0 + 8 + i, tl.histogram(tl.arange(9, 10), 7))
    tl.store(o0 + 16 + i, tl.histogram(tl.arange(5, 6), 7))
