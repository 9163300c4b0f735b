import triton
import triton.language as tl


@triton.jit
def quotients(x, y, n, d, BLOCK: tl.constexpr):
    """A quotient is negative where its divisor is, and quotients of what is made of it are rounded
    up to 0."""
    pid = tl.program_id(0)
    n = tl.multiple_of(n, 16)
    at = pid // d * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + pid * BLOCK + tl.arange(0, BLOCK), tl.load(x + 64 + at // n))
