# Bessel functions of f64, for libdevice.py.  Below 8 polynomials in t = x^2/32 - 1 (I0, I1: in x^2,
# where all coefficients are positive, so that nothing cancels); from 8 on the P and Q of Hankel's
# expansion, polynomials in v = (8/x)^2 (I0, I1: in 16/x - 1).  All are minimax fits.  J and Y: an
# absolute error of 2^-51, relative to the amplitude 1/sqrt(x).
import triton
import triton.language as tl
from nereid import basic, core, real64


@triton.jit
def _sum_and_difference(x):
    """sin x + cos x and sin x - cos x, over sqrt(pi x)."""
    s = real64.sin(x)
    c = real64.cos(x)
    r = real64.rsqrt(3.141592653589793 * x)
    return (s + c) * r, (s - c) * r


@triton.jit
def _amplitudes_0(x):
    """P and Q of order 0: deg 12 in v, 2^-58 and 2^-52."""
    i = core.div_rn(1.0, x)
    v = 64.0 * i * i
    p = basic.poly(v, (1.4422691861884692e-10, -1.0759299302671966e-09, 3.783626784308193e-09,
                       -8.610011578737087e-09, 1.5135250617238355e-08, -2.4372618472141068e-08,
                       4.3474065865967006e-08, -1.0231796481275489e-07, 3.620227439855583e-07,
                       -2.1839181994833687e-06, 2.73808836391011e-05, -0.0010986328124992556, 1.0))
    q = basic.poly(v, (-1.1481891331919012e-09, 8.510297086884616e-09, -2.9558902042078538e-08,
                       6.570051111171908e-08, -1.1050652525269089e-07, 1.6446770690158352e-07,
                       -2.587612700680106e-07, 5.121066602906966e-07, -1.4530139744263853e-06,
                       6.5907431214009205e-06, -5.5446288880589626e-05, 0.0011444091796775182,
                       -0.12499999999999997))
    return p, q * i


@triton.jit
def _amplitudes_1(x):
    """P and Q of order 1: deg 12 in v, 2^-58 and 2^-53.5."""
    i = core.div_rn(1.0, x)
    v = 64.0 * i * i
    p = basic.poly(v, (-1.531282221951446e-10, 1.143131854351587e-09, -4.024501999858508e-09,
                       9.175949957354493e-09, -1.6186340787000605e-08, 2.6228284407969746e-08,
                       -4.7277360717253076e-08, 1.1309531187405559e-07, -4.10293854419153e-07,
                       2.580994411638018e-06, -3.5203993262771e-05, 0.0018310546874992133, 1.0))
    q = basic.poly(v, (1.2566291902335716e-09, -9.268129341110372e-09, 3.20288166571789e-08,
                       -7.085947831970508e-08, 1.1880869506357662e-07, -1.7687772615344726e-07,
                       2.7994147112133386e-07, -5.610228224036769e-07, 1.6239849702600704e-06,
                       -7.604706990387839e-06, 6.776768663693457e-05, -0.0016021728515556435,
                       0.375))
    return p, q * i


@triton.jit
def _j0_near(x):
    """J0 on [0, 8]: deg 16, 2^-62."""
    t = core.fma(x * 0.03125, x, -1.0)
    return basic.poly(t, (3.6702621426839955e-13, -1.2483913851888705e-11, 3.364834771486055e-10,
                          -7.91513225882242e-09, 1.595608552365219e-07, -2.717749509641911e-06,
                          3.847319806623366e-05, -0.00044354592221298474, 0.004058078989036122,
                          -0.0284727186109711, 0.14598884856762137, -0.5074680458470814,
                          1.0383794611437172, -0.8080888076696889, -0.6484692830871834,
                          0.9303012472958572, 0.04582966485981377))


@triton.jit
def _j1_near(x):
    """J1 on [0, 8]: times x, deg 15, 2^-60."""
    t = core.fma(x * 0.03125, x, -1.0)
    return x * basic.poly(t, (-4.0197036606736594e-13, 1.1676199895716363e-11,
                              -2.9429549182903336e-10, 6.431129250895466e-09,
                              -1.1967082789716946e-07, 1.8684526885580093e-06,
                              -2.4045748652282082e-05, 0.0002494945813009548,
                              -0.0020290394945738166, 0.01245681439228439, -0.05474581821284649,
                              0.15858376432721477, -0.25959486528593034, 0.1515166514380666,
                              0.08105866038589796, -0.05814382795599107))


@triton.jit
def j0(x):
    a = core.abs(x)
    b = core.max_nan(a, 8.0)
    p, q = _amplitudes_0(b)
    plus, minus = _sum_and_difference(b)
    far = core.fma(p, plus, -q * minus)
    r = tl.where(a < 8.0, _j0_near(core.min(a, 8.0)), far)
    return tl.where(a == float("inf"), 0.0, r)


@triton.jit
def j1(x):
    a = core.abs(x)
    b = core.max_nan(a, 8.0)
    p, q = _amplitudes_1(b)
    plus, minus = _sum_and_difference(b)
    far = core.fma(p, minus, q * plus)
    r = tl.where(a < 8.0, _j1_near(core.min(a, 8.0)), far)
    r = tl.where(a == float("inf"), 0.0, r)
    # Odd; the sign of zero stays.
    return core.bitcast(core.bitcast(r, tl.int64) ^ real64.sign(x), tl.float64)


@triton.jit
def y0(x):
    """Y0 - 2/pi log x J0 on [0, 8]: deg 16, 2^-61."""
    b = core.max_nan(x, 8.0)
    p, q = _amplitudes_0(b)
    plus, minus = _sum_and_difference(b)
    far = core.fma(p, minus, q * plus)
    a = core.min(core.max(x, 5e-324), 8.0)
    t = core.fma(a * 0.03125, a, -1.0)
    near = basic.poly(t, (-9.727405030753608e-13, 2.6859673546669485e-11, -7.126724864301511e-10,
                          1.639112460931961e-08, -3.218514268676468e-07, 5.321318440644851e-06,
                          -7.279541824615083e-05, 0.0008061586062399094, -0.007025741057561402,
                          0.04636704768126332, -0.21895747096163645, 0.6721770783431908,
                          -1.0775477338216104, 0.14412632369302267, 1.6470964788745472,
                          -0.8284358903604587, -0.382250654459425))
    near = core.fma(0.6366197723675814 * real64.log(a), _j0_near(a), near)
    r = tl.where(x < 8.0, near, far)
    r = tl.where(x == 0.0, float("-inf"), tl.where(x == float("inf"), 0.0, r))
    return tl.where(x < 0.0, float("nan"), r)


@triton.jit
def y1(x):
    """Y1 - 2/pi (log x J1 - 1/x) on [0, 8]: times x, deg 16, 2^-65."""
    b = core.max_nan(x, 8.0)
    p, q = _amplitudes_1(b)
    plus, minus = _sum_and_difference(b)
    far = core.fma(q, minus, -p * plus)
    a = core.min(core.max(x, 5e-324), 8.0)
    t = core.fma(a * 0.03125, a, -1.0)
    near = a * basic.poly(t, (-1.2903366553808606e-13, 8.751058758689453e-13,
                              -2.4474876182632885e-11, 6.169721562524081e-10,
                              -1.3154001086972324e-08, 2.3804929918579614e-07,
                              -3.6009992923798764e-06, 4.4674330130273866e-05,
                              -0.0004438173437886175, 0.0034224907399173143,
                              -0.019628756833027543, 0.07854786922242563, -0.19639839859931346,
                              0.23507209206669752, 0.023367571720994042, -0.24337743079193114,
                              0.07075985882118005))
    near = core.fma(0.6366197723675814 * real64.log(a), _j1_near(a), near)
    near = near - core.div_rn(0.6366197723675814, a)
    r = tl.where(x < 8.0, near, far)
    r = tl.where(x == 0.0, float("-inf"), tl.where(x == float("inf"), 0.0, r))
    return tl.where(x < 0.0, float("nan"), r)


@triton.jit
def _largest(n):
    """The largest element, or n itself if it is a scalar."""
    if len(n.shape) == 0:
        return n
    else:
        return tl.max(n, None)


@triton.jit
def jn(n, x):
    """J of order n (i32): the recurrence upwards where n < |x|; else downwards from well above n,
    and scaled so that J0 + 2 J2 + 2 J4 + ... = 1.  NaN for negative n."""
    a = core.abs(x)
    inverse = core.div_rn(2.0, a)
    top = core.max(_largest(n), 1)
    before = j0(a)
    at = j1(a)
    up = tl.where(n == 0, before, at)
    # Near 0, (x/2)^n / n! and one term more.
    term = tl.where(n == 0, 1.0 + 0.0 * at, 0.5 * a)
    for k in range(1, top):
        after = core.fma(k * inverse, at, -before)
        before = at
        at = after
        up = tl.where(n == k + 1, at, up)
        term = tl.where(n > k, term * core.div_rn(0.5 * a, (k + 1).to(tl.float64) + 0.0 * a), term)
    # Downwards, from an even order.
    start = (top + (6.0 * core.sqrt_rn(top.to(tl.float64))).to(tl.int32) + 40) & -2
    above = 0.0 * a
    now = above + 1e-300
    total = above
    down = above
    inverse = core.div_rn(2.0, core.max(a, 1e-5))
    for i in range(0, start):
        k = start - i
        below = core.fma(k * inverse, now, -above)
        above = now
        now = below
        # Keeps everything in range.
        huge = core.abs(now) > 1e100
        s = tl.where(huge, 1e-100 + above * 0.0, 1.0 + above * 0.0)
        now = now * s
        above = above * s
        total = total * s
        down = tl.where(n == k - 1, now, down * s)
        total = tl.where(((k - 1) & 1) == 0, total + now + now, total)
    down = core.div_rn(down, total - now)
    r = tl.where(n.to(tl.float64) < a, up, down)
    near = core.fma(term, core.div_rn(-0.25 * a * a, (n + 1).to(tl.float64)), term)
    r = tl.where(a < 1e-5, near, r)
    r = tl.where(a == float("inf"), 0.0, r)
    r = tl.where((x < 0.0) & ((n & 1) == 1), -r, r)
    return tl.where((n < 0) | (x != x), float("nan"), r)


@triton.jit
def yn(n, x):
    """Y of order n (i32), by the recurrence upwards.  NaN for negative n."""
    inverse = core.div_rn(2.0, x)
    top = core.max(_largest(n), 1)
    before = y0(x)
    at = y1(x)
    r = tl.where(n == 0, before, at)
    for k in range(1, top):
        after = core.fma(k * inverse, at, -before)
        # Once infinite, it stays so.
        after = tl.where(at == float("-inf"), at, after)
        before = at
        at = after
        r = tl.where(n == k + 1, at, r)
    return tl.where(n < 0, float("nan"), r)


@triton.jit
def _exp_scaled(a, f):
    """e^a f, where e^a alone may be out of range."""
    e = real64.exp(0.5 * a)
    return e * f * e


@triton.jit
def i0(x):
    """I0 on [0, 8]: deg 15, 2^-60; from 8 on e^-x sqrt(x) I0: deg 25, 2^-53; 4 ulp."""
    a = core.abs(x)
    b = core.min(a, 8.0)
    near = basic.poly(b * b, (8.56697856220374e-34, 4.199211094481399e-31, 3.9335507094155436e-28,
                              2.5901729160405397e-25, 1.4967788454832168e-22, 7.242074017807877e-20,
                              2.896908912170868e-17, 9.385965799656912e-15, 2.402807567833101e-12,
                              4.709502795105182e-10, 6.781684027919248e-08, 6.781684027771295e-06,
                              0.00043402777777779505, 0.015624999999999977, 0.25, 1.0))
    b = core.max_nan(a, 8.0)
    f = basic.poly(core.div_rn(16.0, b) - 1.0, (2.442764197184258e-11, 1.0620866893735071e-10,
                                                -1.734862835924883e-10, -5.468461544058452e-10,
                                                5.75669581519355e-10, 1.0273529024227891e-09,
                                                -1.2466738305809987e-09, -3.6824413990941054e-10,
                                                2.20945729090882e-09, -2.105794982666122e-09,
                                                -3.976089209845142e-09, 4.988164549056852e-09,
                                                7.769575961251098e-09, -4.36988963186319e-09,
                                                -1.3476166419349086e-08, -7.036625050283814e-09,
                                                7.568284642506537e-09, 2.1599612278712135e-08,
                                                3.932414975202301e-08, 8.871682224478612e-08,
                                                2.9735997638254907e-07, 1.4838478589523385e-06,
                                                1.1143033787195265e-05, 0.0001362160743855579,
                                                0.003360551983667896, 0.4021765094450081))
    far = _exp_scaled(core.min_nan(b, 800.0), f * real64.rsqrt(b))
    return tl.where(a < 8.0, near, tl.where(a == float("inf"), a, far))


@triton.jit
def i1(x):
    """I1 on [0, 8]: times x, deg 15, 2^-63; from 8 on e^-x sqrt(x) I1: deg 25, 2^-56; 4 ulp."""
    a = core.abs(x)
    b = core.min(a, 8.0)
    near = b * basic.poly(b * b,
                          (2.631276998107831e-35, 1.4203407737231768e-32, 1.4006974896254976e-29,
                           9.967128018272943e-27, 6.2361934110523196e-24, 3.2918726741967253e-21,
                           1.4484536553330996e-18, 5.214425664333387e-16, 1.5017547255839483e-13,
                           3.3639305685252936e-11, 5.651403356543712e-09, 6.781684027774702e-07,
                           5.425347222222312e-05, 0.0026041666666666652, 0.0625, 0.5))
    b = core.max_nan(a, 8.0)
    f = basic.poly(core.div_rn(16.0, b) - 1.0, (-1.9621911169862967e-11, 8.817764628674782e-11,
                                                1.4182773626686904e-10, -6.293650716624795e-10,
                                                -4.813271113818373e-10, 2.096104013823922e-09,
                                                1.0762025785160659e-09, -4.429178608798553e-09,
                                                -1.99956625020657e-09, 6.865561583847331e-09,
                                                3.8110962198981e-09, -8.29368395102075e-09,
                                                -7.821509315838037e-09, 6.151245361437886e-09,
                                                1.4090364962637899e-08, 6.683386564885628e-09,
                                                -8.439281368017483e-09, -2.336449811252241e-08,
                                                -4.31277124545814e-08, -1.0001392192960572e-07,
                                                -3.483856808816555e-07, -1.8349100724846753e-06,
                                                -1.5038547197074442e-05, -0.00021923576383530474,
                                                -0.00974957719323577, 0.38939845902587233))
    far = _exp_scaled(core.min_nan(b, 800.0), f * real64.rsqrt(b))
    r = tl.where(a < 8.0, near, tl.where(a == float("inf"), a, far))
    return core.bitcast(core.bitcast(r, tl.int64) | real64.sign(x), tl.float64)
