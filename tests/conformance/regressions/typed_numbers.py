"""A dtype called with a number."""
import triton
import triton.language as tl


@triton.jit
def running(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    m = tl.float32(-float("inf"))
    d = tl.float32(0)
    for i in range(0, n, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=-float("inf"))
        m = tl.maximum(m, tl.max(x))
        d += tl.sum(x)
    tl.store(out_ptr, m)
    tl.store(out_ptr + 1, d)
    tl.store(out_ptr + 2, tl.int8(300 - 256) + tl.int16(n))
