# nereid: --emit ast
@jit
def f(x):
    x = 1
        y = 2
        z = 3 3
    w = 4 4
