

@triton.jit
def gcd(a, b):
    # Euclid's algorithm, until all elements are done.  The result of the least integer is itself.
    a = tl.abs(a)
    b = tl.abs(b)
    going = largest((b != 0).to(tl.int32))
    while going > 0:
        rest = a % tl.where(b == 0, 1, b)
        a, b = tl.where(b == 0, a, b), tl.where(b == 0, 0, rest)
        going = largest((b != 0).to(tl.int32))
    return a


@triton.jit
def next_after(x, y):
    # The number next to x towards y: one more or less of x's bits.
    if x.dtype == tl.float64:
        bits = x.to(tl.int64, bitcast=True)
    elif x.dtype == tl.float32:
        bits = x.to(tl.int32, bitcast=True)
    else:
        bits = x.to(tl.int16, bitcast=True)
    away = (x < y) == (x > 0.0)
    one = tl.where(away, 1, -1).to(bits.dtype)
    least = tl.where(y > 0.0, 1, 1 - (1 << (bits.dtype.primitive_bitwidth - 1))).to(bits.dtype)
    r = tl.where(x == 0.0, least, bits + one).to(x.dtype, bitcast=True)
    r = tl.where(x == y, y, r)
    return tl.where((x == x) & (y == y), r, x + y)
