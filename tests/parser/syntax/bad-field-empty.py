# nereid: --emit ast
@jit
def f(x):
    s = f"a{}"
    s = f"{ }"
    s = f"{!r}"
