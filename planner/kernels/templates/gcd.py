

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
