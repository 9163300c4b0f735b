# warps 2, stages 1, grid 1
# x0: f32[1728] small -8 8, seed 1
# o0: f32[1536] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(x0, o0):
    b = tl.arange(0, 3)[:, None, None]
    m = tl.arange(0, 8)[None, :, None]
    k = tl.arange(0, 8)[None, None, :]
    n = tl.arange(0, 64)[None, None, :]
    x = tl.load(x0 + b * 64 + m * 8 + k)
    y = tl.load(x0 + 192 + b * 512 + m * 64 + n)
    tl.store(o0 + b * 512 + m * 64 + n, tl.dot(x, y, input_precision="ieee"))
