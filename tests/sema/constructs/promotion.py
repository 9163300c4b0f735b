# nereid: --sig h=*fp16,b=*bf16,i=*i32,u=*u8,n=i32 --run-passes ''
# Constants are weak beside a typed operand, variables are not; / and comparisons widen.
import triton
import triton.language as tl


@triton.jit
def kernel(h, b, i, u, n):
    o = tl.arange(0, 8)
    vh = tl.load(h + o)
    vb = tl.load(b + o)
    vi = tl.load(i + o)
    vu = tl.load(u + o)
    weak = vh * 2.5 + 1
    two = 2.5
    strong = vh * two
    mixed = vh + vb
    quotient = vb / 3
    compared = vh > 0.5
    integers = vi + vu
    rest = vi % 3 - vi // n
    small = vu + 200
    ratio = vi / n
    tl.store(h + o, weak + strong + mixed + quotient)
    tl.store(i + o, tl.where(compared, integers, rest) + small + ratio)
