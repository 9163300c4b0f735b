# nereid: --sig 'p=*bf16,q=*i16,o=*f32,e=*fp8e5' -D N=4
# A number that a cast has made wider is cast back to what it was; one that was rounded is not, nor
# one of f8e5, whose infinities become the largest number.
import triton
import triton.language as tl


@triton.jit
def casts_back(p, q, o, e, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i).to(tl.float32)
    tl.store(p + i, x.to(tl.bfloat16))
    y = tl.load(q + i).to(tl.int64)
    tl.store(q + i, y.to(tl.int16))
    z = tl.load(o + i).to(tl.bfloat16)
    tl.store(o + i, z.to(tl.float32))
    w = tl.load(e + i).to(tl.float32)
    tl.store(e + i, w.to(tl.float8e5))
