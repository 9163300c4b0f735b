# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    o = tl.arange(0, 64)
    tl.store(x + o, tl.load(x + o).to(tl.float8e4b8).to(tl.float32))
