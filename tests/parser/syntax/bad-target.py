# nereid: --emit ast
@jit
def f(x):
    f(x) = 1
    1 = x
    "a" += 1
    a + b = c
    a, None = c
    for 1 in x: pass
    (a, b) += 1
    [a]: int
    del f()
    with a as f(): pass
    [x for f() in y]
    a < b = c
    x = lambda: 0 = 1
    a if b else c = 1
