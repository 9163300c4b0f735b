# nereid: --sig x=*f32,h=*f16,n=f32
import triton
import triton.language as tl


@triton.jit
def fma(x, h, n):
    o = tl.arange(0, 32)
    a = tl.load(x + o)
    b = tl.load(x + 32 + o)
    tl.store(x + 64 + o, a * b + n)  # one fma
    tl.store(x + 96 + o, a * b - n)  # the sum's other term negated
    tl.store(x + 128 + o, n - a * b)  # a factor negated
    tl.store(x + 160 + o, a * a + b * b)  # only one of two products
    p = a * b
    tl.store(x + 192 + o, p + a)  # used twice: the product stays
    tl.store(x + 224 + o, p)
    k = tl.load(h + o)
    tl.store(h + 32 + o, k * k + k)  # rounds in between
    s = a * n
    for _ in range(4):
        s = b + s * 2.0  # in the loop
    tl.store(x + 256 + o, s)
