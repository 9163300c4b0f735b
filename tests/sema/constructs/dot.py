# nereid: --sig a=*fp32,b=*fp32,h=*fp16,c=*fp32 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, h, c):
    r = tl.arange(0, 16)
    o = r[:, None] * 16 + r[None, :]
    va = tl.load(a + o)
    vb = tl.load(b + o)
    vh = tl.load(h + o)
    d = tl.dot(va, vb)
    e = tl.dot(va, vb, acc=d, input_precision="ieee")
    f = tl.dot(vh, vh, out_dtype=tl.float16)
    g = tl.dot(vh[None], vh[None], allow_tf32=False)
    tl.store(c + o, e + f + g.reshape(16, 16))
