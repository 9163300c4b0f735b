# nereid: --emit ast
@jit
def f(x):
    s = "\x4"
    s = "\u12"
    s = "\U00110000"
    s = f"\xg{x}"
