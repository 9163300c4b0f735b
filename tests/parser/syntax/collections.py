@jit
def f(x):
    ()
    (x)
    (x,)
    (x, x)
    x, x
    x,
    []
    [x, *x]
    {}
    {x: x, **x, 1: 2,}
    {x, *x}
    (yes, (no, maybe))
