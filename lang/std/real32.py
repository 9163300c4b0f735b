# Elementary functions of float32, for math.py and libdevice.py.
#
# Everything is branch-free, but for the reduction of large angles (_reduce).  The polynomials are
# minimax fits by the Remez algorithm, with coefficients rounded one by one, lowest power first, and
# the others fitted again; "deg 7, 2^-27.6" gives the degree and the largest error relative to the
# function.  "ulp" is the largest error seen over the whole range (tests/conformance/std.py); ops
# that are approximate (exp2, sqrt ...) may add the error that lang/tile/tile_ops.h allows them.
import triton
import triton.language as tl
from nereid import basic, core


@triton.jit
def _nearest(x, c: tl.constexpr):
    """x * c rounded to an integer, as f32 (never -0) and as i32, for |x c| < 2^22.  NaN: any."""
    t = core.fma(x, c, 12582912.0)
    return t - 12582912.0, core.bitcast(t, tl.int32) - 0x4b400000


@triton.jit
def _sign(x):
    """The sign bit of x, as i32."""
    return core.bitcast(x, tl.int32) & -2147483648


@triton.jit
def _with_sign(x, sign):
    """x, not negative, with a sign from _sign."""
    return core.bitcast(core.bitcast(x, tl.int32) | sign, tl.float32)


@triton.jit
def _pow2(n):
    """2^n for i32 n from -126 to 127."""
    return core.bitcast((n + 127) << 23, tl.float32)


@triton.jit
def scale(x, n):
    """x * 2^n, rounded once, for i32 n from -252 to 254."""
    half = n >> 1
    return x * _pow2(half) * _pow2(n - half)


# ---- exponentials ----


@triton.jit
def _exp_parts(x, log2_hi: tl.constexpr, log2_lo: tl.constexpr):
    """p in [0.7, 1.42) and i32 n with base^x = p * 2^n, where log2_hi + log2_lo = log2(base)."""
    n, i = _nearest(x, log2_hi)
    f = core.fma(x, log2_lo, core.fma(x, log2_hi, -n))
    return core.exp2(f), i


@triton.jit
def _exp(x, log2_hi: tl.constexpr, log2_lo: tl.constexpr):
    """base^x = 2^f * 2^n: n is the integer of -126 to 127 that is nearest to x log2(base), f the
    rest, below -0.5 where the result is denormal: their product is rounded once."""
    # The lowest bits of t are n + 127, the exponent of 2^n.
    t = core.fma(x, log2_hi, 12582912.0 + 127.0)
    t = core.max_nan(core.min_nan(t, 12582912.0 + 254.0), 12582912.0 + 1.0)
    f = core.fma(x, log2_lo, core.fma(x, log2_hi, (12582912.0 + 127.0) - t))
    return core.exp2(f) * core.bitcast(core.bitcast(t, tl.int32) << 23, tl.float32)


@triton.jit
def exp(x):
    """e^x; 1 ulp beside that of exp2."""
    return _exp(x, 1.442695, 1.925963e-08)


@triton.jit
def exp10(x):
    """10^x; 1 ulp beside that of exp2."""
    return _exp(x, 3.321928, 7.059537e-08)


@triton.jit
def _exp_pair(h, l):
    """e^(h + l), for h up to 89 (result may be inf) and small l."""
    p, n = _exp_parts(core.max_nan(core.min_nan(h, 89.0), -110.0), 1.442695, 1.925963e-08)
    return scale(core.fma(p, l, p), n)


@triton.jit
def _expm1_parts(x):
    """p = e^f - 1, f in [-0.35, 0.35], with e^x = (1 + p) * 2^n; n as f32 and i32.
    (e^f - 1 - f) / f^2: deg 5, 2^-31."""
    n, i = _nearest(x, 1.442695)
    f = core.fma(n, 1.9046542e-09, core.fma(n, -0.6931472, x))
    p = basic.poly(f, (0.00019956547, 0.0013933894, 0.008333194, 0.041666478, 0.16666667, 0.5))
    return core.fma(p * f, f, f), n, i


@triton.jit
def expm1(x):
    """e^x - 1; 1.2 ulp."""
    p, n, i = _expm1_parts(core.max_nan(core.min_nan(x, 89.0), -26.0))
    # 2^n is out of range for n = 128: compute half of everything, and double it.
    t = _pow2(i - 1)
    r = core.fma(p, t, t - 0.5) * 2.0
    return tl.where(x == 0.0, x, tl.where(n == 0.0, p, r))


@triton.jit
def sinh(x):
    """Below 1 (sinh x - x) / x^3: deg 3 in x^2, 2^-31; 1.8 ulp."""
    a = core.abs(x)
    z = x * x
    near = core.fma(basic.poly(z, (2.7889303e-06, 0.0001984199, 0.008333313, 0.16666667)) * z, x, x)
    p, _, n = _expm1_parts(core.min_nan(a, 90.0))
    half = scale(1.0 + p, n - 1)
    far = core.fma(core.rcp(half), -0.25, half)
    return tl.where(a < 1.0, near, _with_sign(far, _sign(x)))


@triton.jit
def cosh(x):
    """1.4 ulp."""
    p, _, n = _expm1_parts(core.min_nan(core.abs(x), 90.0))
    half = scale(1.0 + p, n - 1)
    return core.fma(core.rcp(half), 0.25, half)


@triton.jit
def tanh(x):
    """Below 0.6 (tanh x - x) / x^3: deg 4 in x^2, 2^-28.4; else 1 - 2 / (e^2x + 1); 1.7 ulp."""
    a = core.abs(x)
    z = x * x
    near = core.fma(
        basic.poly(z, (-0.0058979667, 0.020798625, -0.053784717, 0.13331936, -0.333333)),
        basic.cube(z, x), x)
    e = core.exp2(core.min_nan(a, 20.0) * 2.88539)
    far = core.fma(core.rcp(e + 1.0), -2.0, 1.0)
    return tl.where(a < 0.6, near, _with_sign(far, _sign(x)))


# ---- logarithms ----


@triton.jit
def _split(x):
    """Positive finite x as 2^e * (1 + f), f in [-1/3, 1/3]: e (f32) and f, exactly."""
    tiny = x < 1.1754943508222875e-38
    u = core.bitcast(tl.where(tiny, x * 8388608.0, x), tl.int32)
    k = (u - 0x3f2aaaab) & -8388608
    e = (k >> 23) - tl.where(tiny, 23, 0)
    return e.to(tl.float32), core.bitcast(u - k, tl.float32) - 1.0


@triton.jit
def _log_ends(x, r):
    """r, but for the x where a logarithm is not finite."""
    end = tl.where(x == 0.0, float("-inf"), float("nan"))
    return tl.where(x > 0.0, tl.where(x < float("inf"), r, x), end)


@triton.jit
def _log1p_near(f):
    """log(1 + f) for f in [-1/3, 1/3].  (log(1+f) - f + f^2/2) / f^3: deg 7, 2^-27.6."""
    p = basic.poly(f, (-0.13183874, 0.13961938, -0.12116906, 0.14011042, -0.16685338, 0.20010035,
                  -0.24999692, 0.33333224))
    return core.fma(f * f, core.fma(p, f, -0.5), f)


@triton.jit
def log(x):
    """0.9 ulp."""
    e, f = _split(x)
    return _log_ends(x, core.fma(e, 0.6931472, _log1p_near(f)))


@triton.jit
def log2(x):
    """(log2(1+f) - f log2(e)) / f^2: deg 8, 2^-27.6; 0.9 ulp."""
    e, f = _split(x)
    q = basic.poly(f, (-0.19262691, 0.20199272, -0.17407128, 0.2020061, -0.240798, 0.28869322,
                  -0.36066583, 0.48089656, -0.7213476))
    r = core.fma(f, 1.442695, core.fma(f, 1.925963e-08, f * f * q))
    return _log_ends(x, r + e)


@triton.jit
def log10(x):
    """(log10(1+f) - f log10(e)) / f^2: deg 8, 2^-27.6; 1 ulp."""
    e, f = _split(x)
    q = basic.poly(f, (-0.05716765, 0.060769938, -0.052628428, 0.060818322, -0.07246545, 0.0869047,
                  -0.10857207, 0.1447643, -0.21714725))
    r = core.fma(e, -1.4320989e-08, core.fma(f, -1.010305e-08, f * f * q))
    return _log_ends(x, core.fma(e, 0.30103, core.fma(f, 0.4342945, r)))


@triton.jit
def log1p(x):
    """log(1 + x): 2^e is taken from the rounded sum, f from x; 1.3 ulp."""
    u = 1.0 + x
    k = (core.bitcast(u, tl.int32) - 0x3f2aaaab) & -8388608
    # f = x 2^-e + (2^-e - 1); 4 * 2^-e is in range for every e.
    s = core.bitcast(0x40800000 - k, tl.float32)
    f = core.bitcast(core.bitcast(x, tl.int32) - k, tl.float32) + core.fma(s, 0.25, -1.0)
    r = core.fma((k >> 23).to(tl.float32), 0.6931472, _log1p_near(f))
    return tl.where(x == 0.0, x, _log_ends(u, r))


@triton.jit
def asinh(x):
    """log1p(a + a^2 / (1 + sqrt(a^2 + 1))) of a = |x|, log(2a) from 2^24 on; 2 ulp."""
    a = core.abs(x)
    big = a > 16777216.0
    b = tl.where(big, 0.0, a)
    t = core.div_rn(b * b, 1.0 + core.sqrt_rn(core.fma(b, b, 1.0)))
    r = log1p(tl.where(big, a, a + t))
    return _with_sign(tl.where(big, r + 0.6931472, r), _sign(x))


@triton.jit
def acosh(x):
    """log1p(t + sqrt(2t + t^2)) of t = x - 1, log(2x) from 2^24 on; 2 ulp."""
    t = x - 1.0
    big = t > 16777216.0
    b = tl.where(big, 0.0, t)
    r = log1p(tl.where(big, t, t + core.sqrt_rn(core.fma(b, b, b + b))))
    return tl.where(x >= 1.0, tl.where(big, r + 0.6931472, r), float("nan"))


@triton.jit
def atanh(x):
    """log1p(2a / (1 - a)) / 2 of a = |x|; below 1/2 (atanh x - x) / x^3: deg 5 in x^2, 2^-29; 1.5
    ulp."""
    a = core.abs(x)
    z = x * x
    near = core.fma(
        basic.poly(z, (0.17724216, 0.050946087, 0.118352436, 0.14221294, 0.200026, 0.333333)) * z,
        x, x)
    far = 0.5 * log1p(core.div_rn(a + a, 1.0 - a))
    return tl.where(a < 0.5, near, _with_sign(far, _sign(x)))


# ---- angles ----


@triton.jit
def _reduce_small(x):
    """x = q pi/2 + r for |x| <= 65536: r and i32 q.  Each step rounds once, relative to its result;
    all parts of pi/2 are positive, so that -0 stays."""
    j, q = _nearest(x, 0.63661975)
    r = core.fma(j, -5.3903025e-15, core.fma(j, -7.5497894e-08, core.fma(j, -1.5707963, x)))
    return r, q


@triton.jit
def _word(i, w0: tl.constexpr, w1: tl.constexpr, w2: tl.constexpr, w3: tl.constexpr):
    """The one of four u32 constants that i (0 to 3) names, as u64."""
    low = tl.where((i & 1) == 0, w0, w1)
    high = tl.where((i & 1) == 0, w2, w3)
    return tl.where(i < 2, low, high).to(tl.uint64)


@triton.jit
def _reduce_large(x):
    """As _reduce_small for any finite |x| >= 2 (Payne and Hanek): the 96 bits of 2/pi that decide
    the result, times the significand, modulo 4."""
    u = core.bitcast(x, tl.uint32)
    e = ((u >> 23) & 255).to(tl.int32) - 128
    m = ((u << 8) | 0x80000000).to(tl.uint64)
    # The words of 2/pi, after 32 zero bits, from bit e on.
    i = e >> 5
    s = (e & 31).to(tl.uint64)
    w0 = _word(i, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1)
    w1 = _word(i, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0)
    w2 = _word(i, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599)
    w3 = _word(i, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041)
    h0 = ((((w0 << 32) | w1) << s) >> 32)
    h1 = ((((w1 << 32) | w2) << s) >> 32)
    h2 = ((((w2 << 32) | w3) << s) >> 32)
    # Units of 2^-62 quarter turns, modulo 4; then the fraction as a signed number of 2^-64.
    p = ((m * h0) << 32) + m * h1 + ((m * h2) >> 32)
    q = ((p + 0x2000000000000000) >> 62).to(tl.int32)
    f = core.bitcast(p << 2, tl.int64)
    hi = f.to(tl.float32)
    lo = (f - hi.to(tl.int64)).to(tl.float32)
    r = core.fma(hi, 8.515304e-20, core.fma(hi, -2.3695991e-27, lo * 8.515304e-20))
    negative = x < 0.0
    return tl.where(negative, -r, r), tl.where(negative, -q, q)


@triton.jit
def _reduce(x):
    """x = q pi/2 + r, |r| <= pi/4 (1 + 2^-7).  Large angles are rare: the exact reduction is
    skipped unless an element needs it."""
    r, q = _reduce_small(x)
    a = core.abs(x)
    large = (a > 65536.0) & (a < float("inf"))
    if basic.some(large):
        exact, turns = _reduce_large(x)
        r = tl.where(large, exact, r)
        q = tl.where(large, turns, q)
    return r, q


@triton.jit
def _sin_near(r):
    """(sin r - r) / r^3: deg 2 in r^2, 2^-27.7."""
    z = r * r
    return core.fma(basic.poly(z, (-0.00019508401, 0.008332109, -0.16666654)), basic.cube(z, r), r)


@triton.jit
def _cos_near(r):
    """(cos r - 1 + r^2/2) / r^4: deg 2 in r^2, 2^-32.9."""
    z = r * r
    return core.fma(basic.poly(z, (2.4430881e-05, -0.0013887302, 0.041666646, -0.5)), z, 1.0)


@triton.jit
def _turn(s, c, q):
    """sin(r + q pi/2), of s = sin r and c = cos r."""
    v = tl.where((q & 1) == 0, s, c)
    return tl.where((q & 2) == 0, v, -v)


@triton.jit
def sin(x):
    """1.2 ulp."""
    r, q = _reduce(x)
    return _turn(_sin_near(r), _cos_near(r), q)


@triton.jit
def cos(x):
    """1.2 ulp."""
    r, q = _reduce(x)
    return _turn(_sin_near(r), _cos_near(r), q + 1)


@triton.jit
def sincos_small(x):
    """sin and cos for |x| <= 65536."""
    r, q = _reduce_small(x)
    s = _sin_near(r)
    c = _cos_near(r)
    return _turn(s, c, q), _turn(s, c, q + 1)


@triton.jit
def _tan_near(r):
    """(tan r - r) / r^3: deg 6 in r^2, 2^-29.3."""
    z = r * r
    return core.fma(
        basic.poly(z, (0.004481258, -0.00011821348, 0.0109951785, 0.021222714, 0.05407097,
                       0.13332571, 0.33333352)) * z, r, r)


@triton.jit
def tan(x):
    """2 ulp."""
    r, q = _reduce(x)
    t = _tan_near(r)
    return tl.where((q & 1) == 0, t, core.div_rn(-1.0, t))


@triton.jit
def _reduce_pi(x):
    """x = q/2 + f: pi f as a sum of two, and i32 q modulo 4, exactly."""
    a = x - 2.0 * core.rint(0.5 * x)
    j = core.rint(a + a)
    f = core.fma(j, -0.5, a)
    h = f * 3.1415927
    return h, core.fma(f, -8.742278e-08, core.fma(f, 3.1415927, -h)), j.to(tl.int32)


@triton.jit
def sinpi(x):
    """sin(pi x); 0.8 ulp."""
    h, l, q = _reduce_pi(x)
    r = _turn(_sin_near(h) + l, core.fma(-h, l, _cos_near(h)), q)
    # An integer: 0 with the sign of x.
    return tl.where(core.rint(x) == x, _with_sign(core.abs(r), _sign(x)), r)


@triton.jit
def cospi(x):
    """cos(pi x); 0.8 ulp."""
    h, l, q = _reduce_pi(x)
    r = _turn(_sin_near(h) + l, core.fma(-h, l, _cos_near(h)), q + 1)
    return r + 0.0


@triton.jit
def _atan_near(x):
    """atan on [-1, 1].  (atan x - x) / x^3: deg 8 in x^2, 2^-28.5."""
    z = x * x
    return core.fma(basic.poly(z, (-0.0017887742, 0.010892872, -0.03113722, 0.0579166, -0.084010355,
                              0.109513484, -0.14264078, 0.19998533, -0.333333)) * z, x, x)


@triton.jit
def atan(x):
    """1.3 ulp."""
    a = core.abs(x)
    r = _atan_near(tl.where(a > 1.0, core.div_rn(1.0, a), a))
    return _with_sign(tl.where(a > 1.0, 1.5707964 - (r + 4.371139e-08), r), _sign(x))


@triton.jit
def atan2(y, x):
    """The angle of the point (x, y), in [-pi, pi]; 1.6 ulp."""
    ax = core.abs(x)
    ay = core.abs(y)
    lo = core.min_nan(ax, ay)
    hi = core.max_nan(ax, ay)
    # The ratio of two zeros is 0, of two infinities 1.
    t = tl.where(lo == hi, tl.where(hi == 0.0, 0.0, 1.0), core.div_rn(lo, hi))
    r = _atan_near(t)
    r = tl.where(ay > ax, 1.5707964 - (r + 4.371139e-08), r)
    left = core.bitcast(x, tl.int32) < 0
    r = tl.where(left, 3.1415927 - (r + 8.742278e-08), r)
    return _with_sign(tl.where((x != x) | (y != y), x + y, r), _sign(y))


@triton.jit
def _asin_near(x):
    """asin on [-0.55, 0.55].  (asin x - x) / x^3: deg 5 in x^2, 2^-29."""
    z = x * x
    return core.fma(basic.poly(z, (0.04747503, 0.006750321, 0.034008328, 0.044232517, 0.07502096,
                              0.16666631)) * z, x, x)


@triton.jit
def asin(x):
    """From 0.55 on pi/2 - 2 asin(sqrt((1 - x) / 2)); 1.4 ulp."""
    a = core.abs(x)
    far = a > 0.55
    r = _asin_near(tl.where(far, core.sqrt_rn(core.fma(a, -0.5, 0.5)), a))
    r = tl.where(far, core.fma(r + 2.1855694e-08, -2.0, 1.5707964), r)
    return _with_sign(r, _sign(x))


@triton.jit
def acos(x):
    """1.4 ulp."""
    a = core.abs(x)
    far = a > 0.55
    r = _asin_near(tl.where(far, core.sqrt_rn(core.fma(a, -0.5, 0.5)), x))
    beyond = tl.where(x < 0.0, core.fma(r + 4.371139e-08, -2.0, 3.1415927), r + r)
    return tl.where(far, beyond, 1.5707964 - (r + 4.371139e-08))


# ---- powers and roots ----


@triton.jit
def _log2_pair(a):
    """log2 of a >= 0 as a sum of two, to 2^-40; of 0 and inf -inf and inf with 0.

    With u = f / (2 + f): log(1 + f) = 2u (1 + u^2/3 + u^4 R), R: deg 2 in u^2, 2^-34."""
    e, f = _split(a)
    d = 2.0 + f
    u = core.div_rn(f, d)
    ul = core.div(core.fma(-u, f - (d - 2.0), core.fma(-u, d, f)), d)
    z = u * u
    zl = core.fma(u, 2.0 * ul, core.fma(u, u, -z))
    v = u * 2.88539
    vl = core.fma(ul, 2.88539, core.fma(u, 3.851926e-08, core.fma(u, 2.88539, -v)))
    g = z * 0.33333334
    gl = core.fma(zl, 0.33333334, core.fma(z, -9.934108e-09, core.fma(z, 0.33333334, -g)))
    gl = core.fma(z * z, basic.poly(z, (0.11946561, 0.14262244, 0.20000203)), gl)
    w = v * g
    wl = core.fma(v, gl, core.fma(vl, g, core.fma(v, g, -w)))
    h, l1 = basic.two_sum(e, v)
    h, l2 = basic.two_sum(h, w)
    h, l = basic.two_sum(h, (l1 + l2) + (vl + wl))
    finite = (a > 0.0) & (a < float("inf"))
    return tl.where(finite, h, _log_ends(a, h)), tl.where(finite, l, 0.0)


@triton.jit
def _pow_abs(a, y, y_lo):
    """a^y for a >= 0, y = y + y_lo; y_lo may be None."""
    h, l = _log2_pair(a)
    p = y * h
    l = core.fma(y, l, core.fma(y, h, -p))
    if y_lo is not None:
        l = core.fma(y_lo, h, l)
    l = tl.where(core.abs(p) < 300.0, l, 0.0)
    p = core.max_nan(core.min_nan(p, 200.0), -200.0)
    n, i = _nearest(p, 1.0)
    return scale(core.exp2((p - n) + l), i)


@triton.jit
def _pow_signs(x, y, r, whole, odd):
    """C's pow from r = |x|^y; `whole`, `odd`: what y is."""
    negative = core.bitcast(x, tl.int32) < 0
    r = tl.where((x < 0.0) & (x > float("-inf")) & ~whole, float("nan"), r)
    r = tl.where(negative & odd, -r, r)
    return tl.where((x == 1.0) | (y == 0.0) | ((x == -1.0) & (core.abs(y) == float("inf"))), 1.0, r)


@triton.jit
def pow(x, y):
    """x^y with C's special cases; 1 ulp beside that of exp2."""
    whole = core.rint(y) == y
    odd = whole & (core.rint(0.5 * y) != 0.5 * y)
    return _pow_signs(x, y, _pow_abs(core.abs(x), y, None), whole, odd)


@triton.jit
def powi(x, n):
    """x^n for an i32 n; as pow."""
    y = n.to(tl.float32)
    low = (n - y.to(tl.int32)).to(tl.float32)
    whole = n == n
    return _pow_signs(x, y, _pow_abs(core.abs(x), y, low), whole, (n & 1) != 0)


@triton.jit
def cbrt(x):
    """A step of Newton's from exp2(log2(x) / 3); 0.6 ulp."""
    a = core.abs(x)
    tiny = a < 1.1754943508222875e-38
    b = tl.where(tiny, a * 16777216.0, a)
    c = core.exp2(core.log2(b) * 0.33333334)
    d = c * c
    e = core.fma(c, d, -b) + c * core.fma(c, c, -d)
    c = core.fma(core.div(e, d), -0.33333334, c)
    c = tl.where(tiny, c * 0.00390625, c)
    return tl.where((a > 0.0) & (a < float("inf")), _with_sign(c, _sign(x)), x)


@triton.jit
def rcbrt(x):
    """1 / cbrt(x); 0.7 ulp."""
    a = core.abs(x)
    tiny = a < 1.1754943508222875e-38
    b = tl.where(tiny, a * 16777216.0, a)
    c = core.exp2(core.log2(b) * -0.33333334)
    d = c * c
    t = c * b
    # 1 - b c^3 with the errors of both products.
    e = core.fma(-t, d, 1.0) - (core.fma(c, c, -d) * t + core.fma(c, b, -t) * d)
    c = core.fma(c * 0.33333334, e, c)
    c = tl.where(tiny, c * 256.0, c)
    c = tl.where(a == 0.0, float("inf"), tl.where(a == float("inf"), 0.0, c))
    return tl.where(x == x, _with_sign(c, _sign(x)), x)


@triton.jit
def rsqrt_rn(x):
    """1 / sqrt(x), correctly rounded but for rare ties: one step from the rounded operations."""
    tiny = x < 1e-30
    huge = x > 1e30
    b = tl.where(tiny, x * 281474976710656.0, tl.where(huge, x * 3.5527137e-15, x))
    y = core.div_rn(1.0, core.sqrt_rn(b))
    p = y * y
    e = core.fma(-p, b, 1.0) - core.fma(y, y, -p) * b
    y = tl.where((b > 0.0) & (b < float("inf")), core.fma(0.5 * y, e, y), y)
    return y * tl.where(tiny, 16777216.0, tl.where(huge, 5.9604645e-08, 1.0))


@triton.jit
def _norm_scale(m):
    """2^-k for the exponent k of m, kept in range, and its inverse."""
    k = core.bitcast(m, tl.int32) & 0x7f800000
    k = core.min(core.max(k, 0x01000000), 0x7e000000)
    return core.bitcast(0x7f000000 - k, tl.float32), core.bitcast(k, tl.float32)


@triton.jit
def _sum_squares(a, b, c, d):
    """The sum of squares of up to four numbers (None: absent), scaled by s^2, and s, 1/s, the
    largest; the scaled largest is in [1, 2) but for denormals."""
    m = core.max(core.abs(a), core.abs(b))
    if c is not None:
        m = core.max(m, core.abs(c))
    if d is not None:
        m = core.max(m, core.abs(d))
    s, inverse = _norm_scale(m)
    p = a * s
    q = b * s
    h, l = basic.two_prod(p, p)
    t = q * q
    h, l2 = basic.two_sum_any(h, t)
    l = l + l2 + core.fma(q, q, -t)
    if c is not None:
        r = c * s
        t = r * r
        h, l2 = basic.two_sum_any(h, t)
        l = l + l2 + core.fma(r, r, -t)
    if d is not None:
        r = d * s
        t = r * r
        h, l2 = basic.two_sum_any(h, t)
        l = l + l2 + core.fma(r, r, -t)
    return h, l, s, inverse, m


@triton.jit
def norm(a, b, c, d):
    """The root of the sum of squares of up to four numbers; 0.6 ulp."""
    h, l, s, inverse, m = _sum_squares(a, b, c, d)
    r = core.sqrt_rn(h)
    # A Newton step with the exact residual.
    r = tl.where(h > 0.0, core.fma(core.fma(-r, r, h) + l, core.div(0.5, r), r), r) * inverse
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
    """Below 1 (erf x - 2/sqrt(pi) x) / x^3: deg 5 in x^2, 2^-29.3; above, 1 - 2^p(x), log2(erfc x):
    deg 7 on [0.9, 4], 2^-31.5; 1.3 ulp."""
    a = core.abs(x)
    z = x * x
    p = basic.poly(z, (7.877869e-05, -0.00080183276, 0.0051893983, -0.026854498, 0.11283607,
                       -0.3761263, 0.12837917))
    near = core.fma(p, x, x)
    t = core.min_nan(a, 4.0)
    p = basic.poly(t, (-2.6826108e-05, 0.0005859625, -0.005824321, 0.035743747, -0.15546937,
                       -0.9143841, -1.6292304, 0.00018862124))
    return tl.where(a < 1.0, near, _with_sign(1.0 - core.exp2(p), _sign(x)))


@triton.jit
def _erfcx_near(a):
    """e^(a^2) erfc(a) for a >= 0 as a sum of two.  Times 1/2 + a, in t = (a - 2) / (a + 2): deg 12,
    2^-27.3."""
    t = tl.where(a < 1e9, core.div_rn(a - 2.0, a + 2.0), 1.0)
    p = basic.poly(t, (-1.0650614e-05, 3.301286e-05, 0.00011270131, -0.00018289394, -0.0007347522,
                  0.000613036, 0.0043641687, -0.00401164, -0.027110763, 0.082025195, -0.0830151,
                  -0.046381913, 0.6384892))
    w = a + 0.5
    q = core.div_rn(p, w)
    rest = core.fma(-q, w, p) - q * tl.where(a < 1.0, 0.5 - (w - a), a - (w - 0.5))
    return q, tl.where(a < 1e9, rest * core.rcp(w), 0.0)


@triton.jit
def _exp_neg_square(h, l):
    """e^-(h + l)^2 for h >= 0; l may be None."""
    b = core.min_nan(h, 12.0)
    p = b * b
    low = core.fma(b, b, -p)
    if l is not None:
        low = core.fma(b, 2.0 * l, low)
    return _exp_pair(-p, -low)


@triton.jit
def _erfc_pair(h, l):
    """erfc(h + l)."""
    a = core.abs(h)
    m = tl.where(h < 0.0, -l, l)
    q, ql = _erfcx_near(a)
    e = _exp_neg_square(a, m)
    r = core.fma(q, e, ql * e)
    return tl.where(h < 0.0, 2.0 - r, r)


@triton.jit
def erfc(x):
    """2 ulp beside that of exp2."""
    a = core.abs(x)
    q, ql = _erfcx_near(a)
    e = _exp_neg_square(a, None)
    r = core.fma(q, e, ql * e)
    return tl.where(x < 0.0, 2.0 - r, r)


@triton.jit
def erfcx(x):
    """e^(x^2) erfc(x); 3 ulp beside that of exp2."""
    a = core.abs(x)
    r, _ = _erfcx_near(a)
    b = core.min_nan(a, 10.0)
    p = b * b
    e = _exp_pair(p, core.fma(b, b, -p))
    return tl.where(x < 0.0, e + e - r, r)


@triton.jit
def normcdf(x):
    """The normal distribution: erfc(-x / sqrt(2)) / 2; 3 ulp beside that of exp2."""
    b = core.max_nan(core.min_nan(x, 20.0), -20.0)
    h = b * -0.70710677
    l = core.fma(b, -1.21016175e-08, core.fma(b, -0.70710677, -h))
    return 0.5 * _erfc_pair(h, l)
