# nereid: --emit ast
@jit
def f(x):
    x = a if b
    f(a if b, c)
    y = [a if b]
