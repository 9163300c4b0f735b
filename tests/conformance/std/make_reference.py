#!/usr/bin/env python3
"""Writes reference.txt: values of special functions to about 100 bits.  Needs mpmath, which the
tests themselves do not."""
import math
import random

import mpmath as mp

mp.mp.prec = 200
random.seed(1)
inf, nan = math.inf, math.nan


def f32(x):
    """x rounded to 24 bits."""
    m, e = math.frexp(x)
    return math.ldexp(round(m * 2**24), e - 24)


def spread(*ranges, n=12, log=()):
    """Points of each range; half of them fit f32."""
    xs = [random.uniform(a, b) for a, b in ranges for _ in range(n)]
    xs += [s * 10**random.uniform(a, b) for s, a, b in log for _ in range(n)]
    return [f32(x) if i % 2 else x for i, x in enumerate(xs)]


def solve(f, df, y):
    for _ in range(100):
        step = f(y) / df(y)
        y -= step
        if abs(step) < abs(y) * mp.mpf(10)**-45: break
    return y


def erfcinv(x):
    if x == 0 or x == 2: return inf if x == 0 else -inf
    if not 0 < x < 2: return nan
    x = mp.mpf(x)
    c = min(x, 2 - x)
    if c > 0.3: y = mp.erfinv(1 - c)
    else:
        target = mp.log(c)
        y = solve(lambda y: mp.log(mp.erfc(y)) - target,
                  lambda y: -2 * mp.exp(-y * y) / mp.sqrt(mp.pi) / mp.erfc(y), mp.sqrt(-target))
    return y if x < 1 else -y


def erfinv(x):
    if x == 0: return x
    if abs(x) < 0.5: return mp.erfinv(mp.mpf(x))
    return math.copysign(1, x) * mp.mpf(1) * erfcinv(1 - abs(mp.mpf(x))) if abs(x) < 1 else \
        (math.copysign(inf, x) if abs(x) == 1 else nan)


def erfcx(x):
    x = mp.mpf(x)
    return 1 / (x * mp.sqrt(mp.pi)) if x > 1e12 else mp.erfc(x) * mp.exp(x * x)


def lgamma(x):
    with mp.workprec(400):
        return mp.log(abs(mp.gamma(mp.mpf(x)))) if abs(x) < 1e4 else mp.loggamma(mp.mpf(x))


# name: (function, operands, values at ends as pairs: a dict would confuse 0.0 with -0.0)
near1 = [1 - 2.0**-k * random.uniform(.5, 1) for k in range(2, 50, 2)]
X = {
    'erf': (lambda x: mp.erf(mp.mpf(x)), spread((-6, 6), (-1, 1), (.9, 1.1), log=[(1, -300, 0)]),
            ((inf, 1.0), (-inf, -1.0), (nan, nan), (0.0, 0.0), (-0.0, -0.0), (40.0, 1.0))),
    'erfc':
    (lambda x: mp.erfc(mp.mpf(x)), spread(
        (-6, 10), (-1, 1), (0, 27), n=16,
        log=[(1, -300, 0)]), ((inf, 0.0), (-inf, 2.0), (nan, nan), (0.0, 1.0), (40.0, 0.0))),
    'erfcx': (erfcx, spread((-9, 10), (-1, 1), (-26, 28), n=16, log=[(1, -300, 307), (1, 0, 30)]),
              ((inf, 0.0), (-inf, inf), (nan, nan), (0.0, 1.0), (-40.0, inf))),
    'erfinv': (erfinv, spread(
        (-1, 1), (-.6, .6), n=16, log=[(1, -300, 0)]) + near1 + [f32(x) for x in near1[:11]],
               ((1.0, inf), (-1.0, -inf), (2.0, nan), (nan, nan), (0.0, 0.0), (-0.0, -0.0))),
    'erfcinv':
    (erfcinv, spread((0, 2), (.4, 1.6), n=16, log=[(1, -300, 0), (1, -44, 0),
                                                   (1, -16, 0)]) + [1 + x for x in near1],
     ((0.0, inf), (2.0, -inf), (-1.0, nan), (nan, nan), (1.0, 0.0))),
    'normcdf':
    (lambda x: mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2, spread(
        (-14, 8), (-1, 1), (-38, 9),
        n=16), ((inf, 1.0), (-inf, 0.0), (nan, nan), (0.0, .5), (-60.0, 0.0), (60.0, 1.0))),
    'normcdfinv': (lambda x: -mp.sqrt(2) * erfcinv(2 * mp.mpf(x)),
                   spread((0, 1), n=24, log=[(1, -300, 0), (1, -44, 0)]),
                   ((0.0, -inf), (1.0, inf), (-1.0, nan), (2.0, nan), (nan, nan), (.5, 0.0))),
    'lgamma': (lgamma,
               spread((0, 12), (.9, 2.1), (-2.2, 0), (-300, -12),
                      log=[(1, -300, 300), (-1, -300, 0),
                           (1, -30, 30)]), ((inf, inf), (-inf, inf), (nan, nan), (0.0, inf),
                                            (-3.0, inf), (1.0, 0.0), (2.0, 0.0))),
    'tgamma': (lambda x: mp.gamma(mp.mpf(x)),
               spread((-5, 12), (-30, 34), (12, 171), (-170, 0), log=[(1, -307, 0), (-1, -30, 0)]),
               ((inf, inf), (-inf, nan), (nan, nan), (0.0, inf), (-0.0, -inf), (-3.0, nan),
                (172.0, inf), (1.0, 1.0), (5.0, 24.0))),
    'cyl_bessel_i0': (lambda x: mp.besseli(0, mp.mpf(x)),
                      spread(
                          (-8, 8), (8, 80), (-700, -8),
                          log=[(1, -300, 0)]), ((inf, inf), (-inf, inf), (nan, nan), (0.0, 1.0))),
    'cyl_bessel_i1': (lambda x: mp.besseli(1, mp.mpf(x)),
                      spread((-8, 8), (8, 80), (-700, -8), log=[(1, -300, 0)]),
                      ((inf, inf), (-inf, -inf), (nan, nan), (0.0, 0.0), (-0.0, -0.0))),
    'j0': (lambda x: mp.besselj(0, mp.mpf(x)), spread(
        (-8, 8), (-100, 100), log=[(1, -300, 5)]), ((inf, 0.0), (nan, nan), (0.0, 1.0))),
    'j1': (lambda x: mp.besselj(1, mp.mpf(x)), spread(
        (-8, 8), (-100, 100),
        log=[(1, -300, 5)]), ((inf, 0.0), (nan, nan), (0.0, 0.0), (-0.0, -0.0))),
    'y0': (lambda x: mp.bessely(0, mp.mpf(x)), spread(
        (0, 8), (0, 100), log=[(1, -300, 5)]), ((inf, 0.0), (nan, nan), (0.0, -inf), (-1.0, nan))),
    'y1': (lambda x: mp.bessely(1, mp.mpf(x)), spread(
        (0, 8), (0, 100), log=[(1, -300, 5)]), ((inf, 0.0), (nan, nan), (0.0, -inf), (-1.0, nan))),
}


def text(v):
    if isinstance(v, float): return v.hex()
    hi = float(v)
    lo = float(v - mp.mpf(hi)) if math.isfinite(hi) else 0.0
    return hi.hex() + (f'~{lo.hex()}' if lo else '')


with open('reference.txt', 'w') as out:
    print('# NAME OPERAND... VALUE or VALUE~REST; made by make_reference.py.', file=out)
    for name, (f, xs, ends) in X.items():
        for x in xs: print(name, x.hex(), text(f(x)), file=out)
        for x, v in ends: print(name, x.hex(), v.hex(), file=out)
    for n, x in [(n, f32(random.uniform(0, 2 * n + 10))) for n in (0, 1, 2, 3, 5, 10, 31, 100)
                 for _ in range(5)]:
        print('jn', float(n).hex(), x.hex(), text(mp.besselj(n, mp.mpf(x))), file=out)
        y = mp.bessely(n, mp.mpf(x))
        if abs(y) < 1e300: print('yn', float(n).hex(), x.hex(), text(y), file=out)
    for n, x in ((2, 1e-7), (3, 1e-100), (5, 0.0), (0, 0.0), (2, inf), (-1, 1.0), (1, nan),
                 (2, -3.5), (3, -3.5)):
        v = nan if n < 0 or x != x else 0.0 if math.isinf(x) else mp.besselj(n, mp.mpf(x))
        print('jn', float(n).hex(), x.hex(), text(v), file=out)
