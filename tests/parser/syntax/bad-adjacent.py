# nereid: --emit ast
@jit
def f(x):
    x = a b
    x = 1 2
    x = f(a) b
    print "text"
    if a b: pass
