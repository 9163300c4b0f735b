# warps 1, stages 1, grid 1
# x0: f32[192] normal, seed 633
# x1: f32[300] small -8 8, seed 66
# o2: f32[192] zeros, error 4.3e-06, seed 0
import triton
import triton.language as tl


@triton.jit
def kernel(x0, x1, o2):
    v1 = tl.load(x0 + (tl.arange(0, 6)[:, None] + tl.arange(0, 32)[None, :] * 6))
    b2 = tl.make_block_ptr(x1, (6, 32), (1, 9), (0, 0), (6, 32), (0, 1))
    v3 = tl.load(b2)
    v4 = (v3 / (tl.abs(v1) + 1)).to(tl.float32)
    tl.store(o2 + (tl.arange(0, 6)[:, None] * 32 + tl.arange(0, 32)[None, :]), v4)
