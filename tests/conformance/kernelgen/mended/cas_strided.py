# warps 2, stages 1, grid 1
# o0: u64[48] zeros, error 0
# o1: u64[16] zeros, error 0
import triton
import triton.language as tl


@triton.jit
def kernel(o0, o1):
    i = tl.arange(0, 15)
    old = tl.atomic_cas(o0 + i * 3, i.to(tl.uint64) & 1, i.to(tl.uint64) + 5)
    tl.store(o1 + i, old)
