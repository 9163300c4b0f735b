"""The kernels of the benches of Python, for either side: NEREID_BENCH_SIDE is nereid or triton."""

import os

SIDE = os.environ.get("NEREID_BENCH_SIDE", "nereid")
if SIDE == "triton":
    import triton
    import triton.language as tl
else:
    import nereid as triton
    import nereid.language as tl


@triton.jit
def few(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def many(a, b, c, d, e, f, out, n0, n1, n2, n3, s0, s1, s2, s3, scale, eps, BLOCK: tl.constexpr,
         SUM: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n0 + n1 + n2 + n3
    x = tl.load(a + i * s0, mask=mask) + tl.load(b + i * s1, mask=mask)
    y = tl.load(c + i * s2, mask=mask) + tl.load(d + i * s3, mask=mask)
    z = tl.load(e + i, mask=mask) * tl.load(f + i, mask=mask)
    tl.store(out + i, (x + y if SUM else x - y) * scale + z + eps, mask=mask)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


def configurations():
    """The spaces of Triton's tutorial on matmul, on NVIDIA's GPUs (16-bit part)."""
    shapes = ((128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4),
              (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2))
    return [triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_stages=s,
                          num_warps=w) for m, n, k, s, w in shapes]


@triton.autotune(configs=configurations(), key=["M", "N", "K"])
@triton.jit
def matmul(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = GROUP * columns
    first = pid // group * GROUP
    size = min(rows - first, GROUP)
    row = first + pid % group % size
    column = pid % group // size
    m = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    left = a + m[:, None] * am + k[None, :] * ak
    right = b + k[:, None] * bk + n[None, :] * bn
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(left, mask=k[None, :] < K - step * BLOCK_K, other=0.0)
        y = tl.load(right, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
        sums = tl.dot(x, y, sums)
        left += BLOCK_K * ak
        right += BLOCK_K * bk
    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c + cm * m[:, None] + cn * n[None, :], sums.to(tl.float16),
             mask=(m[:, None] < M) & (n[None, :] < N))
