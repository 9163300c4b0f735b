

@triton.jit
def scaled_i0(x):
    # e^-|x| I0(x).  From 700 on, near the end of f64, the asymptotic series.
    a = tl.abs(x.to(tl.float64))
    b = tl.minimum(a, 700.0)
    near = libdevice.cyl_bessel_i0(b) * libdevice.exp(-b)
    far = poly(1.0 / a, (0.22710800170898438, 0.112152099609375, 0.0732421875, 0.0703125, 0.125,
                         1.0))
    far = far * libdevice.rsqrt(6.283185307179586 * a)
    return tl.where(a < 700.0, near, far).to(x.dtype)


@triton.jit
def scaled_i1(x):
    # e^-|x| I1(x), in the same way.
    a = tl.abs(x.to(tl.float64))
    b = tl.minimum(a, 700.0)
    near = libdevice.cyl_bessel_i1(b) * libdevice.exp(-b)
    far = poly(1.0 / a, (-0.2775764465332031, -0.144195556640625, -0.1025390625, -0.1171875,
                         -0.375, 1.0))
    far = far * libdevice.rsqrt(6.283185307179586 * a)
    r = tl.where(a < 700.0, near, far).to(x.dtype)
    return tl.where(x < 0.0, -r, r)


@triton.jit
def bessel_k(x, near, far, SCALED: tl.constexpr):
    # Of the series up to 2 and the expansion from there, which lacks a factor exp(-x) / sqrt(x).
    y = x.to(tl.float64)
    b = tl.maximum(y, 2.0)
    far = far * libdevice.rsqrt(b)
    if SCALED:
        near = near * libdevice.exp(tl.minimum(tl.maximum(y, 5e-324), 2.0))
    else:
        far = far * libdevice.exp(-b)
    r = tl.where(y <= 2.0, near, far)
    r = tl.where(y == 0.0, float("inf"), r)
    return tl.where(y >= 0.0, r, float("nan")).to(x.dtype)


@triton.jit
def bessel_k0(x, SCALED: tl.constexpr):
    # K0(x), times e^x if SCALED.  Up to 2 the series in x^2 / 4, whose coefficients are H(k) / k!^2
    # (H: harmonic numbers); beyond, e^-x / sqrt(x) times a fit in 4 / x - 1, 2^-56.
    y = x.to(tl.float64)
    a = tl.minimum(tl.maximum(y, 5e-324), 2.0)
    t = 0.25 * a * a
    near = t * poly(t, (1.3525001839484812e-17, 1.895299587006153e-15, 2.224275605476294e-13,
                        2.1483350211950277e-11, 1.6718048413148328e-09, 1.0207455998272325e-07,
                        4.72608024691358e-06, 0.0001585648148148148, 0.003616898148148148,
                        0.05092592592592592, 0.375, 1.0))
    near -= (libdevice.log(0.5 * a) + 0.5772156649015329) * libdevice.cyl_bessel_i0(a)
    b = tl.maximum(y, 2.0)
    far = poly(4.0 / b - 1.0, (1.7088091602994506e-11, -2.8693049171860142e-11,
                               -6.667676805752231e-11, 1.1023898044608679e-10,
                               1.6222643666724992e-10, -2.71854364299908e-10,
                               -1.472844638563888e-10, 2.3064033964405703e-10,
                               3.360195816719327e-10, -6.19955377160385e-10,
                               6.354560597694219e-10, -1.3876925452165377e-09,
                               3.3817802903756824e-09, -7.536587919571339e-09,
                               1.7243919486226528e-08, -4.126177693056258e-08,
                               1.0289639495514684e-07, -2.689222882101184e-07,
                               7.427907784929485e-07, -2.1911758298158814e-06,
                               7.002244501469854e-06, -2.473520469856151e-05,
                               9.95605474833179e-05, -0.00047976905676177953,
                               0.0030328918102739684, -0.03107146182488956, 1.2185953385133905))
    return bessel_k(x, near, far, SCALED)


@triton.jit
def bessel_k1(x, SCALED: tl.constexpr):
    # K1(x) in the same way; coefficients of the series are (H(k) + H(k + 1)) / (2 k! (k + 1)!).
    y = x.to(tl.float64)
    a = tl.minimum(tl.maximum(y, 5e-324), 2.0)
    t = 0.25 * a * a
    near = 1.0 / a - 0.5 * a * poly(t, (1.6012082716216524e-16, 2.0534491389789724e-14,
                                        2.1863053133356607e-12, 1.895531226934892e-10,
                                        1.3066879364179534e-08, 6.948381204333586e-07,
                                        2.7391975308641977e-05, 0.0007581018518518518,
                                        0.013599537037037037, 0.1388888888888889, 0.625, 0.5))
    near += (libdevice.log(0.5 * a) + 0.5772156649015329) * libdevice.cyl_bessel_i1(a)
    b = tl.maximum(y, 2.0)
    far = poly(4.0 / b - 1.0, (-1.848303606967482e-11, 3.109186281922316e-11, 7.1921009035841e-11,
                               -1.1908900034003334e-10, -1.754037725101976e-10,
                               2.945269891421564e-10, 1.5739303945667333e-10,
                               -2.4610190645570503e-10, -3.6979880002823807e-10,
                               6.857859248283152e-10, -7.237465098138615e-10,
                               1.5871116313418612e-09, -3.86764387075988e-09,
                               8.680511006575475e-09, -2.0031192903927542e-08,
                               4.837802386556985e-08, -1.219688795067239e-07,
                               3.2299816462037967e-07, -9.067203469612786e-07,
                               2.73003931168027e-06, -8.96120614398344e-06, 3.28438657068089e-05,
                               -0.0001395902196312159, 0.0007357241549033262,
                               -0.005566729880073119, 0.10334973775386527, 1.363151890371342))
    return bessel_k(x, near, far, SCALED)
