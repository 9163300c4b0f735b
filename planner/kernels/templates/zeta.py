

@triton.jit
def zeta(s, q):
    # Hurwitz's zeta function, the sum of (q + i)^-s: the first terms, until q + i > 9, and the rest
    # by Euler and Maclaurin's formula.  Terms past the end of f64 are 0.
    s, q = alike(s, q), alike(q, s)
    x = s.to(tl.float64)
    a = q.to(tl.float64)
    pole = (a <= 0.0) & (a == libdevice.floor(a))
    beside = (a <= 0.0) & (x != libdevice.floor(x))
    at = tl.where((x > 1.0) & (pole == 0) & (beside == 0), a, 1.0)
    y = tl.where(x > 1.0, x, 2.0)
    steps = largest(tl.maximum(10.0 - libdevice.floor(at), 10.0))
    total = at * 0.0
    for _ in range(0, steps.to(tl.int64)):
        total += libdevice.pow(at, -y)
        at += 1.0
    term = libdevice.pow(at, -y)
    rest = term * (at / (y - 1.0) + 0.5)
    # B(2k) / (2k)! y (y + 1) .. (y + 2k - 2) / at^(2k - 1)
    b: tl.constexpr = (0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05,
                       -8.267195767195768e-07, 2.08767569878681e-08, -5.284190138687493e-10,
                       1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
                       -2.1748686985580619e-16)
    term = term * y / at
    for k in tl.static_range(len(b)):
        rest += tl.where(term == 0.0, 0.0, term * b[k])
        term = term * ((y + (2 * k + 1)) / at) * ((y + (2 * k + 2)) / at)
    r = total + tl.where(y < 1e3, rest, 0.0)
    r = tl.where(beside, float("nan"), r)
    r = tl.where(pole, float("inf"), r)
    r = tl.where(x == 1.0, float("inf"), tl.where(x > 1.0, r, float("nan")))
    return tl.where((a == a) & (x == x), r, float("nan")).to(s.dtype)
