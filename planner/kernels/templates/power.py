

@triton.jit
def constant_power(x, n: tl.constexpr):
    # By squares; no statement here is left at run time but the products.
    power = x * 0 + 1
    factor = x
    for bit in tl.static_range(63):
        if (n >> bit) & 1:
            power = power * factor
        if n >> (bit + 1):
            factor = factor * factor
    return power


@triton.jit
def integer_power(x, n):
    # By squares, until no exponent has a bit left.  Only 1 and -1 have an inverse.
    odd = (n & 1) != 0
    power = x * 0 + 1
    power, n = tl.broadcast(power, n)
    factor = power * x
    left = tl.where(n < 0, 0, n)
    going = largest((left != 0).to(tl.int32))
    while going > 0:
        power = tl.where((left & 1) != 0, power * factor, power)
        factor = factor * factor
        left = left >> 1
        going = largest((left != 0).to(tl.int32))
    inverse = tl.where(x == 1, 1, tl.where(x + 1 == 0, tl.where(odd, -1, 1), 0))
    return tl.where(n < 0, inverse.to(power.dtype), power)


@triton.jit
def power_of_2(n):
    # The bits of a number with an exponent, which infinity's follow, or of a smaller one.
    e = tl.minimum(tl.maximum(n, -150), 128)
    small = (2 << tl.minimum(e + 150, 23)) >> 2
    return tl.where(e > -127, (e + 127) << 23, small).to(tl.float32, bitcast=True)
