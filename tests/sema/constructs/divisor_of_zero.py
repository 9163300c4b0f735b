import triton
import triton.language as tl


@triton.jit
def grouped(out, n, HEADS: tl.constexpr, GROUP: tl.constexpr):
    i = tl.arange(0, 4)
    tl.store(out + i, (n + i) // (HEADS // GROUP))
    tl.store(out + 4 + i, (n + i) % (HEADS // GROUP))
    tl.store(out + 8, tl.cdiv(n, HEADS // GROUP))
    quotient, rest = divmod(n, HEADS // GROUP)
    tl.store(out + 9, quotient)
    tl.store(out + 10, rest)
    zero = 0
    tl.store(out + 11, n.to(tl.int8) // (HEADS // GROUP))
    five = 5
    tl.store(out + 12, five % zero)
