# nereid: --emit ast
@jit
def f(x):
    x = a + * b
    x = , 1
    f(a, , b)
    x = [1 2]
    x := 3
    return )
    y = {1: 2, 3}
    x = 3:
    from x import *, y
    f(x for x in y, 1)
