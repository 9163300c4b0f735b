# nereid: --emit ast
@jit
def f(x):
    x = "abc
    z = f"a{x}
    w = rb'x
    y = 'a\
    z = 1
