import numpy as np
from cases import new, normal
from references import case

FILE = "elements.py"


@case(FILE, tol=0)
@case(FILE, tol=0, fn="sign_of_difference", dtype="f32")
@case(FILE, tol=0, dtype="f32", n=50)
def three_way(rng, fn="compare", dtype="i32", n=256):
    x, y = (rng.integers(-4, 5, n).astype({"i32": "i4", "f32": "f4"}[dtype]) for _ in "xy")
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "i32", n))
    return args, dict(N=n, F=f"fn:{fn}"), "1", dict(out_ptr=np.sign(x - y).astype(np.int32))


def collatz(n, limit):
    top = n
    for i in range(limit):
        if n == 1:
            return i, top
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
            top = max(top, n)
    return -1, top


@case(FILE, tol=0)
@case(FILE, tol=0, n=32, limit=0)
@case(FILE, tol=0, n=8, limit=3)
def number_theory(rng, n=128, limit=40):
    x, y = (rng.integers(1, 100, n).astype(np.int32) for _ in "xy")
    walks = np.array([collatz(int(v), limit) for v in x], np.int32)
    outs = {name: new("empty", "i32", n) for name in ("gcd_ptr", "steps_ptr", "top_ptr")}
    want = dict(gcd_ptr=np.gcd(x, y), steps_ptr=walks[:, 0], top_ptr=walks[:, 1])
    return dict(x_ptr=x, y_ptr=y, **outs, limit=limit), dict(N=n), "1", want


@case(FILE, tol=0)
@case(FILE, tol=0, rows=1, cols=8, n=0)
def searches(rng, rows=8, cols=32, n=77):
    table = np.sort(rng.integers(0, 1000, max(n, 1)).astype(np.int32))
    x = rng.integers(-5, 1005, (rows, cols)).astype(np.int32)
    args = dict(table_ptr=table, x_ptr=x, out_ptr=new("empty", "i32", rows, cols), n=n)
    want = np.searchsorted(table[:n], x).astype(np.int32)
    return args, dict(ROWS=rows, COLS=cols), "1", dict(out_ptr=want)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=2, cols=1)
def division_of_pairs(rng, rows=8, cols=64):
    x = rng.integers(-1000, 1000, (rows, cols)).astype(np.int32)
    y = rng.integers(1, 50, (rows, cols)).astype(np.int32)
    div = np.trunc(x / y).astype(np.int32)
    outs = dict(div_ptr=new("empty", "i32", rows, cols), mod_ptr=new("empty", "i32", rows, cols))
    return dict(x_ptr=x, y_ptr=y, **outs), dict(ROWS=rows, COLS=cols), "1", \
        dict(div_ptr=div, mod_ptr=x - div * y)


@case(FILE, tol=0)
def packs_of_four(rng, n=512):
    x = normal(rng, n)
    a, b, c, d = x.reshape(-1, 4).T
    up = a > 0
    y = np.stack([np.where(up, a / 2, a), np.where(up, b, -b), np.where(up, 2 * c, c),
                  np.where(up, d, d + 1)], 1)
    return dict(x_ptr=x, out_ptr=new("empty", "f32", n)), dict(N=n), "1", \
        dict(out_ptr=y.reshape(n))


@case(FILE, tol=0)
def effects(rng, n=64):
    x = rng.integers(-8, 9, n).astype(np.int32)
    roots = np.array([next(k for k in range(9) if k * k >= a) for a in x], np.int32)
    out = np.where(x > 2, x * 10, np.where(x < -4, 0, -1)).astype(np.int32)
    args = dict(x_ptr=x, out_ptr=np.full(2 * n, -1, np.int32), count_ptr=new("zeros", "i32", 3))
    counts = np.array([(x > 2).sum(), min(x.min(), 0), roots.sum()], np.int32)
    return args, dict(N=n), "1", dict(out_ptr=np.concatenate([out, roots]), count_ptr=counts)
