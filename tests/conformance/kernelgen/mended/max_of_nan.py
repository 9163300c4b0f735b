# warps 2, stages 1, grid 1
# x1: f32[17] small -2 2, seed 497
# o0: f32[17] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(x1, o0):
    b = tl.make_block_ptr(x1, (1, 1), (17, 1), (0, 2), (17, 17), (1, 0))
    v = tl.load(b, boundary_check=(0, 1), padding_option="nan")
    tl.store(o0 + tl.arange(0, 17), tl.max(v, 1))
