# nereid: --sig x=*fp32,o=*fp32,n=i32 -D B=16 --debug
# Each access is checked; a pointer that a loop carries is followed to its argument.
import triton
import triton.language as tl


@triton.jit
def checked(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + i
    s = tl.load(x) + tl.zeros((B,), tl.float32)
    for k in range(0, n):
        s += tl.load(p, mask=i < n)
        p += B
    tl.store(o + i * n, s)
