# nereid: --sig x=*fp32,y=*fp32 -D F=fn:double --run-passes ''
# Helpers, host functions, classes, functions as arguments, globals.
import triton
import triton.language as tl


LOG2_E = tl.constexpr(1.4426950408889634)
SIZES = {"small": 8, "large": 16}
exp2 = tl.math.exp2


def choose(kind, factor=1):
    return SIZES[kind] * factor


@triton.constexpr_function
def log2(n):
    r = 0
    while n > 1:
        n //= 2
        r += 1
    return r


class Ops:
    SHIFT = 3

    @staticmethod
    @triton.jit
    def add(a, b):
        return a + b + Ops.SHIFT


def plain(a):
    return a - 1


minus = triton.jit(plain)


@triton.jit
def double(a, *, scale=2):
    return a * scale


@triton.jit
def total(*parts, **options):
    s = parts[0]
    for i in tl.static_range(1, len(parts)):
        s += parts[i]
    return s * options["scale"]


@triton.jit
def kernel(x, y, F: tl.constexpr):
    o = tl.arange(0, choose("small", factor=2))
    v = tl.load(x + o)
    parts = (F(v), Ops.add(v, log2(1024)), minus(v))
    tl.store(y + o, exp2(total(*parts, scale=0.5) * LOG2_E))
