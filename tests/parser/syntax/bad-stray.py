# nereid: --emit ast
@jit
def f(x):
    x = a)
    y = 1]
