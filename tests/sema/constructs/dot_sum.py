# nereid: --sig x=*f16,out=*f32
import triton
import triton.language as tl


@triton.jit
def dot_sum(x, out):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(x + i)
    acc = tl.load(out + i)
    acc += tl.dot(a, a)  # the product adds to the sum
    acc = acc * 2.0 + tl.dot(a, a)  # rather than a fused multiply-add
    d = tl.dot(a, a)
    tl.store(out + i, acc + d)  # used twice: the product stays
    tl.store(out + 256 + i, d)
    e = tl.dot(a, a, out_dtype=tl.float16)
    tl.store(out + 512 + i, tl.load(x + 256 + i) + e)  # rounds in between
