# nereid: --emit ast
@jit
def f(x):
    f(x=1, y)
    f(**k, *a)
    f(**k, y)
    f(x=1, *a)
