import numpy as np
from cases import new, normal
from references import case, eighths

FILE = "descriptors.py"


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, rows=16, cols=32)
@case(FILE, tol=1e-6, rows=1, cols=4)
def add(rng, rows=37, cols=50):
    x, y = normal(rng, rows, cols), normal(rng, cols, rows)
    args = dict(x=x, y=y, out=new("empty", "f32", rows, cols), rows=rows, cols=cols, scale=0.5)
    return args, dict(M=16, N=32), "cdiv(rows, M)", dict(out=x + y.T / 2)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=64, inner=64, cols=64)
@case(FILE, tol=1e-5, rows=64, inner=64, cols=64, options=("--num-stages", "1"))
def product(rng, rows=37, inner=44, cols=50):
    x, y = (eighths(rng, *shape).astype(np.float16) for shape in ((rows, inner), (inner, cols)))
    args = dict(x=x, y=y, out=new("empty", "f32", rows, cols), rows=rows, inner=inner, cols=cols)
    grid = "cdiv(rows, M), cdiv(cols, N)"
    return args, dict(M=32, N=32, K=16), grid, dict(out=x.astype(np.float32) @ y)


@case(FILE, tol=0)
def padded(rng, n=40):
    x = normal(rng, n)
    out = np.concatenate([x[n - 8:], np.full(8, -1, np.float32)])
    return dict(x=x, out=new("empty", "f32", 16), n=n), dict(N=16), "1", dict(out=out)
