# nereid: --sig x=*i32 --run-passes ''
# Loops by element run while any element is live; assertions are of the elements that reach them.
import triton
import triton.language as tl


@triton.jit
def halvings(n, limit):
    steps = 0
    while n > 1:
        if steps == limit:
            break
        tl.device_assert(n % 2 == 0, "a power of two")
        n = n // 2
        steps += 1
    return steps


@triton.jit
def kernel(x):
    o = tl.arange(0, 16)
    tl.store(x + o, tl.map_elementwise(halvings, tl.load(x + o), 5))
