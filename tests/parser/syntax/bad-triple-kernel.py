# nereid: --emit ast
@jit
def f(x):
    y = f"""{x} never closed
