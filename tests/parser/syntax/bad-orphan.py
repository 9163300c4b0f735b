# nereid: --emit ast
@jit
def f(x):
    x = 1
    else:
        y = 1 1
    elif x: pass
    except A: pass
    finally: pass
    for i in x: pass
    finally: pass
