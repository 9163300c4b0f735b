# nereid: --emit ast
@jit
def f(x):
    break
    if x: continue
    for i in x:
        def inner(): break
    else: break
    while x: break
