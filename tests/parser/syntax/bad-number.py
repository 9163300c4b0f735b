# nereid: --emit ast
@jit
def f(x):
    x = 0777
    x = 0x
    x = 0b12
    x = 1__0
    x = 1_
    x = 12abc
    x = 3j
    x = 0o8
    x = 1_.5
