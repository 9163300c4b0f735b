# nereid: --emit ast
@jit
def f(x):
    for = 1
    x = y.in
    x = None.if
    import a as is

@jit
def lambda(x):
    pass
