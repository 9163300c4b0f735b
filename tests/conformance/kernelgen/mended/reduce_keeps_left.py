# warps 2, stages 1, grid 1
# x0: f32[4096] normal, seed 981
# o1: f32[3072] zeros, error 0.0
import triton
import triton.language as tl


@triton.jit
def keep_left(a, b):
    return a


@triton.jit
def kernel(x0, o1):
    m = tl.arange(0, 48)[:, None]
    n = tl.arange(0, 64)[None, :]
    v3 = tl.load(x0 + m * 64 + n)
    v4 = tl.reduce(v3, 1, keep_left)
    tl.store(o1 + m * 64 + n, v4[:, None] + tl.zeros((48, 64), tl.float32))
