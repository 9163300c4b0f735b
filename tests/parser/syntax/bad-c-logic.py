# nereid: --emit ast
@jit
def f(x):
    x = a && b
    x = a || b
    x = !a
