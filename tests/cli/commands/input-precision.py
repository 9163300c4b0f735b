import triton
import triton.language as tl


@triton.jit
def product(a, b, o, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    tl.store(o + p, tl.dot(tl.load(a + p), tl.load(b + p)))


@triton.jit
def exact(a, b, o, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    tl.store(o + p, tl.dot(tl.load(a + p), tl.load(b + p), input_precision="ieee"))
