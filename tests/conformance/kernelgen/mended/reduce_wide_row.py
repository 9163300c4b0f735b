# warps 1, stages 1, grid 1
# x1: i32[528] small -8 8, seed 469
# o1: i32[1] zeros, error 0.0
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel(x1, o1):
    b2 = tl.make_block_ptr(x1, (1, 128), (1, 4), (0, 0), (1, 128), (0, 1))
    v3 = tl.load(b2)
    v6 = tl.reduce(v3, 1, add)
    tl.store(o1 + tl.arange(0, 1), (v6 ^ v6).to(tl.int32) + v6)
