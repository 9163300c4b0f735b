# nereid: --sig x=*fp32:16,y=*fp32:16,n=i32 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def halves(x, y, n):
    """Both halves of the lanes have pairs of their own, columns of rows that are next to each
    other, neighbours, and neighbours backwards."""
    lane = tl.arange(0, 8)
    p = x + (lane // 4 * 100 + lane % 4 * 2)
    a = tl.load(p + 8)
    b = tl.load(p + 9)
    r = x + (lane // 4 * 4 + lane % 4 * 24)
    c = tl.load(r)
    d = tl.load(r + 1)
    e = tl.load(r + 2)
    f = tl.load(r + 3)
    back = tl.load(x + 50 + (lane // 4 * 60 - lane % 4))
    s = x + 60 + (lane // 4 * 64 - lane % 4 * 2)
    tl.store(y + 320 + lane, tl.load(s) * tl.load(s + 1))
    q = y + (lane // 4 * 40 + lane % 4 * 2)
    tl.store(q, a * c + d)
    tl.store(q + 1, b * e + f)
    tl.store(y + 100 + (lane // 4 * 12 + lane % 4), back)
    far = x + (lane // 4 * 8 + lane % 4 * 24)
    tl.store(y + 200 + lane, tl.load(far) + tl.load(far + 1) * tl.load(far + 2) + tl.load(far + 3))
    tl.store(y + 300 + (lane // 4 * 40 + lane % 4 * 2), a, mask=lane < n)
