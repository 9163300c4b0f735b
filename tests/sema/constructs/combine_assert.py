# nereid: --sig x=*fp32,z=*fp32 --run-passes ''
# In a combining function, branches become choices, and assertions have their conditions.
import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    tl.device_assert(b == b, "a number")
    if a > b:
        return a
    elif b > 100:
        tl.device_assert(a > 0, "no jump")
        b = 100.0
    return b


@triton.jit
def k(x, z):
    i = tl.arange(0, 16)
    tl.store(z + i, tl.associative_scan(tl.load(x + i), 0, larger))
