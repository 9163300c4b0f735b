

@triton.jit
def order_of(n):
    # n without its fraction; -1 where that is no i64.
    return tl.where(tl.abs(n) < 9e18, n, -1.0).to(tl.int64)


@triton.jit
def recurrence(x, k, first, wanted, KIND: tl.constexpr):
    # The polynomial of order k by its recurrence, from 1 and `first`, where it is wanted.
    before = tl.where(k == k, 1.0, x)
    at = tl.where(k == k, first, x)
    r = tl.where(k == 0, before, at)
    for m in range(2, largest(tl.where(wanted, k, 0)) + 1):
        if KIND == "chebyshev":
            after = (x + x) * at - before
        elif KIND == "hermite_h":
            after = (x + x) * at - (2 * m - 2) * before
        elif KIND == "hermite_he":
            after = x * at - (m - 1) * before
        elif KIND == "laguerre":
            after = ((2 * m - 2 + (1.0 - x)) * at - (m - 1) * before) / m
        else:
            after = ((2 * m - 1) * x * at - (m - 1) * before) / m
        before = at
        at = after
        r = tl.where(k == m, at, r)
    return r


@triton.jit
def chebyshev(x, n, KIND: tl.constexpr, STEPS: tl.constexpr):
    # The polynomial of the kind "t", "u", "v" or "w"; within (-1, 1), above STEPS, by the cosine.
    x, n = alike(x, n), alike(n, x)
    k = order_of(n)
    angle = libdevice.acos(x)
    if KIND == "t":
        first = x
        turned = libdevice.cos(k * angle)
        right = tl.where(k == k, 1, k)
        left = right
    elif KIND == "u":
        first = x + x
        turned = libdevice.sin((k + 1) * angle) / libdevice.sin(angle)
        right = k + 1
        left = right
    elif KIND == "v":
        first = x + x - 1.0
        turned = libdevice.cos((k + 0.5) * angle) / libdevice.cos(angle / 2)
        right = tl.where(k == k, 1, k)
        left = k + k + 1
    else:
        first = x + x + 1.0
        turned = libdevice.sin((k + 0.5) * angle) / libdevice.sin(angle / 2)
        right = k + k + 1
        left = tl.where(k == k, 1, k)
    inside = (tl.abs(x) < 1.0) & (k > STEPS)
    end = tl.abs(x) == 1.0
    r = recurrence(x, k, first, (inside | end) == 0, "chebyshev")
    r = tl.where(inside, turned, r)
    at_end = tl.where(x > 0.0, right, tl.where(k % 2 == 0, left, -left))
    r = tl.where(end, at_end.to(x.dtype), r)
    return tl.where(k < 0, 0.0, r)


@triton.jit
def hermite(x, n, KIND: tl.constexpr):
    # NaN above an order that the dtype decides.
    x, n = alike(x, n), alike(n, x)
    k = order_of(n)
    most = 512 if x.dtype == tl.float64 else 128
    first = x + x if KIND == "hermite_h" else x
    r = recurrence(x, k, first, k <= most, KIND)
    return tl.where(k < 0, 0.0, tl.where(k > most, float("nan"), r))


@triton.jit
def laguerre(x, n):
    x, n = alike(x, n), alike(n, x)
    k = order_of(n)
    r = recurrence(x, k, 1.0 - x, x != 0.0, "laguerre")
    return tl.where(k < 0, 0.0, tl.where(x == 0.0, 1.0, r))


@triton.jit
def legendre(x, n):
    x, n = alike(x, n), alike(n, x)
    k = order_of(n)
    end = tl.abs(x) == 1.0
    r = recurrence(x, k, x, end == 0, "legendre")
    r = tl.where(end, tl.where((x > 0.0) | (k % 2 == 0), 1.0, -1.0), r)
    return tl.where(k < 0, 0.0, r)
