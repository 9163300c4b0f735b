# warps 1, stages 1, grid 1
# o1: u64[62] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(o1):
    v16 = tl.full((31, 2), 1, tl.uint64)
    tl.store(o1 + (tl.arange(0, 31)[:, None] * 2 + tl.arange(0, 2)[None, :]), ~v16)
