import triton
import triton.language as tl


@triton.jit
def dot_tiles(x, w, y, rows, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr,
              PRECISION: tl.constexpr):
    """Products of words; rows behind the last one are that one again."""
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    acc = tl.zeros([M, N], dtype=tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + tl.minimum(m, rows - 1) * K + k[None, :])
        acc = tl.dot(left, tl.load(w + k[:, None] * N + n), acc, input_precision=PRECISION)
    tl.store(y + m * N + n, acc)
