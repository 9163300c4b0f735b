import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def moved(x, o, n, B: tl.constexpr):
    """A pointer that a loop carries."""
    i = tl.arange(0, B)
    p = x + i
    s = tl.zeros((B,), tl.float32)
    for k in range(0, n):
        s += tl.load(p)
        p += B
    tl.store(o + i, s)


@triton.jit
def gathered(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + tl.load(index + i)))


@triton.jit
def before(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i - 1, tl.load(x + i), mask=i > 0)
    tl.store(o - 1, tl.load(x), mask=tl.load(x + 1) > 0)


@triton.jit
def counted(x, index, B: tl.constexpr):
    tl.atomic_add(x + tl.load(index + tl.arange(0, B)), 1.0)


@triton.jit
def chosen(x, o, index, B: tl.constexpr):
    """Through either argument, which is not known: not checked."""
    p = x if tl.load(index) > 100 else o
    tl.store(p + tl.arange(0, B), 1.0)
