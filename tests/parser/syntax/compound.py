@jit
def f(x):
    if x: pass
    if x:
        pass
    elif y: a = 1; b = 2
    elif z:
        # a comment
        pass

    else:
        pass
    while x:
        if x: break
        continue
    else:
        pass
    for i in range(x): pass
    for i, (j, k) in tl.static_range(0, x, step=2):
        pass
    else: pass
    with a, b as c, d() as (e, f):
        pass
    with (a as b, c as d,):
        pass
    with (a), b:
        pass
    with (a, b):
        pass
    try:
        pass
    except (A, B) as e:
        x = 1
    except:
        x = 2
    else:
        x = 3
    finally:
        x = 4
    def inner(y): return y
    class Local: pass
