# nereid: --emit ast
@jit
def f(x):
    y = (x = 3)
    [x = 1]
    x + (y = 2) = 1
