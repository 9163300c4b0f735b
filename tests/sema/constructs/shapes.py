# nereid: --sig x=*fp32 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    o = tl.arange(0, 32)
    v = tl.load(x + o)
    m = v.reshape(4, 8)
    t = m.trans() + tl.permute(m, (1, 0)) + m.T
    j = tl.join(v, v + 1)
    a, b = j.split()
    c = tl.cat(a, b)
    i = tl.interleave(a, b)
    e = tl.expand_dims(v, (0, -1))
    q = tl.squeeze(e, 0)
    f = tl.ravel(t)
    g = tl.gather(v, (o + 1) % 32, 0)
    h = tl.histogram(o, 8)
    tl.store(x + o, f + g + q.reshape([32]))
    tl.store(x + tl.arange(0, 64), c + i)
    tl.store(x + tl.arange(0, 8), h)
    tl.store(x, tl.full([1], 3, tl.float32).item())
