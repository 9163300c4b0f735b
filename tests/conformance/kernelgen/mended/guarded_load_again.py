# warps 2, stages 1, grid 1, n1 3
# x1: i8[32] small -2 2, seed 172
# o1: i32[59] zeros, error 0.0
import triton
import triton.language as tl


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def kernel(x1, o1, n1):
    v29 = tl.full((1, 2), 1, tl.int8)
    k = tl.arange(0, 2)[None, :]
    v34 = tl.load(x1 + tl.arange(0, 16)[:, None] * 2 + k, mask=k < n1, other=0)
    v35 = tl.dot(v29, tl.trans(v34), out_dtype=tl.int32)
    v36 = tl.associative_scan(v35, 1, product)
    tl.store(o1 + tl.arange(0, 16)[None, :] * 3, v36)
