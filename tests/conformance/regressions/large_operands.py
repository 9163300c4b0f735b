"""Operands of a product of f32 that fit in shared memory only if no row of them is padded."""
import triton
import triton.language as tl


@triton.jit
def product(a, b, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    tl.store(o + i[:, None] * N + j[None, :], tl.dot(x, y, input_precision="ieee"))
