# warps 1, stages 1, grid 1, n0 3, K 129
# x1: i1[1064] small 0 1, seed 631
# x4: i8[3392] small -2 2, seed 474
# x5: i8[3392] any, seed 650
# o0: f16[3072] zeros, error 0.0
import triton
import triton.language as tl


@triton.jit
def keep_left(a, b):
    return a


@triton.jit
def kernel(x1, x4, x5, o0, n0, K):
    m = tl.arange(0, 32)[:, None]
    at = m * 32 + tl.arange(0, 32)[None, :]
    v2 = tl.load(x1 + tl.program_id(0) * 16 + at % n0, mask=m < n0, other=0)
    v5 = tl.full((32, 32), 1, tl.float16)
    v6 = v2.to(tl.float16)
    v7 = tl.where(v2, v5, v6)
    v8 = tl.full((32, 32), 1, tl.float16)
    v11 = tl.associative_scan(v7, 1, keep_left, reverse=True)
    v12 = tl.permute(v6, (1, 0))
    v14 = tl.max(tl.ravel(v12), 0).to(tl.float16)
    v17 = tl.full((32, 32), 1, tl.int1)
    p19 = x4 + tl.arange(0, 16)[:, None] * 136 + tl.arange(0, 64)[None, :] * 1
    p20 = x5 + tl.arange(0, 64)[:, None] * 1 + tl.arange(0, 16)[None, :] * 136
    c21 = tl.zeros((16, 16), tl.int32)
    for i18 in range(tl.cdiv(K, 64)):
        t22 = tl.load(p19, mask=tl.arange(0, 64)[None, :] < K - i18 * 64, other=0)
        t23 = tl.load(p20, mask=tl.arange(0, 64)[:, None] < K - i18 * 64, other=0)
        c21 = tl.dot(t22, t23, c21, out_dtype=tl.int32)
    v24 = v12.to(tl.float32)
    v25 = tl.reshape(v17, (1, 512, 2))
    v26, v27 = tl.split(v25)
    v31 = v24.to(tl.float16)
    v32 = tl.minimum(v8, v31).to(tl.float16)
    tl.store(o0 + tl.program_id(0) * 1024 + at, v32)
