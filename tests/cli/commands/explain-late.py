import triton
import triton.language as tl


@triton.jit
def product(a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        inner = at + tl.arange(0, BK)
        sums += tl.dot(tile(a, rows, inner, k), tile(b, inner, columns, n))
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


@triton.jit
def tile(p, rows, columns, stride):
    at = p + rows[:, None] * stride + columns[None, :]
    return tl.load(at)
