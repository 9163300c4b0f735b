

@triton.jit
def poly(x, c: tl.constexpr):
    # c[0] x^n + ... + c[n]
    p = x * c[0] + c[1]
    for i in tl.static_range(2, len(c)):
        p = p * x + c[i]
    return p


@triton.jit
def largest(n):
    # The largest element, or n itself if it is a scalar.
    if len(n.shape) == 0:
        return n
    else:
        return tl.max(n, None)


@triton.jit
def alike(x, y):
    # x, which may be a number, with the dtype and the shape of y.
    return tl.where((y == y) | (y != y), x, y)
