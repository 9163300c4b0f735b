# nereid: --sig x=*fp32,n=i32 --run-passes ''
# Tuples are carried item by item; items that come back unchanged are not carried.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a, b = tl.load(x), tl.load(x + 1)
    pair = (a, b, a)
    for i in range(n):
        a, b = b, a + b
        pair = (pair[1], pair[0], pair[2])
    u, v, w = pair
    tl.store(x, u)
    tl.store(x + 1, v if n > 3 else a)
    tl.store(x + 2, w)
    tl.store(x + 3, b)
