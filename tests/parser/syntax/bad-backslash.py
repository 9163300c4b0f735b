# nereid: --emit ast
@jit
def f(x):
    x = a \ b
    y = 1 1
