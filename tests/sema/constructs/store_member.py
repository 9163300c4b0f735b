# nereid: --sig x=*fp32 -D N=4 --run-passes ''
import triton
import triton.language as tl


@triton.jit
def kernel(x, N: tl.constexpr):
    o = tl.arange(0, N)
    (x + o).store(o.to(tl.float32), mask=o < 3)
