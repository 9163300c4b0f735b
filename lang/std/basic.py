# What the mathematical files of the library share: polynomials, sums and products with their
# rounding errors.  For f32 and f64 alike.
import triton
import triton.language as tl
from nereid import core


@triton.jit
def poly(x, c: tl.constexpr):
    """c[0] x^n + ... + c[n]"""
    p = core.fma(x, c[0], c[1])
    for i in tl.static_range(2, len(c)):
        p = core.fma(p, x, c[i])
    return p


@triton.jit
def two_sum(a, b):
    """a + b as the rounded sum and its error; |a| >= |b|, or a = 0."""
    s = a + b
    return s, b - (s - a)


@triton.jit
def two_sum_any(a, b):
    """a + b as the rounded sum and its error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@triton.jit
def two_prod(a, b):
    """a * b as the rounded product and its error."""
    p = a * b
    return p, core.fma(a, b, -p)


@triton.jit
def some(cond):
    """Whether any element of the i1 tile is true: a scalar, for `if`."""
    if len(cond.shape) == 0:
        return cond
    else:
        return tl.max(cond.to(tl.int32), None) != 0


@triton.jit
def cube(z, x):
    """z * x, z = x^2, but +0 for -0: so that x + p x^3 with p < 0 keeps the sign of zero."""
    return core.fma(z, x, 0.0)
