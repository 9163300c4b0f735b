# nereid: --emit ast
@jit
def f(x):
    s = f"{x"
    s = f"{x!r"
    s = f"{x:3"
    s = f"{x
    y = 1
    return 1
