import triton
import triton.language as tl


@triton.jit
def reload(x, o):
    i = tl.arange(0, 128)
    tl.store(o + i, i)
    v = tl.load(x + 127 - i)
    tl.store(o + 128 + i, v)


@triton.jit
def rotate(x, o, n):
    i = tl.arange(0, 128)
    for t in range(n):
        v = tl.load(x + ((i + 1) % 128))
        tl.store(o + i, v + t)


@triton.jit
def shift(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v + 1, mask=i < n)


@triton.jit
def rows(x, o, stride, n, R: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    for r in range(R):
        v = tl.load(x + r * stride + i, mask=i < n, other=0)
        tl.store(o + r * stride + i, v * 2 + tl.sum(v), mask=i < n)


@triton.jit
def gathered(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, i)
    tl.store(o + i + B, tl.load(x + tl.load(index + i)))


@triton.jit
def blocks(x, o):
    a = tl.load(tl.make_block_ptr(x, (64,), (1,), (0,), (32,), (0,)))
    tl.store(tl.make_block_ptr(o, (64,), (1,), (5,), (32,), (0,)), a)
    b = tl.load(tl.make_block_ptr(x, (64,), (1,), (9,), (32,), (0,)))
    tl.store(tl.make_block_ptr(o, (64,), (1,), (32,), (32,), (0,)), b)


@triton.jit
def powers(x, m, n):
    """Matrix k + 1 is matrix k times m: its copy must not run ahead of the store."""
    i = tl.arange(0, 32)
    at = i[:, None] * 32 + i[None, :]
    for k in range(n):
        a = tl.load(x + k * 1024 + at)
        b = tl.load(m + at)
        tl.store(x + (k + 1) * 1024 + at, (tl.dot(a, b) * 0.0625).to(tl.float16))
