"""Exact results, by rational arithmetic, of the functions of libdevice with a rounding in their
name, and of the others that have exactly one right answer."""
import math
from fractions import Fraction as Q

import numpy as np

FORMATS = {np.float32: (24, -149, 128), np.float64: (53, -1074, 1024)}
MODES = 'nzdu'


def round_to(v, dtype, mode):
    """The rational v in a float format, rounded to nearest, zero, down or up."""
    digits, least, top = FORMATS[dtype]
    if v == 0: return 0.0
    sign, a = (-1, -v) if v < 0 else (1, v)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    if Q(2)**e > a: e -= 1
    unit = Q(2)**max(e - digits + 1, least)
    k = a // unit
    rest = a / unit - k
    away = rest > 0 and mode == ('d' if sign < 0 else 'u')
    if mode == 'n': away = rest > Q(1, 2) or (rest == Q(1, 2) and k & 1)
    r = (k + away) * unit
    if r >= Q(2)**top:
        inward = mode == 'z' or mode == ('u' if sign < 0 else 'd')
        return sign * (float(Q(2)**top - Q(2)**(top - digits)) if inward else math.inf)
    return math.copysign(float(r), sign)


def _zero(signs, mode):
    """A sum that is exactly 0, of terms with these signs."""
    if len(set(signs)) == 1: return math.copysign(0.0, signs[0])
    return -0.0 if mode == 'd' else 0.0


def _ieee(f, *v):
    with np.errstate(all='ignore'): return float(f(*[np.float64(x) for x in v]))


def _sgn(x): return math.copysign(1, x)


def add(x, y, dtype, mode):
    if not (math.isfinite(x) and math.isfinite(y)): return x + y
    return round_to(Q(x) + Q(y), dtype, mode) if Q(x) + Q(y) else _zero((_sgn(x), _sgn(y)), mode)


def sub(x, y, dtype, mode): return add(x, -y, dtype, mode)


def mul(x, y, dtype, mode):
    if not (math.isfinite(x) and math.isfinite(y)) or 0 in (x, y): return _ieee(np.multiply, x, y)
    return round_to(Q(x) * Q(y), dtype, mode)


def div(x, y, dtype, mode):
    if not (math.isfinite(x) and math.isfinite(y)) or 0 in (x, y): return _ieee(np.divide, x, y)
    return round_to(Q(x) / Q(y), dtype, mode)


def rcp(x, dtype, mode): return div(1.0, x, dtype, mode)


def sqrt(x, dtype, mode):
    if not 0 < x < math.inf: return math.nan if x < 0 else x
    v, shift = Q(x), 1200
    square = (v.numerator << 2 * shift) // v.denominator
    k = math.isqrt(square)
    exact = k * k * v.denominator == v.numerator << 2 * shift
    return round_to(Q(2 * k + (not exact), 2 << shift), dtype, mode)


def rsqrt32(x):
    if not 0 < x < math.inf:
        return 0.0 if x == math.inf else math.copysign(math.inf, x) if x == 0 else math.nan
    v, shift = 1 / Q(x), 400
    square = (v.numerator << 2 * shift) // v.denominator
    return round_to(Q(2 * math.isqrt(square) + 1, 2 << shift), np.float32, 'n')


def high_words(rng, n):
    """f64 whose lower 32 bits are 0."""
    x = np.concatenate([rng.normal(size=n) * scale for scale in (1, 1e300, 1e-300)])
    return (x.view(np.int64) & -2**32).view(np.float64)


def rcp64h(x): return float((np.float64(1 / x).view(np.int64) & np.int64(-2**32)).view(np.float64))


def fma(x, y, z, dtype, mode):
    if not (math.isfinite(x) and math.isfinite(y)): return _ieee(lambda a, b, c: a * b + c, x, y, z)
    if not math.isfinite(z): return z
    v = Q(x) * Q(y) + Q(z)
    return round_to(v, dtype, mode) if v else _zero((_sgn(x) * _sgn(y), _sgn(z)), mode)


def fmod(x, y, dtype):
    if not math.isfinite(x) or y == 0 or y != y: return math.nan
    return math.fmod(x, y)


def remainder(x, y, dtype):
    if not math.isfinite(x) or y == 0 or y != y: return math.nan
    return math.remainder(x, y)


def nextafter(x, y, dtype): return _ieee(lambda a, b: np.nextafter(dtype(a), dtype(b)), x, y)


def copysign(x, y, dtype): return math.copysign(x, y)


def fdim(x, y, dtype):
    with np.errstate(all='ignore'): return 0.0 if x <= y else float(dtype(x) - dtype(y))


def logb(x, dtype):
    if x == 0 or not math.isfinite(x): return -math.inf if x == 0 else abs(x)
    return float(math.frexp(x)[1] - 1)


def ilogb(x, dtype):
    if x == 0 or not math.isfinite(x): return 2**31 - 1 if abs(x) == math.inf else -2**31
    return math.frexp(x)[1] - 1


def ldexp(x, n, dtype):
    return round_to(Q(x) * Q(2)**int(n), dtype, 'n') if x and math.isfinite(x) else x


def round_away(x, dtype):
    return math.copysign(float(math.floor(Q(abs(x)) + Q(1, 2))), x) if math.isfinite(x) else x


def trunc(x, dtype): return math.copysign(float(math.trunc(x)), x) if math.isfinite(x) else x


def floor(x, dtype): return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def ceil(x, dtype): return math.copysign(float(math.ceil(x)), x) if math.isfinite(x) else x


def rint(x, dtype): return math.copysign(float(round(x)), x) if math.isfinite(x) else x


def to_int(x, bits, signed, mode):
    """A float as an integer: the nearest of the target if out of range, NaN as 0."""
    lo, hi = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    if x != x: return 0
    if math.isinf(x): return hi if x > 0 else lo
    f = {'n': round, 'z': math.trunc, 'd': math.floor, 'u': math.ceil}[mode]
    return min(max(f(Q(x)), lo), hi)


def llround(x): return to_int(round_away(x, None), 64, 1, 'z')


def narrow(x, mode): return round_to(Q(x), np.float32, mode) if x and math.isfinite(x) else x


def operands(rng, dtype, n):
    """Floats that make rounding hard: of all sizes, denormal, with few bits, near overflow."""
    digits, least, top = FORMATS[dtype]
    i = np.finfo(dtype)
    bits = rng.integers(0, 2**32, (2, n), dtype=np.uint64)
    any_bits = (bits[0] << np.uint64(32) | bits[1]).view(np.float64) if dtype == np.float64 \
        else bits[0].astype(np.uint32).view(np.float32)
    return np.concatenate([
        any_bits,
        rng.normal(size=n).astype(dtype), (rng.integers(1, 2000, n) * 2.0**least).astype(dtype),
        (rng.integers(1, 64, n) / 8).astype(dtype),
        (float(i.max) * rng.uniform(.3, 1, n)).astype(dtype)
    ])


def special_operands(dtype):
    i = np.finfo(dtype)
    return np.array([
        0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, i.smallest_subnormal, -i.smallest_subnormal,
        i.max, -i.max, i.tiny, 3, .5, -1.5, 2.5, -.5
    ], dtype)


def pairs(rng, dtype, n):
    """Two columns: unrelated numbers, special ones, and sums that all but cancel."""
    a = operands(rng, dtype, n)
    b = rng.permutation(a)
    s = special_operands(dtype)
    g = np.meshgrid(s, s)
    with np.errstate(all='ignore'):
        close = (a * (1 + rng.integers(-4, 4, a.size) * 2.0**-22)).astype(dtype)
    return np.concatenate([a, g[0].ravel(), a, a]), np.concatenate([b, g[1].ravel(), close, -close])


def triples(rng, dtype, n):
    """Three columns; in most rows the third is near the negative product of the others."""
    a, b = pairs(rng, dtype, n)
    c = rng.permutation(a)
    with np.errstate(all='ignore'):
        near = -(a.astype(np.longdouble) * b).astype(dtype)
        nearer = (near * (1 + 2.0**-20)).astype(dtype)
    return np.tile(a, 3), np.tile(b, 3), np.concatenate([c, near, nearer])
