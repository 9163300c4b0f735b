# nereid: --emit ast
@jit
def f(x):
    if x: pass
    else if y: pass
