# nereid: --emit ast
@jit
def f(x):
    x = (a +
         b[1
    return x

@jit
def g(x:
    pass
