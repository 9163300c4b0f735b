import numpy as np
from cases import new, normal
from references import case

FILE = "machine.py"


@case(FILE, tol=0)
def dependent_scale(rng, n=1000):
    x = normal(rng, n)
    return dict(x_ptr=x, out_ptr=new("empty", "f32", n), n=n), dict(BLOCK=256), \
        "cdiv(n, BLOCK)", dict(out_ptr=x * 2)


@case(FILE, tol=1e-5)
def rows_after_waiting(rng, rows=5, cols=128):
    x = normal(rng, rows, cols)
    return dict(x_ptr=x, out_ptr=new("empty", "f32", cols), rows=rows), dict(COLS=cols), "1", \
        dict(out_ptr=x.sum(0))


@case(FILE, tol=0)
def clock(rng, n=64):
    x = normal(rng, n)
    outs = dict(out_ptr=new("empty", "i32", 1), sizes_ptr=new("empty", "i32", 2))
    return dict(x_ptr=x, **outs), dict(BLOCK=n), "1", \
        dict(out_ptr=np.full(1, 3, np.int32), sizes_ptr=np.array([128, 4], np.int32))


@case(FILE, tol=0)
def custom_float8(rng, n=64):
    return dict(x_ptr=normal(rng, n), out_ptr=new("empty", "f32", n)), dict(BLOCK=n), "1", \
        dict(out_ptr=np.zeros(n, np.float32))
