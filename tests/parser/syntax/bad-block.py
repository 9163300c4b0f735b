# nereid: --emit ast
@jit
def f(x):
    if x:
    y = 1
    for i in x:
    while x:
    # nothing
    z = 1
    if x: