import triton

@triton.jit
def f(x):
    y = x + \
        1
    """a
b"""

    return y
