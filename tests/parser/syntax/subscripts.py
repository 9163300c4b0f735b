@jit
def f(x):
    x[0]
    x[0, 1]
    x[0,]
    x[(0, 1)]
    x[:]
    x[:, None]
    x[None, :, 1:2, ::3, 1:, :2, 1:2:3]
    x[...]
    x[i if j else k:m]
    x[*y]
    x[0][1]
