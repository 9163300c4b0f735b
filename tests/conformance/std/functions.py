"""What each floating-point function of lang/std should give: a reference, where to test it, and the
largest error in ulps (f32, f64).  f32 counts with the error of approximate ops at its bound.

References are NumPy's long double functions where it has them, else reference.txt (made by
make_reference.py).  Where long double is no wider than double, f64 bounds get one ulp more.
"""
import os

import numpy as np

LD = np.longdouble
PI = LD('3.14159265358979323846264338327950288')
WIDE = np.finfo(LD).nmant > 60


def _turn(x, quarters):
    """sin(pi x + quarters pi/2), exact at the quarters."""
    n = np.rint(2 * x)
    q = np.mod(np.mod(n, 4) + quarters, 4)
    r = PI * (x - n / 2)
    s = np.where(np.mod(q, 2) == 0, np.sin(r), np.cos(r))
    return np.where(q < 2, s, -s)


def sinpi(x):
    return np.where(np.rint(x) == x, np.copysign(LD(0), x) / np.isfinite(x), _turn(x, 0))


def cospi(x):
    return _turn(x, 1) + 0


def _root_sum(*v):
    return np.where(np.any(np.isinf(v), axis=0), LD(np.inf), np.sqrt(sum(x * x for x in v)))


def _norm(*v):
    m = np.max(np.abs(v), axis=0)
    m = np.where((m > 0) & np.isfinite(m), m, LD(1))
    return _root_sum(*[x / m for x in v]) * m


def _inverse(f):
    return lambda *v: 1 / f(*v)


def rcbrt(x):
    return 1 / np.cbrt(x)


# name: (reference, operands, bound of f32, bound of f64, ranges to test)
FUNCTIONS = {
    'exp': (np.exp, 1, 2.5, 1, [(-104, 89), (-1, 1), (-746, 710)]),
    'exp2': (np.exp2, 1, 2.01, 1, [(-150, 128), (-1, 1), (-1075, 1024)]),
    'exp10': (lambda x: np.power(LD(10), x), 1, 2.5, 1.2, [(-45, 39), (-1, 1), (-324, 309)]),
    'expm1': (np.expm1, 1, 1.5, 1.3, [(-20, 89), (-1, 1), (-.01, .01), (-1, 710)]),
    'log': (np.log, 1, 1, .7, [(0, 2), (.9, 1.1)]),
    'log2': (np.log2, 1, 1.5, .7, [(0, 2), (.9, 1.1)]),
    'log10': (np.log10, 1, 1.3, .7, [(0, 2), (.9, 1.1)]),
    'log1p': (np.log1p, 1, 1.6, 1.3, [(-1, 2), (-.1, .1)]),
    'sin': (np.sin, 1, 1.6, .9, [(-4, 4), (-7e4, 7e4), (-2e9, 2e9)]),
    'cos': (np.cos, 1, 1.6, .9, [(-4, 4), (-7e4, 7e4), (-2e9, 2e9)]),
    'tan': (np.tan, 1, 2.7, 1.2, [(-4, 4), (-7e4, 7e4), (-2e9, 2e9)]),
    'sinpi': (sinpi, 1, 1.4, .9, [(-4, 4), (-1000, 1000)]),
    'cospi': (cospi, 1, 1.5, .9, [(-4, 4), (-1000, 1000)]),
    'asin': (np.arcsin, 1, 1.6, 1.7, [(-1, 1), (.5, .6)]),
    'acos': (np.arccos, 1, 1.6, 1.3, [(-1, 1), (.5, .6), (-.1, .1)]),
    'atan': (np.arctan, 1, 1.5, 1.5, [(-2, 2), (-10, 10)]),
    'sinh': (np.sinh, 1, 1.8, 1.7, [(-90, 90), (-2, 2), (-711, 711)]),
    'cosh': (np.cosh, 1, 1.5, 1.3, [(-90, 90), (-2, 2), (-711, 711)]),
    'tanh': (np.tanh, 1, 3, 1.3, [(-10, 10), (-1, 1)]),
    'asinh': (np.arcsinh, 1, 2, 1.6, [(-2, 2), (-100, 100)]),
    'acosh': (np.arccosh, 1, 2.1, 1.9, [(1, 2), (1, 100)]),
    'atanh': (np.arctanh, 1, 1.3, 1.1, [(-1, 1), (.4, .6)]),
    'cbrt': (np.cbrt, 1, .9, .6, [(-8, 8)]),
    'rcbrt': (rcbrt, 1, .9, .6, [(-8, 8)]),
    'sqrt': (np.sqrt, 1, 1, .5, [(0, 4)]),
    'sqrt_rn': (np.sqrt, 1, .5, .5, [(0, 4)]),
    'rsqrt': (_inverse(np.sqrt), 1, 2, .55, [(0, 4)]),
    'rcp_rn': (lambda x: 1 / x, 1, .5, .5, [(-4, 4)]),
    'atan2': (np.arctan2, 2, 1.9, 1.6, [(-4, 4)]),
    'pow': (np.power, 2, 2.5, 1.2, [(-4, 4), (0, 40)]),
    'hypot': (_norm, 2, .6, .6, [(-4, 4)]),
    'norm3d': (_norm, 3, .6, .6, [(-4, 4)]),
    'norm4d': (_norm, 4, .6, .6, [(-4, 4)]),
    'rhypot': (_inverse(_norm), 2, .9, .8, [(-4, 4)]),
    'rnorm3d': (_inverse(_norm), 3, .9, .8, [(-4, 4)]),
    'rnorm4d': (_inverse(_norm), 4, .9, .8, [(-4, 4)]),
    'div_rn': (lambda x, y: x / y, 2, .5, .5, [(-4, 4)]),
    'add_rn': (lambda x, y: x + y, 2, .5, .5, [(-4, 4)]),
    'sub_rn': (lambda x, y: x - y, 2, .5, .5, [(-4, 4)]),
    'mul_rn': (lambda x, y: x * y, 2, .5, .5, [(-4, 4)]),
    # From reference.txt.
    'erf': (None, 1, 1.3, 1.1, []),
    'erfc': (None, 1, 4.5, 3.3, []),
    'erfcx': (None, 1, 4.5, 4, []),
    'erfinv': (None, 1, 2.5, 3.5, []),
    'erfcinv': (None, 1, 3, 4.2, []),
    'normcdf': (None, 1, 5.5, 4.2, []),
    'normcdfinv': (None, 1, 3.5, 4, []),
    'lgamma': (None, 1, .6, 6, []),
    'tgamma': (None, 1, .6, 6, []),
    'cyl_bessel_i0': (None, 1, .6, 5, []),
    'cyl_bessel_i1': (None, 1, .6, 5, []),
    # The unit is ulps of the largest of |value| and the amplitude there: the zeros are not exact.
    'j0': (None, 1, .6, 8, []),
    'j1': (None, 1, .6, 8, []),
    'y0': (None, 1, .6, 8, []),
    'y1': (None, 1, .6, 8, []),
    'jn': (None, 2, .6, 30, []),
    'yn': (None, 2, .6, 30, []),
}
# The hardware's approximations, f32 alone.  name: (reference, ranges of the operands, bounds of the
# error: relative to the result, and absolute)
FAST = {
    'fast_sinf': (np.sin, [(-3.14, 3.14)], 0, 2**-20.5),
    'fast_cosf': (np.cos, [(-3.14, 3.14)], 0, 2**-20.5),
    'fast_tanf': (np.tan, [(-1.5, 1.5)], 2**-15, 2**-20.5),
    'fast_tanhf': (np.tanh, [(-20, 20)], 2**-10.9, 0),
    'fast_expf': (np.exp, [(-80, 80)], 2**-17, 0),
    'fast_exp10f': (lambda x: np.power(LD(10), x), [(-37, 37)], 2**-16, 0),
    'fast_logf': (np.log, [(1e-30, 1e30)], 2**-21, 0),
    'fast_log2f': (np.log2, [(.5, 2)], 0, 2**-21.8),
    'fast_log10f': (np.log10, [(.5, 2)], 0, 2**-22),
    'fast_powf': (np.power, [(.1, 9), (-30, 30)], 2**-15, 0),
    'fast_dividef': (np.divide, [(-9, 9), (1, 1e30)], 2**-22, 0),
}
BESSEL = ('j0', 'j1', 'y0', 'y1', 'jn', 'yn')
# Operands at which some function is exact, or its result or method changes.
SPECIAL = [
    0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, .5, -.5, 2, -2, 3, -3, 1.5, -1.5, 8, 27, 65536,
    65537, 1e10, -1e10, 1e22, 88.7, -88.7, 89, -104, -103.9, 127, 128, -149, -150, 709.5, -745.1,
    1023, 1024
]


def specials(dtype):
    i = np.finfo(dtype)
    tiny = [
        i.tiny, -i.tiny, i.max, -i.max, i.smallest_subnormal, -i.smallest_subnormal, 1 - i.epsneg
    ]
    return np.array(SPECIAL + tiny, dtype)


def random_bits(rng, dtype, n):
    unsigned = np.uint64 if dtype == np.float64 else np.uint32
    return rng.integers(0, np.iinfo(unsigned).max, n, unsigned, endpoint=True).view(dtype)


def points(name, dtype, rng, n):
    """Operands to test `name` with: random bits, the special values and their pairs, the ranges."""
    ref, operands, _, _, ranges = FUNCTIONS[name]
    s = specials(dtype)
    if operands == 1: columns = [[s]]
    else:
        columns = [[v.ravel()] for v in np.meshgrid(s, s)] + [[np.resize(s[::-1], s.size**2)]
                                                              for _ in range(operands - 2)]
    for column in columns:
        column.append(random_bits(rng, dtype, n))
        for lo, hi in ranges: column.append(rng.uniform(lo, hi, n).astype(dtype))
    return [np.concatenate(c) for c in columns]


def ulps(got, want, floor=0):
    """The errors of `got` in ulps of its dtype, against wider values.  `floor`: the least magnitude
    that the ulp is taken of."""
    dtype = got.dtype
    i = np.finfo(dtype)
    with np.errstate(all='ignore'):
        rounded = want.astype(dtype)
        _, e = np.frexp(np.maximum(np.abs(want), floor))
        one = np.ldexp(LD(1), np.maximum(e - (i.nmant + 1), i.minexp - i.nmant))
        d = np.abs(got.astype(LD) - want) / one
        both_nan = np.isnan(got) & np.isnan(want)
        infinite = ~both_nan & (np.isinf(rounded) | np.isinf(got))
        # Next to overflow either side will do.
        huge = i.max * .9999995
        edge = (np.sign(got) == np.sign(want)) & (np.abs(got) >= huge) & (np.abs(want) >= huge)
        d = np.where(infinite, np.where((got == rounded) | edge, 0, np.inf), d)
        zero = (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
        d = np.where(zero & (floor == 0), np.inf, d)
        d = np.where(both_nan, 0, np.where(np.isnan(d), np.inf, d))
    return d.astype(np.float64)


def read_reference():
    """name -> (operands as columns of float, values as long double)."""
    rows = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'reference.txt')) as f:
        for line in f:
            if line.startswith('#'): continue
            name, *words = line.split()
            x = [float.fromhex(w) for w in words[:-1]]
            hi, _, lo = words[-1].partition('~')
            value = LD(float.fromhex(hi)) + LD(float.fromhex(lo)) if lo else LD(float.fromhex(hi))
            rows.setdefault(name, []).append((x, value))
    return {
        n: ([np.array(c) for c in zip(*[x for x, _ in r])], np.array([v for _, v in r]))
        for n, r in rows.items()
    }
