"""Tensor descriptors that a kernel makes: blocks that lie partly outside, in and out of loops."""
import triton
import triton.language as tl


@triton.jit
def maybe_make(x, shape, strides, block_shape):
    if isinstance(x, tl.tensor_descriptor):
        return x
    return tl.make_tensor_descriptor(x, shape, strides, block_shape)


@triton.jit
def add(x, y, out, rows, cols, scale, M: tl.constexpr, N: tl.constexpr):
    """out = x + scale * y^T of [rows, cols], a block of rows a program."""
    at = tl.program_id(0) * M
    a = maybe_make(x, [rows, cols], [cols, 1], [M, N])
    a = maybe_make(a, [0, 0], [0, 0], [1, 1])
    b = tl.make_tensor_descriptor(y, shape=[cols, rows], strides=[rows, 1], block_shape=[N, M])
    c = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    tl.static_assert(c.block_shape == [M, N] and c.dtype == tl.float32)
    for j in range(0, cols, N):
        v = a.load([at, j]) + scale * tl.load_tensor_descriptor(b, [j, at]).T
        c.store([at, j], v)


@triton.jit
def product(x, y, out, rows, inner, cols, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [rows, inner], [inner, 1], [M, K])
    b = tl.make_tensor_descriptor(y, [inner, cols], [cols, 1], [K, N])
    c = tl.make_tensor_descriptor(out, [rows, cols], [cols, 1], [M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, inner, K):
        total = tl.dot(a.load([i, k]), b.load([k, j]), total)
    tl.store_tensor_descriptor(c, [i, j], total)


@triton.jit
def padded(x, out, n, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [n], [1], [N], padding_option="nan")
    v = d.load([d.shape[0] - N // 2])
    tl.store(out + tl.arange(0, N), tl.where(v == v, v, -1.0))
