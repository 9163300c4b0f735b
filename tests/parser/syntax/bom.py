@triton.jit
def f(x):
    return x

