# nereid: --emit ast
@jit
def f(x):
    if x
        y = 1 1
    elif x > (y)
        pass
    else
        pass
    for i in range(3)
        pass
    while x {
    with a as b
        pass
    try
        pass
    except A
        pass

@jit
def g(x)
    return x
