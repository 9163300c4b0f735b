

@triton.jit
def exact_gelu(x):
    # x times the normal distribution; for -inf the limit, -0.
    if x.dtype == tl.float64:
        x = maximum(x, -40.0)  # from there on -0
        return 0.5 * x * libdevice.erfc(-0.7071067811865476 * x)
    else:
        # For a = |x| it is max(x, 0) - a Q(a), where Q(a), the upper tail erfc(a / sqrt(2)) / 2, is
        # 2^p.  p is a minimax fit of degree 8 to log2 Q on [0, 5.25], weighted by what is left of
        # its errors.  Relative errors are below 7e-7 for x > -1, 2e-6 for x > -2 and 5e-5 for
        # x > -5; absolute ones are below 1.1e-7 for x < 0.
        a = tl.minimum(tl.abs(x), 16.0)  # where 2^p is 0
        p = -7.30614602e-07 * a + 1.21242256e-05
        p = p * a - 4.57639217e-05
        p = p * a - 0.000504789117
        p = p * a + 0.00758259743
        p = p * a - 0.0528804362
        p = p * a - 0.459075719
        p = p * a - 1.15112042
        p = p * a - 1.0
        return maximum(x, 0.0) - a * tl.exp2(p)
