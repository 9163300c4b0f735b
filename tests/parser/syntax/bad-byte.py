# nereid: --emit ast
@jit
def f(x):
    y = ÿ
    s = "aþ"  # comment ý
    z = café
    s = "í "
