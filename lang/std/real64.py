# Elementary functions of float64, for math.py and libdevice.py.
#
# Everything is branch-free, but for the reduction of large angles (_reduce).  The polynomials are
# minimax fits by the Remez algorithm, with coefficients rounded one by one, lowest power first, and
# the others fitted again; "deg 7, 2^-61" gives the degree and the largest error relative to the
# function.  "ulp" is the largest error seen over the whole range (tests/conformance/std.py).
import triton
import triton.language as tl
from nereid import basic, core


@triton.jit
def _nearest(x, c: tl.constexpr):
    """x * c rounded to an integer, as f64 (never -0) and as i32; for |x c| below 2^51.  The i32 is
    modulo 2^32; of a NaN, any."""
    t = core.fma(x, c, 6755399441055744.0)
    return t - 6755399441055744.0, core.bitcast(t, tl.int64).to(tl.int32)


@triton.jit
def sign(x):
    """The sign bit of x, as i64."""
    return core.bitcast(x, tl.int64) & -9223372036854775808


@triton.jit
def _with_sign(x, sign):
    """x, not negative, with a sign from sign."""
    return core.bitcast(core.bitcast(x, tl.int64) | sign, tl.float64)


@triton.jit
def _pow2(n):
    """2^n for i32 n from -1022 to 1023."""
    return core.bitcast((n + 1023).to(tl.int64) << 52, tl.float64)


@triton.jit
def scale(x, n):
    """x * 2^n, rounded once, for i32 n from -2044 to 2046."""
    half = n >> 1
    return x * _pow2(half) * _pow2(n - half)


# ---- exponentials ----


@triton.jit
def _exp_near(h, l):
    """e^(h + l) for |h| <= 0.35 and small l.  (e^h - 1 - h) / h^2: deg 9, 2^-57.9."""
    p = basic.poly(h, (2.5115456781529874e-08, 2.763189552188651e-07, 2.755722383801037e-06,
                       2.4801488304612326e-05, 0.0001984126990907222, 0.0013888888948505043,
                       0.008333333333310941, 0.04166666666651013, 0.16666666666666693,
                       0.5000000000000013))
    return 1.0 + (h + core.fma(p * h, h, l))


@triton.jit
def _exp_parts(x):
    """p in [0.7, 1.42) and i32 n with e^x = p * 2^n, for |x| below 10^5."""
    n, i = _nearest(x, 1.4426950408889634)
    t = core.fma(n, -0.6931471805599453, x)
    h = core.fma(n, -2.3190468138462996e-17, t)
    return _exp_near(h, core.fma(n, -2.3190468138462996e-17, t - h)), i


@triton.jit
def exp_parts(h, l):
    """The same for e^(h + l), |l| below 2^-40 |h|."""
    n, i = _nearest(h, 1.4426950408889634)
    t = core.fma(n, -0.6931471805599453, h)
    l = core.fma(n, -2.3190468138462996e-17, l)
    h = t + l
    return _exp_near(h, l - (h - t)), i


@triton.jit
def exp(x):
    """0.8 ulp."""
    p, n = _exp_parts(core.max_nan(core.min_nan(x, 710.0), -746.0))
    return scale(p, n)


@triton.jit
def exp2(x):
    """0.8 ulp."""
    y = core.max_nan(core.min_nan(x, 1025.0), -1076.0)
    n, i = _nearest(y, 1.0)
    f = y - n
    h = f * 0.6931471805599453
    l = core.fma(f, 2.3190468138462996e-17, core.fma(f, 0.6931471805599453, -h))
    return scale(_exp_near(h, l), i)


@triton.jit
def exp10(x):
    """0.8 ulp."""
    y = core.max_nan(core.min_nan(x, 309.0), -324.0)
    n, i = _nearest(y, 3.321928094887362)
    f = core.fma(n, 2.8037281277851704e-18, core.fma(n, -0.3010299956639812, y))
    h = f * 2.302585092994046
    l = core.fma(f, -2.1707562233822494e-16, core.fma(f, 2.302585092994046, -h))
    return scale(_exp_near(h, l), i)


@triton.jit
def _exp_pair(h, l):
    """e^(h + l), for h up to 710 (result may be inf) and small l."""
    p, n = _exp_parts(core.max_nan(core.min_nan(h, 710.0), -760.0))
    return scale(core.fma(p, l, p), n)


@triton.jit
def expm1(x):
    """e^x - 1.  (e^f - 1 - f) / f^2: deg 10, 2^-61.6; 1.1 ulp."""
    y = core.max_nan(core.min_nan(x, 710.0), -60.0)
    n, i = _nearest(y, 1.4426950408889634)
    t = core.fma(n, -0.6931471805599453, y)
    f = core.fma(n, -2.3190468138462996e-17, t)
    low = core.fma(n, -2.3190468138462996e-17, t - f)
    p = basic.poly(f, (2.0921801059826546e-09, 2.510943837559025e-08, 2.7557251762782685e-07,
                       2.7557243174584093e-06, 2.4801587349227e-05, 0.00019841269887021346,
                       0.0013888888888873283, 0.00833333333332134, 0.041666666666666685,
                       0.16666666666666677, 0.5))
    p = core.fma(p * f, f, low)
    # 2^n (f + p) + (2^n - 1), its larger terms with their error: they may cancel.  2^n is out of
    # range for n = 1024: compute half of everything, and double it.
    t = _pow2(i - 1)
    h, l = basic.two_sum_any(f * t, t - 0.5)
    r = (h + core.fma(p, t, l)) * 2.0
    return tl.where(x == 0.0, x, tl.where(n == 0.0, f + p, r))


@triton.jit
def sinh(x):
    """Below 1 (sinh x - x) / x^3: deg 6 in x^2, 2^-62; 1.5 ulp."""
    a = core.abs(x)
    z = x * x
    p = basic.poly(z, (7.77310490441169e-13, 1.605676753064041e-10, 2.5052129723693455e-08,
                       2.7557319113779283e-06, 0.000198412698415757, 0.008333333333332927,
                       0.16666666666666669))
    near = core.fma(p * z, x, x)
    p, n = _exp_parts(core.min_nan(a, 711.0))
    half = scale(p, n - 1)
    far = half - core.div_rn(0.25, half)
    return tl.where(a < 1.0, near, _with_sign(far, sign(x)))


@triton.jit
def cosh(x):
    """1.2 ulp."""
    p, n = _exp_parts(core.min_nan(core.abs(x), 711.0))
    half = scale(p, n - 1)
    return half + core.div_rn(0.25, half)


@triton.jit
def tanh(x):
    """Below 0.6 (tanh x - x) / x^3: deg 10 in x^2, 2^-57.8; else 1 - 2 / (e^2x + 1); 1.3 ulp."""
    a = core.abs(x)
    z = x * x
    p = basic.poly(z, (-1.717962931077017e-05, 7.931585607253638e-05, -0.00023039855377115687,
                       0.0005871893115989558, -0.001455215657528856, 0.0035920374413557507,
                       -0.0088632267859555, 0.021869488003300505, -0.05396825394933378,
                       0.13333333333299766, -0.33333333333333126))
    near = core.fma(p, basic.cube(z, x), x)
    e, n = _exp_parts(core.min_nan(a + a, 50.0))
    far = core.fma(core.div_rn(1.0, core.fma(e, _pow2(n), 1.0)), -2.0, 1.0)
    return tl.where(a < 0.6, near, _with_sign(far, sign(x)))


# ---- logarithms ----


@triton.jit
def _split(x):
    """Positive finite x as 2^e * (1 + f), f in [-1/3, 1/3]: e (f64) and f, exactly."""
    tiny = x < 2.2250738585072014e-308
    u = core.bitcast(tl.where(tiny, x * 18014398509481984.0, x), tl.int64)
    k = (u - 0x3fe5555555555555) & -4503599627370496
    e = (k >> 52).to(tl.int32) - tl.where(tiny, 54, 0)
    return e.to(tl.float64), core.bitcast(u - k, tl.float64) - 1.0


@triton.jit
def _log_ends(x, r):
    """r, but for the x where a logarithm is not finite."""
    end = tl.where(x == 0.0, float("-inf"), float("nan"))
    return tl.where(x > 0.0, tl.where(x < float("inf"), r, x), end)


@triton.jit
def _log1p_near(f):
    """log(1 + f) for f in [-1/3, 1/3] as a sum of two.  With s = f / (2 + f) and z = s^2:
    f - f^2/2 + s (f^2/2 + z R), R: deg 7 in z, 2^-61."""
    s = core.div_rn(f, 2.0 + f)
    z = s * s
    r = z * basic.poly(z, (0.13871870853757706, 0.13169192004150818, 0.15391384958811613,
                           0.18181657095511214, 0.22222224452276174, 0.28571428554337497,
                           0.4000000000006355, 0.6666666666666659))
    g = 0.5 * f
    q = f * g
    h, l = basic.two_sum(f, -q)
    return h, core.fma(s, q + r, l - core.fma(f, g, -q))


@triton.jit
def log(x):
    """0.7 ulp."""
    e, f = _split(x)
    h, l = _log1p_near(f)
    # ln 2 in two parts, the first with 11 zero bits at its end.
    s, t = basic.two_sum(e * 0.6931471805598903, h)
    return _log_ends(x, s + (t + core.fma(e, 5.497923018708371e-14, l)))


@triton.jit
def log2(x):
    """0.7 ulp."""
    e, f = _split(x)
    h, l = _log1p_near(f)
    p = h * 1.4426950408889634
    q = core.fma(h, 2.0355273740931033e-17, core.fma(h, 1.4426950408889634, -p))
    s, t = basic.two_sum(e, p)
    return _log_ends(x, s + (t + core.fma(l, 1.4426950408889634, q)))


@triton.jit
def log10(x):
    """0.7 ulp."""
    e, f = _split(x)
    h, l = _log1p_near(f)
    p = h * 0.4342944819032518
    q = core.fma(h, 1.098319650216765e-17, core.fma(h, 0.4342944819032518, -p))
    # log10(2) in two parts, the first with 11 zero bits at its end.
    s, t = basic.two_sum(e * 0.30102999566395283, p)
    return _log_ends(x, s + (t + core.fma(e, 2.836327009530823e-14,
                                          core.fma(l, 0.4342944819032518, q))))


@triton.jit
def log1p(x):
    """log(1 + x): 2^e is taken from the rounded sum, f from x; 1.3 ulp."""
    u = 1.0 + x
    k = (core.bitcast(u, tl.int64) - 0x3fe5555555555555) & -4503599627370496
    # f = x 2^-e + (2^-e - 1); 4 * 2^-e is in range for every e.
    s = core.bitcast(0x4010000000000000 - k, tl.float64)
    f = core.bitcast(core.bitcast(x, tl.int64) - k, tl.float64) + core.fma(s, 0.25, -1.0)
    e = (k >> 52).to(tl.int32).to(tl.float64)
    h, l = _log1p_near(f)
    s, t = basic.two_sum(e * 0.6931471805598903, h)
    r = s + (t + core.fma(e, 5.497923018708371e-14, l))
    return tl.where(core.abs(x) < 1e-20, x, _log_ends(u, r))


@triton.jit
def asinh(x):
    """log1p(a + a^2 / (1 + sqrt(a^2 + 1))) of a = |x|, log(2a) from 2^54 on; 2 ulp."""
    a = core.abs(x)
    big = a > 18014398509481984.0
    b = tl.where(big, 0.0, a)
    t = core.div_rn(b * b, 1.0 + core.sqrt_rn(core.fma(b, b, 1.0)))
    r = log1p(tl.where(big, a, a + t))
    return _with_sign(tl.where(big, r + 0.6931471805599453, r), sign(x))


@triton.jit
def acosh(x):
    """log1p(t + sqrt(2t + t^2)) of t = x - 1, log(2x) from 2^54 on; 2 ulp."""
    t = x - 1.0
    big = t > 18014398509481984.0
    b = tl.where(big, 0.0, t)
    r = log1p(tl.where(big, t, t + core.sqrt_rn(core.fma(b, b, b + b))))
    return tl.where(x >= 1.0, tl.where(big, r + 0.6931471805599453, r), float("nan"))


@triton.jit
def atanh(x):
    """log1p(2a / (1 - a)) / 2 of a = |x|; below 1/2 (atanh x - x) / x^3: deg 13 in x^2, 2^-60; 1.5
    ulp."""
    a = core.abs(x)
    z = x * x
    p = basic.poly(z, (0.26250675952013697, -0.23287499264412354, 0.20310404945421162,
                       -0.018016890031571357, 0.06329041084282426, 0.0498307394910268,
                       0.059179701651904934, 0.06663447152664931, 0.07692511527743764,
                       0.09090900320787364, 0.11111111354648517, 0.1428571428171314,
                       0.20000000000033172, 0.33333333333333237))
    near = core.fma(p * z, x, x)
    far = 0.5 * log1p(core.div_rn(a + a, 1.0 - a))
    return tl.where(a < 0.5, near, _with_sign(far, sign(x)))


# ---- angles ----


@triton.jit
def _reduce_small(x):
    """x = q pi/2 + r + l for |x| <= 2^30: r, l and i32 q.  All parts of pi/2 are positive, so that
    -0 stays."""
    j, q = _nearest(x, 0.6366197723675814)
    t = core.fma(j, -1.5707963267948966, x)
    r = core.fma(j, -6.123233995736765e-17, t)
    l = core.fma(j, -1.0828566739219139e-32, core.fma(j, -6.123233995736765e-17, t - r))
    return r, l, q


@triton.jit
def _bits_of_2_over_pi(i):
    """Words i to i + 3 of 2/pi after 64 zero bits, as u64, i from 0 to 15."""
    b = (i & 8) == 0
    a0 = tl.where(b, 0, 0xe88235f52ebb4484)
    a1 = tl.where(b, 0xa2f9836e4e441529, 0xe99c7026b45f7e41)
    a2 = tl.where(b, 0xfc2757d1f534ddc0, 0x3991d639835339f4)
    a3 = tl.where(b, 0xdb6295993c439041, 0x9c845f8bbdf9283b)
    a4 = tl.where(b, 0xfe5163abdebbc561, 0x1ff897ffde05980f)
    a5 = tl.where(b, 0xb7246e3a424dd2e0, 0xef2f118b5a0a6d1f)
    a6 = tl.where(b, 0x06492eea09d1921c, 0x6d367ecf27cb09b7)
    a7 = tl.where(b, 0xfe1deb1cb129a73e, 0x4f463f669e5fea2d)
    a8 = tl.where(b, 0xe88235f52ebb4484, 0x7527bac7ebe5f17b)
    a9 = tl.where(b, 0xe99c7026b45f7e41, 0x3d0739f78a5292ea)
    a10 = tl.where(b, 0x3991d639835339f4, 0x6bfb5fb11f8d5d08)
    b = (i & 4) == 0
    a0 = tl.where(b, a0, a4)
    a1 = tl.where(b, a1, a5)
    a2 = tl.where(b, a2, a6)
    a3 = tl.where(b, a3, a7)
    a4 = tl.where(b, a4, a8)
    a5 = tl.where(b, a5, a9)
    a6 = tl.where(b, a6, a10)
    b = (i & 2) == 0
    a0 = tl.where(b, a0, a2)
    a1 = tl.where(b, a1, a3)
    a2 = tl.where(b, a2, a4)
    a3 = tl.where(b, a3, a5)
    a4 = tl.where(b, a4, a6)
    b = (i & 1) == 0
    return (tl.where(b, a0, a1).to(tl.uint64), tl.where(b, a1, a2).to(tl.uint64),
            tl.where(b, a2, a3).to(tl.uint64), tl.where(b, a3, a4).to(tl.uint64))


@triton.jit
def _reduce_large(x):
    """As _reduce_small for any finite |x| >= 2 (Payne and Hanek): the 192 bits of 2/pi that decide
    the result, times the significand, modulo 4."""
    u = core.bitcast(x, tl.uint64)
    e = ((u >> 52) & 2047).to(tl.int32) - 1024
    m = (u << 11) | 0x8000000000000000
    w0, w1, w2, w3 = _bits_of_2_over_pi(e >> 6)
    s = (e & 63).to(tl.uint64)
    h0 = (w0 << s) | (w1 >> (64 - s))
    h1 = (w1 << s) | (w2 >> (64 - s))
    h2 = (w2 << s) | (w3 >> (64 - s))
    # hi, mid: units of 2^-126 quarter turns, modulo 4; then the fraction as a signed number.
    mid = m * h1
    hi = m * h0 + core.mulhi(m, h1)
    low = core.mulhi(m, h2)
    mid = mid + low
    hi = hi + (mid < low).to(tl.uint64)
    q = ((hi + 0x2000000000000000) >> 62).to(tl.int32)
    hi = core.bitcast((hi << 2) | (mid >> 62), tl.int64)
    a = hi.to(tl.float64)
    b = core.fma((mid << 2).to(tl.float64), 5.421010862427522e-20,
                 (hi - a.to(tl.int64)).to(tl.float64))
    a, b = basic.two_sum(a, b)
    # times pi/2 2^-64
    r = a * 8.515303950216386e-20
    l = core.fma(a, 3.319411800407449e-36, core.fma(a, 8.515303950216386e-20, -r))
    l = core.fma(b, 8.515303950216386e-20, l)
    negative = x < 0.0
    return tl.where(negative, -r, r), tl.where(negative, -l, l), tl.where(negative, -q, q)


@triton.jit
def _reduce(x):
    """x = q pi/2 + r + l.  Large angles are rare: the exact reduction is skipped unless an element
    needs it."""
    r, l, q = _reduce_small(x)
    a = core.abs(x)
    large = (a > 1073741824.0) & (a < float("inf"))
    if basic.some(large):
        exact, rest, turns = _reduce_large(x)
        r = tl.where(large, exact, r)
        l = tl.where(large, rest, l)
        q = tl.where(large, turns, q)
    return r, l, q


@triton.jit
def _sin_near(r, l):
    """sin(r + l).  (sin r - r) / r^3: deg 5 in r^2, 2^-58."""
    z = r * r
    p = basic.poly(z, (1.589669391096131e-10, -2.5050756926599413e-08, 2.755731368892294e-06,
                       -0.00019841269829817059, 0.008333333333322458, -0.16666666666666632))
    return r + core.fma(p, basic.cube(z, r), core.fma(-0.5 * z, l, l))


@triton.jit
def _cos_near(r, l):
    """cos(r + l).  (cos r - 1 + r^2/2) / r^4: deg 5 in r^2, 2^-64."""
    z = r * r
    p = basic.poly(z, (-1.1359818684691897e-11, 2.0875727361759542e-09, -2.755731438953851e-07,
                       2.4801587289642412e-05, -0.0013888888888874448, 0.0416666666666666))
    h = 0.5 * z
    w = 1.0 - h
    return w + (((1.0 - w) - h) + core.fma(z * z, p, -r * l))


@triton.jit
def _turn(s, c, q):
    """sin(r + q pi/2), of s = sin r and c = cos r."""
    v = tl.where((q & 1) == 0, s, c)
    return tl.where((q & 2) == 0, v, -v)


@triton.jit
def sin(x):
    """0.8 ulp."""
    r, l, q = _reduce(x)
    return tl.where(x == 0.0, x, _turn(_sin_near(r, l), _cos_near(r, l), q))


@triton.jit
def cos(x):
    """0.8 ulp."""
    r, l, q = _reduce(x)
    return _turn(_sin_near(r, l), _cos_near(r, l), q + 1)


@triton.jit
def tan(x):
    """(tan r - r) / r^3: deg 13 in r^2, 2^-56; 1.7 ulp."""
    r, l, q = _reduce(x)
    z = r * r
    p = basic.poly(z, (2.094609443194267e-05, -4.5220559531499994e-05, 9.008896554481464e-05,
                       -2.7078506921298714e-05, 0.00013701674406562807, 0.0002221411579644642,
                       0.0005951458377469414, 0.0014547386264233296, 0.0035922922801966844,
                       0.008863218806382012, 0.021869489634731173, 0.0539682539255734,
                       0.13333333333416986, 0.3333333333333276))
    c = z * r
    t = r + core.fma(p, c, l)
    # tan' = 1 + tan^2
    rest = core.fma(p, c, l) - (t - r) + l * (t * t)
    inverse = core.div_rn(-1.0, t)
    inverse = core.fma(inverse, core.fma(inverse, t, 1.0) + inverse * rest, inverse)
    inverse = tl.where(t == 0.0, float("-inf"), inverse)
    return tl.where(x == 0.0, x, tl.where((q & 1) == 0, t + rest, inverse))


@triton.jit
def _reduce_pi(x):
    """x = q/2 + f: pi f as a sum of two, and i32 q modulo 4, exactly."""
    a = x - 2.0 * core.rint(0.5 * x)
    j = core.rint(a + a)
    f = core.fma(j, -0.5, a)
    h = f * 3.141592653589793
    l = core.fma(f, 1.2246467991473532e-16, core.fma(f, 3.141592653589793, -h))
    return h, l, j.to(tl.int32)


@triton.jit
def sinpi(x):
    """sin(pi x); 0.8 ulp."""
    h, l, q = _reduce_pi(x)
    r = _turn(_sin_near(h, l), _cos_near(h, l), q)
    # An integer: 0 with the sign of x.
    return tl.where(core.rint(x) == x, _with_sign(core.abs(r), sign(x)), r)


@triton.jit
def cospi(x):
    """cos(pi x); 0.8 ulp."""
    h, l, q = _reduce_pi(x)
    return _turn(_sin_near(h, l), _cos_near(h, l), q + 1) + 0.0


@triton.jit
def _atan_near(x):
    """atan on [-1, 1].  (atan x - x) / x^3: deg 19 in x^2, 2^-57.6."""
    z = x * x
    p = basic.poly(z, (1.3222016200242396e-05, -0.00015213304505733724, 0.0008312067324435936,
                       -0.002884632568370005, 0.0071960309289596175, -0.013900019212901741,
                       0.02198442408964997, -0.029903638115419167, 0.036641861909853864,
                       -0.04219181504302998, 0.04722325344351684, -0.052535202128887966,
                       0.05880528385529686, -0.06666404194484944, 0.07692279862434646,
                       -0.0909090700570057, 0.11111111007236756, -0.14285714282585182,
                       0.19999999999951718, -0.3333333333333307))
    return core.fma(p * z, x, x)


@triton.jit
def atan(x):
    """1.2 ulp."""
    a = core.abs(x)
    r = _atan_near(tl.where(a > 1.0, core.div_rn(1.0, a), a))
    return _with_sign(tl.where(a > 1.0, 1.5707963267948966 - (r - 6.123233995736766e-17), r),
                      sign(x))


@triton.jit
def atan2(y, x):
    """The angle of the point (x, y), in [-pi, pi]; 1.5 ulp."""
    ax = core.abs(x)
    ay = core.abs(y)
    lo = core.min_nan(ax, ay)
    hi = core.max_nan(ax, ay)
    # The ratio of two zeros is 0, of two infinities 1.
    t = tl.where(lo == hi, tl.where(hi == 0.0, 0.0, 1.0), core.div_rn(lo, hi))
    r = _atan_near(t)
    r = tl.where(ay > ax, 1.5707963267948966 - (r - 6.123233995736766e-17), r)
    left = core.bitcast(x, tl.int64) < 0
    r = tl.where(left, 3.141592653589793 - (r - 1.2246467991473532e-16), r)
    return _with_sign(tl.where((x != x) | (y != y), x + y, r), sign(y))


@triton.jit
def _asin_near(x):
    """asin on [-0.55, 0.55].  (asin x - x) / x^3: deg 13 in x^2, 2^-58."""
    z = x * x
    p = basic.poly(z, (0.0583010032382133, -0.0735269595776842, 0.06556142972879192,
                       -0.01998144912507563, 0.016874699125104784, 0.00791624249412281,
                       0.011836970053533695, 0.013933549324177586, 0.017355168353046995,
                       0.022372033646986336, 0.03038194866853701, 0.044642857058702336,
                       0.07500000000084624, 0.1666666666666637))
    return core.fma(p * z, x, x)


@triton.jit
def asin(x):
    """From 0.55 on pi/2 - 2 asin(sqrt((1 - x) / 2)); 1.4 ulp."""
    a = core.abs(x)
    far = a > 0.55
    r = _asin_near(tl.where(far, core.sqrt_rn(core.fma(a, -0.5, 0.5)), a))
    r = tl.where(far, core.fma(r - 3.061616997868383e-17, -2.0, 1.5707963267948966), r)
    return _with_sign(r, sign(x))


@triton.jit
def acos(x):
    """1.4 ulp."""
    a = core.abs(x)
    far = a > 0.55
    r = _asin_near(tl.where(far, core.sqrt_rn(core.fma(a, -0.5, 0.5)), x))
    beyond = tl.where(x < 0.0, core.fma(r - 6.123233995736766e-17, -2.0, 3.141592653589793), r + r)
    return tl.where(far, beyond, 1.5707963267948966 - (r - 6.123233995736766e-17))


# ---- powers and roots ----


@triton.jit
def log_pair(a):
    """log of a >= 0 as a sum of two, to 2^-64; of 0 and inf -inf and inf with 0.

    With u = f / (2 + f): log(1 + f) = 2u (1 + u^2/3 + u^4 R), R: deg 6 in u^2, 2^-62."""
    e, f = _split(a)
    d = 2.0 + f
    u = core.div_rn(f, d)
    ul = core.div_rn(core.fma(-u, f - (d - 2.0), core.fma(-u, d, f)), d)
    z = u * u
    zl = core.fma(u, 2.0 * ul, core.fma(u, u, -z))
    g = z * 0.3333333333333333
    gl = core.fma(zl, 0.3333333333333333,
                  core.fma(z, 1.850371707708594e-17, core.fma(z, 0.3333333333333333, -g)))
    r = basic.poly(z, (0.06893874335783007, 0.06591647188479392, 0.0769520950114127,
                       0.09090845896232815, 0.11111111877973609, 0.14285714280997658,
                       0.20000000000011028))
    gl = core.fma(z * z, r, gl)
    v = u + u
    w = v * g
    wl = core.fma(v, gl, core.fma(ul + ul, g, core.fma(v, g, -w)))
    h, l1 = basic.two_sum(e * 0.6931471805598903, v)
    h, l2 = basic.two_sum(h, w)
    h, l = basic.two_sum(h, (l1 + l2) + core.fma(e, 5.497923018708371e-14, (ul + ul) + wl))
    finite = (a > 0.0) & (a < float("inf"))
    return tl.where(finite, h, _log_ends(a, h)), tl.where(finite, l, 0.0)


@triton.jit
def _pow_abs(a, y):
    """a^y for a >= 0."""
    h, l = log_pair(a)
    p = y * h
    l = core.fma(y, l, core.fma(y, h, -p))
    l = tl.where(core.abs(p) < 800.0, l, 0.0)
    p, n = exp_parts(core.max_nan(core.min_nan(p, 720.0), -800.0), l)
    return scale(p, n)


@triton.jit
def _pow_signs(x, y, r, whole, odd):
    """C's pow from r = |x|^y; `whole`, `odd`: what y is."""
    negative = core.bitcast(x, tl.int64) < 0
    r = tl.where((x < 0.0) & (x > float("-inf")) & ~whole, float("nan"), r)
    r = tl.where(negative & odd, -r, r)
    return tl.where((x == 1.0) | (y == 0.0) | ((x == -1.0) & (core.abs(y) == float("inf"))), 1.0, r)


@triton.jit
def pow(x, y):
    """x^y with C's special cases; 0.9 ulp."""
    whole = core.rint(y) == y
    odd = whole & (core.rint(0.5 * y) != 0.5 * y)
    return _pow_signs(x, y, _pow_abs(core.abs(x), y), whole, odd)


@triton.jit
def powi(x, n):
    """x^n for an i32 n; as pow."""
    return pow(x, n.to(tl.float64))


@triton.jit
def _root_parts(x):
    """|x| as b * 8^k, b in [1, 8): b and i32 k."""
    a = core.abs(x)
    tiny = a < 2.2250738585072014e-308
    u = core.bitcast(tl.where(tiny, a * 18014398509481984.0, a), tl.int64)
    e = (u >> 52).to(tl.int32) - 1023
    k = (e + 1074) // 3 - 358
    b = core.bitcast(u - ((3 * k).to(tl.int64) << 52), tl.float64)
    return b, k - tl.where(tiny, 18, 0)


@triton.jit
def cbrt(x):
    """Two steps of Newton's from f32, the second with the exact residual; 0.6 ulp."""
    b, k = _root_parts(x)
    c = core.exp2(core.log2(b.to(tl.float32)) * 0.33333334).to(tl.float64)
    d = c * c
    c = core.fma(core.div_rn(core.fma(-c, d, b), d), 0.3333333333333333, c)
    d = c * c
    e = core.fma(c, d, -b) + c * core.fma(c, c, -d)
    c = core.fma(core.div_rn(e, d), -0.3333333333333333, c) * _pow2(k)
    return tl.where((core.abs(x) > 0.0) & (core.abs(x) < float("inf")), _with_sign(c, sign(x)), x)


@triton.jit
def rcbrt(x):
    """1 / cbrt(x); 0.6 ulp."""
    a = core.abs(x)
    b, k = _root_parts(x)
    c = core.exp2(core.log2(b.to(tl.float32)) * -0.33333334).to(tl.float64)
    e = core.fma(-b * c, c * c, 1.0)
    c = core.fma(c * 0.3333333333333333, e + e * e * 2.0 / 1.0, c)
    d = c * c
    t = c * b
    # 1 - b c^3 with the errors of both products.
    e = core.fma(-t, d, 1.0) - (core.fma(c, c, -d) * t + core.fma(c, b, -t) * d)
    c = core.fma(c * 0.3333333333333333, e, c) * _pow2(-k)
    c = tl.where(a == 0.0, float("inf"), tl.where(a == float("inf"), 0.0, c))
    return tl.where(x == x, _with_sign(c, sign(x)), x)


@triton.jit
def rsqrt(x):
    """1 / sqrt(x): one step from the rounded operations; 0.51 ulp."""
    tiny = x < 1e-200
    huge = x > 1e200
    b = tl.where(tiny, x * 1.3407807929942597e154, tl.where(huge, x * 7.458340731200207e-155, x))
    y = core.div_rn(1.0, core.sqrt_rn(b))
    p = y * y
    e = core.fma(-p, b, 1.0) - core.fma(y, y, -p) * b
    y = tl.where((b > 0.0) & (b < float("inf")), core.fma(0.5 * y, e, y), y)
    return y * tl.where(tiny, 1.157920892373162e77, tl.where(huge, 8.636168555094445e-78, 1.0)).to(
        tl.float64)


@triton.jit
def _sum_squares(a, b, c, d):
    """The sum of squares of up to four numbers (None: absent) times s^2, as a sum of two; s, 1/s,
    and the largest number."""
    m = core.max(core.abs(a), core.abs(b))
    if c is not None:
        m = core.max(m, core.abs(c))
    if d is not None:
        m = core.max(m, core.abs(d))
    k = core.bitcast(m, tl.int64) & 0x7ff0000000000000
    k = core.min(core.max(k, 0x0020000000000000), 0x7fc0000000000000)
    s = core.bitcast(0x7fe0000000000000 - k, tl.float64)
    h, l = basic.two_prod(a * s, a * s)
    h, l = _add_square(h, l, b * s)
    if c is not None:
        h, l = _add_square(h, l, c * s)
    if d is not None:
        h, l = _add_square(h, l, d * s)
    return h, l, s, core.bitcast(k, tl.float64), m


@triton.jit
def _add_square(h, l, x):
    """h + l + x^2 as a sum of two."""
    p, e = basic.two_prod(x, x)
    h, r = basic.two_sum_any(h, p)
    return h, l + (r + e)


@triton.jit
def norm(a, b, c, d):
    """The root of the sum of squares of up to four numbers; 0.51 ulp."""
    h, l, s, inverse, m = _sum_squares(a, b, c, d)
    r = core.sqrt_rn(h)
    # A Newton step with the exact residual.
    e = core.div_rn(core.fma(-r, r, h) + l, r + r)
    r = tl.where(h > 0.0, r + e, r) * inverse
    return tl.where(m == float("inf"), m, r)


@triton.jit
def rnorm(a, b, c, d):
    """1 / norm; 0.8 ulp."""
    h, l, s, inverse, m = _sum_squares(a, b, c, d)
    y = core.div_rn(1.0, core.sqrt_rn(h))
    p = y * y
    e = core.fma(-p, h, 1.0) - core.fma(core.fma(y, y, -p), h, p * l)
    y = tl.where(h > 0.0, core.fma(0.5 * y, e, y), y) * s
    return tl.where(m == float("inf"), 0.0, tl.where(h == 0.0, float("inf"), y))


# ---- the error function and its relatives ----


@triton.jit
def erf(x):
    """Below 1 (erf x - 2/sqrt(pi) x) / x^3: deg 10 in x^2, 2^-57; above, 1 - erfc(x); 1 ulp."""
    a = core.abs(x)
    z = x * x
    p = basic.poly(z, (-7.795983983753764e-10, 1.372050982647856e-08, -1.6208704694973058e-07,
                       1.644747353085401e-06, -1.492474300980865e-05, 0.0001205529537431603,
                       -0.0008548325998234287, 0.0052239776078133165, -0.026866170643365377,
                       0.11283791670946285, -0.376126389031836, 0.1283791670955126))
    near = core.fma(p, x, x)
    q, _ = _erfcx_near(a)
    far = 1.0 - q * _exp_neg_square(core.min_nan(a, 7.0), None)
    return tl.where(a < 1.0, near, _with_sign(far, sign(x)))


@triton.jit
def _erfcx_near(a):
    """e^(a^2) erfc(a) for a >= 0 as a sum of two.  Times 1/2 + a, in t = (a - 4) / (a + 4): deg 24,
    2^-57."""
    t = tl.where(a < 1e18, core.div_rn(a - 4.0, a + 4.0), 1.0)
    p = basic.poly(t, (-9.931831374839417e-11, 4.804850588346147e-10, 1.3755300870064132e-09,
                      -6.261746550933718e-09, -9.708155578796405e-09, 5.339760265059907e-08,
                      3.783051786307209e-08, -4.108846647184597e-07, 1.4690043238357729e-07,
                      2.853617221102642e-06, -5.611259245781023e-06, -1.2199065800357231e-05,
                      7.531102527410219e-05, -9.962849563734025e-05, -0.0003788867160653437,
                      0.0025159850135656895, -0.008098867013029764, 0.018583757766531556,
                      -0.03316518290812697, 0.04686641749925597, -0.05051953301801685,
                      0.03404852712734635, 0.007689826051306034, -0.06981055842028126,
                      0.6164975593127763))
    w = a + 0.5
    q = core.div_rn(p, w)
    rest = core.fma(-q, w, p) - q * tl.where(a < 1.0, 0.5 - (w - a), a - (w - 0.5))
    return q, tl.where(a < 1e18, core.div_rn(rest, w), 0.0)


@triton.jit
def _exp_neg_square(h, l):
    """e^-(h + l)^2 for h >= 0; l may be None."""
    b = core.min_nan(h, 28.0)
    p = b * b
    low = core.fma(b, b, -p)
    if l is not None:
        low = core.fma(b, 2.0 * l, low)
    return _exp_pair(-p, -low)


@triton.jit
def _erfc_pair(h, l):
    """erfc(h + l)."""
    a = core.abs(h)
    q, ql = _erfcx_near(a)
    e = _exp_neg_square(a, tl.where(h < 0.0, -l, l))
    r = core.fma(q, e, ql * e)
    return tl.where(h < 0.0, 2.0 - r, r)


@triton.jit
def erfc(x):
    """2.5 ulp."""
    a = core.abs(x)
    q, ql = _erfcx_near(a)
    e = _exp_neg_square(a, None)
    r = core.fma(q, e, ql * e)
    return tl.where(x < 0.0, 2.0 - r, r)


@triton.jit
def erfcx(x):
    """e^(x^2) erfc(x); 3 ulp."""
    a = core.abs(x)
    r, _ = _erfcx_near(a)
    b = core.min_nan(a, 27.0)
    p = b * b
    e = _exp_pair(p, core.fma(b, b, -p))
    return tl.where(x < 0.0, e + e - r, r)


@triton.jit
def normcdf(x):
    """The normal distribution: erfc(-x / sqrt(2)) / 2; 3 ulp."""
    b = core.max_nan(core.min_nan(x, 40.0), -40.0)
    h = b * -0.7071067811865476
    l = core.fma(b, 4.833646656726457e-17, core.fma(b, -0.7071067811865476, -h))
    return 0.5 * _erfc_pair(h, l)
