# nereid: --sig x=*fp32,n=i64,m=i32 --run-passes ''
# Unrolled and run-time loops; the index has the common type of the bounds.
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, m):
    acc = tl.zeros((16,), tl.float32)
    unchanged = tl.load(x)
    for i in tl.static_range(3):
        acc += i
    for i in tl.range(m, n, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
        acc += i
        first = acc + unchanged
    for i in range(10, 0, -1):
        a, b = i, unchanged
        acc += a * b
    tl.store(x + tl.arange(0, 16), acc)
