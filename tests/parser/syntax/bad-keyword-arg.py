# nereid: --emit ast
@jit
def f(x):
    f(x.y=1)
    f(x[0] = 2)
    f(1=2)
