@jit
def f(x):
    i++
    i--
    x = i++
