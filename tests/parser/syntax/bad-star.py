# nereid: --emit ast
@jit
def f(x):
    *x
    (*x)
    return *x
    for *x in y: pass
    f"{*x}"
