# Special functions for libdevice.py: inverse error functions, gamma, Bessel.  The inverse error
# functions of f32 are computed in f32; for the others, which are rare, f32 goes through f64.
# Notation as in real32.py.
import triton
import triton.language as tl
from nereid import basic, core, real32, real64

# ---- inverses of the error function ----


@triton.jit
def _erfinv_ratio(w, tail: tl.constexpr):
    """erfinv(d) / d as a function of w = -log(1 - d^2), to 2^-23.  Below 5: deg 9 in w - 2.5,
    2^-24.6; up to 16.8: deg 9 in sqrt(w) - 3, 2^-26; beyond, if `tail`: sqrt(w) times deg 8 in 1 /
    sqrt(w), 2^-24.9."""
    near = basic.poly(w - 2.5, (-8.259337e-09, 2.720125e-08, 4.6026864e-07, -3.5126968e-06,
                                -4.945265e-06, 0.00021854248, -0.0012527516, -0.0041776416,
                                0.24664028, 1.5014094))
    s = core.sqrt_rn(w)
    far = basic.poly(s - 3.0, (0.00011454908, -0.00030846967, -5.5089098e-05, 0.0014831725,
                               -0.0035978877, 0.005688062, -0.0076374197, 0.009445043, 1.001675,
                               2.8329768))
    if tail:
        p = basic.poly(core.div_rn(1.0, s), (-893.4581, 1172.4302, -673.9928, 225.82785, -50.758514,
                                             9.231175, -1.5421519, -0.014521483, 1.0000867))
        far = tl.where(s < 4.1, far, s * p)
    return tl.where(w < 5.0, near, far)


@triton.jit
def erfinv32(x):
    """2 ulp."""
    w = -real32.log((1.0 - x) * (1.0 + x))
    r = x * _erfinv_ratio(w, False)
    return tl.where(core.abs(x) == 1.0, x * float("inf"), r)


@triton.jit
def erfcinv32(x):
    """3 ulp."""
    r = (1.0 - x) * _erfinv_ratio(-real32.log(x * (2.0 - x)), True)
    end = tl.where(x == 0.0, float("inf"), float("-inf"))
    return tl.where((x == 0.0) | (x == 2.0), end, r)


@triton.jit
def normcdfinv32(x):
    """-sqrt(2) erfcinv(2x); 4 ulp."""
    y = erfcinv32(x + x)
    return core.fma(y, -1.4142135, y * -2.4203234e-08) + 0.0


@triton.jit
def _erfinv_step(d, c):
    """y >= 0 with erf(y) = d, erfc(y) = c = 1 - d, either exact where it is the smaller: a step of
    Halley's from 2^-23; from c = 1/2 on by erf, else by erfc / c, whose parts stay in range."""
    small = c < 0.5
    log_c = real64.log(c)
    y = d * _erfinv_ratio(-real64.log(c * (1.0 + d)), True)
    p = y * y
    e = real64.exp(-(tl.where(small, p + log_c, p) + core.fma(y, y, -p)))
    f = tl.where(small, 1.0 - real64.erfcx(y) * e, real64.erf(y) - d)
    u = core.div_rn(f * 0.886226925452758, e)
    return y - core.div_rn(u, core.fma(y, u, 1.0))


@triton.jit
def erfinv64(x):
    """2 ulp."""
    a = core.abs(x)
    y = _erfinv_step(a, 1.0 - a)
    y = tl.where(a < 1e-10, a * 0.886226925452758, tl.where(a == 1.0, float("inf"), y))
    return tl.where(x < 0.0, -y, tl.where(x == 0.0, x, y))


@triton.jit
def erfcinv64(x):
    """3 ulp."""
    c = tl.where(x > 1.0, 2.0 - x, x)
    y = _erfinv_step(1.0 - c, c)
    y = tl.where(c == 0.0, float("inf"), y)
    return tl.where(x > 1.0, -y, y)


@triton.jit
def normcdfinv64(x):
    """-sqrt(2) erfcinv(2x); 4 ulp."""
    y = erfcinv64(x + x)
    # The parts of sqrt(2) would cancel for infinities.
    low = tl.where(core.abs(y) < 100.0, y * 9.667293313452913e-17, 0.0)
    return core.fma(y, -1.4142135623730951, low) + 0.0


# ---- gamma ----


@triton.jit
def _to_near_2(a, steps: tl.constexpr):
    """d in [-1/2, 1/2] and p with gamma(a) = gamma(2 + d) * p for 1.5 <= a < 2.5 + steps, or / p
    for 0 < a < 1.5."""
    y = a
    p = tl.where(a < 1.5, a, 1.0)
    for _ in tl.static_range(steps):
        above = y >= 2.5
        y = tl.where(above, y - 1.0, y)
        p = tl.where(above, p * y, p)
    p = tl.where(a < 0.5, p * (a + 1.0), p)
    y = tl.where(a < 0.5, a, tl.where(a < 1.5, a - 1.0, y - 2.0))
    return y, p


@triton.jit
def lgamma64(x):
    """log|gamma(x)|.  In [1.5, 2.5] lgamma(2+d) / d: deg 18, 2^-56; from 8 on Stirling's series,
    deg 6 in 1/x^2, 2^-64; below, by the recurrence, for negative x by reflection.  4 ulp for
    positive x; for negative x between -12 and -2.2, where there are zeros, an absolute error of
    2^-49."""
    a = core.abs(x)
    big = a >= 8.0
    d, p = _to_near_2(tl.where(big, 2.0, a), 6)
    near = d * basic.poly(
        d, (-7.875665383927629e-08, 2.6251807595250475e-07, -4.985741860393976e-07,
            9.36769334589116e-07, -2.0097579531437695e-06, 4.377653838375488e-06,
            -9.448280306386753e-06, 2.0507156292610874e-05, -4.4924742627811613e-05,
            9.94574776731681e-05, -0.0002231549066366038, 0.0005096695291106483,
            -0.001192753903432193, 0.0028905103305370853, -0.007385551028907295,
            0.020580808427788203, -0.0673523010531955, 0.3224670334241132, 0.42278433509846713))
    log = real64.log(tl.where(big, a, p))
    near = tl.where(a < 1.5, near - log, near + log)
    v = core.div_rn(1.0, a)
    tail = basic.poly(v * v, (0.004984138759659611, -0.0018862159498615535, 0.0008413883237414124,
                              -0.0005952358132623615, 0.000793650786206614, -0.0027777777777669662,
                              0.08333333333333333))
    far = core.fma(a - 0.5, log - 1.0, core.fma(v, tail, 0.4189385332046727))
    r = tl.where(big, far, near)
    # lgamma(-a) = log(pi / (a |sin(pi a)|)) - lgamma(a)
    s = core.abs(real64.sinpi(a)) * a
    reflected = (1.1447298858494002 - real64.log(s)) - r
    r = tl.where((x < 0.0) & (a > 1e-20), tl.where(s == 0.0, float("inf"), reflected), r)
    return tl.where(a == float("inf"), a, r)


@triton.jit
def tgamma64(x):
    """gamma(x).  In [1.5, 2.5] deg 19, 2^-59; from 12 on Stirling's formula, its factor of deg 8 in
    1/x, 2^-65; below, by the recurrence, for negative x by reflection.  6 ulp."""
    a = core.abs(x)
    big = a >= 12.0
    d, p = _to_near_2(tl.where(big, 2.0, a), 10)
    g = basic.poly(d, (-1.3810737736476948e-06, 2.6122434341912757e-06, -3.5304588546781997e-06,
                     7.232280162405086e-06, -1.5334699166407288e-05, 3.056854655646004e-05,
                     -6.0771671071494745e-05, 0.00012165366805274617, -0.0002409442359092991,
                     0.0004903905988883515, -0.0009195736124013376, 0.002103933203950361,
                     -0.0028526458317409643, 0.011154045722975299, -0.0002669820684961174,
                     0.07424901075343218, 0.08157691924708431, 0.41184033042644014,
                     0.42278433509846713, 1.0))
    near = tl.where(a < 1.5, core.div_rn(g, p), g * p)
    # a^(a - 1/2) e^-a
    b = core.min(tl.where(big, a, 12.0), 200.0)
    h, l = real64.log_pair(b)
    y = b - 0.5
    q = y * h
    ql = core.fma(y, l, core.fma(y, h, -q))
    h, l = basic.two_sum(q, -b)
    l = l + ql
    # gamma(-a) = -pi / (a sin(pi a) gamma(a))
    negative = x < 0.0
    e, n = real64.exp_parts(tl.where(negative, -h, h), tl.where(negative, -l, l))
    v = core.div_rn(1.0, b)
    w = 2.5066282746310007 * core.fma(v, basic.poly(v, (
        0.0006929644350354125, -1.6275038846677766e-05, -0.0005960559197956232,
        6.997082068117849e-05, 0.0007840301240891944, -0.00022947189036008492,
        -0.0026813271630413355, 0.003472222222237769, 0.0833333333333333)), 1.0)
    s = core.div_rn(-3.141592653589793, real64.sinpi(a) * a)
    far = real64.scale(e * tl.where(negative, core.div_rn(s, w), w), n)
    r = tl.where(big, far, tl.where(negative, core.div_rn(s, near), near))
    r = tl.where(negative & (core.rint(x) == x), float("nan"), r)
    return tl.where(x != x, x, tl.where(a < 1e-17, core.div_rn(1.0, x), r))
