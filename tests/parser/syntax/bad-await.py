# nereid: --emit ast
@jit
def f(x):
    await x
    y = yield x
    yield from x
