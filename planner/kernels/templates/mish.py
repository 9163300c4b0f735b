

@triton.jit
def mish_of(x):
    # tanh(log(1 + n)) with n = e^x is w / (w + 2), w = n (n + 2); past 20 that is 1.
    n = tl.exp(minimum(x, 20.0))
    w = n * (n + 2.0)
    return x * (w / (w + 2.0))
