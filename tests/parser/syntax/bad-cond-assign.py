# nereid: --emit ast
@jit
def f(x):
    if x = 3:
        pass
    elif (x = 4):
        pass
    while x = 1: pass
    assert x = 1
