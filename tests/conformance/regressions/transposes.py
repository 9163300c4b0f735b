"""A square tile whose transpose is taken twice and multiplied by as it is held, too: all products of
a warpgroup read one buffer, each in its direction."""
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    square = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + square)
    out = tl.dot(x, tl.trans(y))
    for i in range(n):
        out += tl.dot(tl.dot(x, tl.trans(y)).to(y.dtype), y)
    out += tl.dot((x * 2).to(y.dtype), tl.trans(y))
    tl.store(out_ptr + at, out)
