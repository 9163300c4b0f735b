# nereid: --sig x=*fp32:16,o=*fp32:16 -D M=16 -D N=1024 --target sm_90a
# Along rows, in the layout of the accesses; along columns, of which a thread holds neighbours.
import triton
import triton.language as tl


@triton.jit
def scan_both(x, o, M: tl.constexpr, N: tl.constexpr):
    row = tl.arange(0, N)
    tl.store(o + row, tl.cumsum(tl.load(x + row), 0))
    i = tl.arange(0, M)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(o + i, tl.cumsum(tl.load(x + i), 0, reverse=True))
