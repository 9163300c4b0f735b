# nereid: --emit ast
@jit
def f(x):
    x = a +
    x =
    x = not
    for
    import
    from a import
    assert
    x.
