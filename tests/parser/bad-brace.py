@jit
def f(x):
    s = f"a}"
