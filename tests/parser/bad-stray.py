@jit
def f(x):
    x = a)
    y = 1]
