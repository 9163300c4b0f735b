# nereid: --emit ast
@jit
def f(x):
    if x:
            y = 1
        z = 2
      w = 3
    v = 4 4
