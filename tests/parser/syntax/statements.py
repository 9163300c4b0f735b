@jit
def f(x, y):
    """A docstring."""
    x = 1
    x = y = (a, b) = 2
    a, *b = x
    [a, b] = x
    x[0], y.z = 1, 2
    x += 1; x -= 1; x *= 1; x /= 1; x //= 1; x %= 1; x @= 1
    x &= 1; x |= 1; x ^= 1; x <<= 1; x >>= 1; x **= 1;
    x: tl.constexpr = 5
    x: int
    x.y: "quoted" = 1
    assert x
    assert x, "message"
    raise
    raise ValueError("text")
    raise ValueError from x
    del x, y[0]
    global g, h
    pass
    ...
    import a.b
    return
    return x
    return x, y
