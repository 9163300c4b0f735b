# warps 1, stages 1, grid 1
# x0: f32[16] small -8 8, seed 72
# x1: f32[128] small -8 8, seed 73
# o0: f32[32] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(x0, x1, o0):
    x = tl.load(x0 + (tl.arange(0, 2)[:, None] * 8 + tl.arange(0, 8)[None, :]))
    y = tl.load(x1 + (tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :])) * 2
    z = tl.dot(x, y, input_precision="ieee")
    tl.store(o0 + tl.arange(0, 2)[:, None] * 16 + tl.arange(0, 16)[None, :], z)
