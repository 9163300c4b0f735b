# nereid: --sig x=*fp32,n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    y = x.load([0])
    x.store([0], y + 1)
    tl.extra.cuda.experimental_tensormap_fenceproxy_acquire(x)
