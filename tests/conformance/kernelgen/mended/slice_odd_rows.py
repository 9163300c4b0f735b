# warps 2, stages 1, grid 1, s1 1
# o0: f32[520] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(o0, s1):
    v8 = tl.full((4, 32, 15), 1, tl.float32)
    v12 = v8[:, :, 0:4:1]
    tl.store(o0 + (tl.arange(0, 4)[:, None, None] * 4 + tl.arange(0, 32)[None, :, None] * 16 + tl.arange(0, 4)[None, None, :] * s1), v12)
