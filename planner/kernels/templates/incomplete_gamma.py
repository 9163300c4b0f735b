

@triton.jit
def gamma_factor(a, x):
    # x^a e^-x / gamma(a + 1)
    return libdevice.exp(a * libdevice.log(x) - x - libdevice.lgamma(a + 1.0))


@triton.jit
def gamma_series(a, x, wanted):
    # P(a, x) by its power series, for x below a + 1.
    a = tl.where(wanted, a, 1.0)
    x = tl.where(wanted, x, 0.5)
    term = a * 0.0 + 1.0
    total = term
    at = a
    going = largest((x > 0.0).to(tl.int32))
    while going > 0:
        for _ in tl.static_range(8):
            at += 1.0
            term *= x / at
            total += term
        going = largest((term > total * 1e-17).to(tl.int32))
    return gamma_factor(a, x) * total


@triton.jit
def gamma_fraction(a, x, wanted):
    # Q(a, x) by its continued fraction, for x above a and 1 (Lentz).
    a = tl.where(wanted, a, 1.0)
    x = tl.where(wanted, x, 2.0)
    b = x + 1.0 - a
    c = b * 0.0 + 1e300
    d = 1.0 / b
    h = d
    step = 1.0
    going = largest((x > 0.0).to(tl.int32))
    while going > 0:
        for _ in tl.static_range(4):
            n = -step * (step - a)
            b += 2.0
            d = 1.0 / (n * d + b)
            c = b + n / c
            h *= c * d
            step += 1.0
        going = largest((tl.abs(c * d - 1.0) > 4e-16).to(tl.int32))
    return gamma_factor(a, x) * a * h


@triton.jit
def gamma_near_0(a, x):
    # Q(a, x) for x up to 1.1, without the cancellation of 1 - P: 1 - x^a / gamma(a + 1), less all
    # but the first term of a x^a / gamma(a + 1) sum (-x)^n / (n! (a + n)).
    power = a * libdevice.log(x) - libdevice.lgamma(a + 1.0)
    term = x * 0.0 + 1.0
    total = x * 0.0
    for n in tl.static_range(1, 22):
        term *= x * (-1.0 / n)
        total += term / (a + n)
    return -libdevice.expm1(power) - libdevice.exp(power) * a * total


@triton.jit
def gamma_large(a, x, UPPER: tl.constexpr):
    # Temme's uniform expansion for large a: e^2 / 2 = m - log(1 + m), m = x / a - 1.
    m = (x - a) / a
    small = tl.abs(m) < 0.03
    n = tl.where(small, m, 0.0)
    half = n * n * poly(n, (-0.09090909090909091, 0.1, -0.1111111111111111, 0.125,
                            -0.14285714285714285, 0.16666666666666666, -0.2, 0.25,
                            -0.3333333333333333, 0.5))
    half = tl.where(small, half, m - libdevice.log1p(m))
    e = libdevice.sqrt(half + half)
    e = tl.where(m < 0.0, -e, e)
    near = tl.minimum(tl.maximum(e, -1.0), 1.0)
    v = 1.0 / a
    total = poly(near, (-2.396505113867297e-07, -7.561801671883977e-05, 0.00026772063206283885,
                        -0.0004691894943952557, 0.00022947209362139917, 0.0006494341563786008))
    total = total * v + poly(near, (1.3721957309062934e-06, 3.423578734096138e-08,
                                    -1.2760635188618728e-05, 5.2923448829120125e-05,
                                    -0.0001073665322636516, 2.0093878600823047e-06,
                                    0.0007716049382716049, -0.0026813271604938273,
                                    0.004133597883597883))
    total = total * v + poly(near, (-5.752545603517705e-08, 1.378633446915721e-07,
                                    4.647127802807434e-09, -1.6120900894563446e-06,
                                    7.64916091608111e-06, -1.8098550334489977e-05,
                                    -4.018775720164609e-07, 0.00020576131687242798,
                                    -0.0009902263374485596, 0.0026455026455026454,
                                    -0.003472222222222222, -0.001851851851851852))
    total = total * v + poly(near, (-4.382036018453353e-09, 1.0261809784240309e-08,
                                    6.707853543401498e-09, -1.7665952736826078e-07,
                                    8.296711340953087e-07, -1.85406221071516e-06,
                                    -2.185448510679992e-06, 3.919263178522438e-05,
                                    -0.0001787551440329218, 0.0003527336860670194,
                                    0.0011574074074074073, -0.014814814814814815,
                                    0.08333333333333333, -0.3333333333333333))
    total = total * libdevice.exp(-a * half) * libdevice.rsqrt(6.283185307179586 * a)
    root = e * libdevice.sqrt(0.5 * a)
    if UPPER:
        return 0.5 * libdevice.erfc(root) + total
    else:
        return 0.5 * libdevice.erfc(-root) - total


@triton.jit
def incomplete_gamma(a, x, UPPER: tl.constexpr):
    # The regularized incomplete gamma functions, P(a, x) or with UPPER Q(a, x).
    dtype = a.dtype
    a = a.to(tl.float64)
    x = x.to(tl.float64)
    inner = (a > 0.0) & (x > 0.0) & (a < float("inf")) & (x < float("inf"))
    large = inner & (a > 1e4)
    if UPPER:
        near = inner & (x <= 1.1) & (a <= tl.maximum(x, -0.4 / libdevice.log(x)))
    else:
        near = inner & (a < 0.0)
    series = inner & (large == 0) & (near == 0) & ((x <= 1.0) | (x <= a))
    fraction = inner & (large == 0) & (near == 0) & (series == 0)
    below = gamma_series(a, x, series)
    above = gamma_fraction(a, x, fraction)
    if UPPER:
        r = tl.where(series, 1.0 - below, above)
        r = tl.where(near, gamma_near_0(a, x), r)
    else:
        r = tl.where(series, below, 1.0 - above)
    r = tl.where(large, gamma_large(a, x, UPPER), r)
    zero = 1.0 if UPPER else 0.0
    r = tl.where((x == 0.0) | (a == float("inf")), zero, r)
    r = tl.where((a == 0.0) | ((x == float("inf")) & (a < float("inf"))), 1.0 - zero, r)
    undefined = ((a == 0.0) & (x == 0.0)) | ((a == float("inf")) & (x == float("inf")))
    return tl.where((a >= 0.0) & (x >= 0.0) & (undefined == 0), r, float("nan")).to(dtype)
