# nereid: --emit ast
@jit
def f(x):
    x = (a, [b, c)
    y = f"{x[0}"
    z = {1)
