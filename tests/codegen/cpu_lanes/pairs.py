# nereid: --sig x=*fp32:16,y=*fp32:16,n=i32 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def pairs(x, y, n):
    """Both elements of pairs are loaded and stored together, also loads that are apart; one of them
    alone is not, nor one after a store."""
    lane = tl.arange(0, 8)
    mask = lane < n
    p = x + lane * 2
    a = tl.load(p)
    b = tl.load(p + 1)
    c = tl.load(p + 16, mask=mask, other=0.0)
    d = tl.load(p + 17, mask=mask, other=0.0)
    q = y + lane * 2
    tl.store(q, b + c)
    tl.store(q + 1, a + d)
    tl.store(q + 16, d, mask=mask)
    tl.store(q + 17, c, mask=mask)
    e = tl.load(p + 32, mask=mask, other=0.0)
    f = tl.load(p + 48)
    g = tl.load(p + 33, mask=mask, other=0.0)
    h = tl.load(p + 49)
    k = tl.load(p + 64)
    m = tl.load(p + 3)
    n = tl.load(p + 64)
    o = tl.load(p + 65)
    i = tl.load(p + 20)
    tl.store(q + 33, e * g + f * h + k * m + n * o)
    tl.store(q + 66, tl.load(p + 21) + i)
