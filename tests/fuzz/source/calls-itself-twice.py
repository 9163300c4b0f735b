# Each call leads to two more, as deep as calls go.
@triton.jit
def f(x):
    f(x)
    f(x)
