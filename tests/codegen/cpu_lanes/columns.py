# nereid: --sig x=*fp32:16,y=*fp32:16,n=i32,columns=i32 --num-warps 1 --target cpu:8
import triton
import triton.language as tl


@triton.jit
def columns(x, y, n, columns):
    """Eight columns of rows are loaded as rows and transposed, and so are stores; a ninth, and
    rows that overlap, are not."""
    row = tl.arange(0, 8)
    mask = row < n
    p = x + row * 64
    a = tl.load(p)
    b = tl.load(p + 1)
    c = tl.load(p + 2)
    d = tl.load(p + 3)
    e = tl.load(p + 4)
    f = tl.load(p + 5)
    g = tl.load(p + 6)
    h = tl.load(p + 7)
    i = tl.load(p + 8)
    last = h + i
    q = y + row * 16
    tl.store(q, b, mask=mask)
    tl.store(q + 1, a, mask=mask)
    tl.store(q + 2, c, mask=mask)
    tl.store(q + 3, d, mask=mask)
    tl.store(q + 4, e, mask=mask)
    tl.store(q + 5, f, mask=mask)
    tl.store(q + 6, g, mask=mask)
    tl.store(q + 7, last, mask=mask)
    s = y + 1024 + row * 4
    tl.store(s, a)
    tl.store(s + 1, b)
    tl.store(s + 2, c)
    tl.store(s + 3, d)
    tl.store(s + 4, e)
    tl.store(s + 5, f)
    tl.store(s + 6, g)
    tl.store(s + 7, h)
