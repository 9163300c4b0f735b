"""Operands of dots whose rows are looked up in the same iteration: they cannot be loaded ahead."""
import triton
import triton.language as tl


@triton.jit
def gathered(a_ptr, row_ptr, b_ptr, out_ptr, n, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    total = tl.zeros([M, M], tl.float32)
    for i in range(0, n, M):
        row = tl.load(row_ptr + i + m)
        at = a_ptr + row[:, None] * K + k[None, :]
        a = tl.load(at)
        b = tl.load(b_ptr + (i + m)[None, :] * K + k[:, None], mask=row[None, :] > 0, other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * M + m[None, :], total)
