# nereid: --emit ast
x = 1
y = """never closed
@jit
def f(x):
    x = 3 3
