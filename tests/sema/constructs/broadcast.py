# nereid: --sig x=*fp32,n=i32 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    rows = tl.arange(0, 6)
    cols = tl.arange(0, 10)
    p = x + rows[:, None] * n + cols[None, :]
    v = tl.load(p, mask=(rows < n)[:, None], other=-1)
    w = v + cols
    w = w * tl.broadcast_to(rows[:, None], (6, 10))
    tl.store(p, w, mask=cols < n)
    a, b = tl.broadcast(rows[:, None], cols)
    tl.store(p, a + b)
