# nereid: --emit ast
@jit
def f(x):
    x = !x
    x = a ? b : c
    x = $y
    x = “text”
    x = 1
    x = a − b
    x = 5€
