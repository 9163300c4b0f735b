

@triton.jit
def log_add(a, b):
    # log(exp(a) + exp(b)); an infinite maximum is not taken off, inf - inf is NaN.
    most = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    least = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    infinite = tl.abs(most) == float("inf")
    low = tl.where(infinite, float("-inf"), least - most)
    return most + libdevice.log1p(libdevice.exp(low))


@triton.jit
def later_max(a, i, b, j):
    # Of equal elements the later one, and NaN before all others.
    later = (b >= a) | (b != b)
    return tl.where(later, b, a), tl.where(later, j, i)


@triton.jit
def later_min(a, i, b, j):
    later = (b <= a) | (b != b)
    return tl.where(later, b, a), tl.where(later, j, i)


@triton.jit
def sorted_rows(x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    # A bitonic network whose steps are made by a loop; COLUMNS is a power of two.
    column = tl.arange(0, COLUMNS)[None, :]
    size = 2
    while size <= COLUMNS:
        distance = size // 2
        while distance > 0:
            partner = tl.broadcast_to(column ^ distance, [ROWS, COLUMNS])
            other = tl.gather(x, partner, 1)
            smaller = ((column & distance) == 0) == ((column & size) == 0)
            x = tl.where(smaller, tl.minimum(x, other), tl.maximum(x, other))
            distance = distance // 2
        size = size * 2
    return x

