import numpy as np
from cases import new, normal
from references import case

FILE = "objects.py"


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, rows=16, cols=32)
def closure(rng, rows=13, cols=21):
    x, factor = normal(rng, rows, cols), normal(rng, 1)
    args = {"function": "class:Function", "function.0": "fn:scaled", "function.1.0": factor,
            "function.1.1": 0.5, "x": "class:Matrix", "x.0": x, "x.1.0": rows, "x.1.1": cols,
            "x.2.0": cols, "x.2.1": 1, "out": "class:Matrix",
            "out.0": new("empty", "f32", cols, rows), "out.1.0": rows, "out.1.1": cols,
            "out.2.0": 1, "out.2.1": rows}
    return args, dict(M=16, N=32), "1", {"out.0": (x * factor + 0.5).T}


@case(FILE, tol=1e-6)
def mixed(rng):
    x = normal(rng, 16)
    args = {"xs.0": x, "xs.1": "3:constexpr", "nothing": "()", "out": new("empty", "f32", 16)}
    return args, dict(SHAPE="((8, 16), None, -1.5)"), "1", dict(out=x * 3 - np.float32(1.5))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=1, NEGATIVE=True)
def moments(rng, rows=5, NEGATIVE=False):
    x = normal(rng, rows, 64)
    shifted = x + (np.arange(rows) % 2 == 0)[:, None]
    shifted = -shifted if NEGATIVE else shifted
    args = dict(x=x, n=rows, out=new("empty", "f32", 2))
    want = np.array([shifted.mean(), shifted.max()], np.float32)
    return args, dict(SIZE=64, NEGATIVE=NEGATIVE), "1", dict(out=want)


@case(FILE, tol=1e-6)
def inherited(rng):
    x = normal(rng, 32)
    return dict(x=x, out=new("empty", "f32", 32)), dict(N=32), "1", dict(out=x * x[0] + x[1])


@case(FILE, tol=0)
def applied(rng):
    x = normal(rng, 32)
    defines = dict(N=32, F="fn:outer.inner")
    return dict(x=x, out=new("empty", "f32", 32)), defines, "1", dict(out=x * np.float32(3))
