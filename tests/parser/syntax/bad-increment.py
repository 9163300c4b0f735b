# nereid: --emit ast
@jit
def f(x):
    i++
    i--
    x = i++
