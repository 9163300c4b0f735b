# nereid: --emit ast
@jit
def f(x):
    pass

@jit
def g(x, x): pass

@jit
def h(x=1, y): pass

@jit
def i(*a, *b): pass

@jit
def j(**k, x): pass

@jit
def k(x, *): pass

@jit
def l():
    return lambda x, y, x: 1
