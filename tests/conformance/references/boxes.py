import numpy as np
from cases import new
from references import case, eighths

FILE = "boxes.py"
TILES = "cdiv(m, B), cdiv(n, B)"
SIZES = [dict(m=80, n=96, k=160), dict(m=64, n=48, k=32), dict(m=72, n=144, k=16),
         dict(m=37, n=50, k=44)]


def operands(rng, m, n, k):
    return [eighths(rng, *shape).astype(np.float16) for shape in ((m, k), (k, n))]


def several(*more):
    """The sizes, and the last one with other stages and warps."""
    def add(f):
        for sizes in SIZES:
            f = case(FILE, tol=1e-5, **sizes)(f)
        for options in (("--num-stages", "2"), ("--num-stages", "4", "--num-warps", "8"), *more):
            f = case(FILE, tol=1e-5, options=options, **SIZES[0])(f)
        return f
    return add


def product(rng, m, n, k, turned=False):
    x, y = operands(rng, m, n, k)
    b = np.ascontiguousarray(y.T) if turned else y
    args = dict(a=x, b=b, c=new("empty", "f32", m, n), m=m, n=n, k=k, sa=k, sb=b.shape[1], sc=n)
    return args, dict(B=64, BK=32), TILES, dict(c=x.astype(np.float32) @ y)


@several()
def product_of_blocks(rng, m, n, k):
    return product(rng, m, n, k)


@several()
def product_of_descriptors(rng, m, n, k):
    return product(rng, m, n, k - k % 8 if k % 8 else k, turned=True)


@several(("--no-tensor-maps",))
def product_in_turns(rng, m, n, k):
    args, defines, _, expected = product(rng, m, n, k)
    return args, defines, "1", expected


# Two warpgroups have 96 columns each: three halves of a panel of 128 bytes.
WIDE = ("--num-warps", "8")


@case(FILE, tol=1e-3, tile=(192, 192, 32), options=WIDE)
@case(FILE, tol=1e-3, tile=(192, 96, 32), m=392, n=200, options=(*WIDE, "--num-stages", "2"))
@case(FILE, tol=1e-5, tile=(64, 192, 32), out="f32", options=WIDE)
@case(FILE, tol=1e-3, tile=(192, 128, 32), m=192, n=128, k=16, options=WIDE)
def tiles_in_turns(rng, tile, m=200, n=216, k=72, out="f16"):
    args, _, _, expected = product(rng, m, n, k, turned=True)
    args["c"] = new("empty", out, m, n)
    return args, dict(zip(("BM", "BN", "BK"), tile)), "1", expected


@several()
def product_with_halo(rng, m, n, k):
    args, defines, grid, expected = product(rng, m, n, k)
    moved = np.zeros_like(expected["c"])
    moved[3:] = expected["c"][:-3]
    return args, defines, grid, dict(c=moved)


@several()
def product_of_middle(rng, m, n, k):
    args, defines, grid, expected = product(rng, m, n, k)
    return args | dict(last=m - 3), defines, grid, expected


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, m=64, n=64, k=160)
def product_of_batches(rng, m=128, n=64, k=96):
    x, y = eighths(rng, 3, m, k).astype(np.float16), eighths(rng, 3, k, n).astype(np.float16)
    args = dict(a=x, b=y, c=new("empty", "f32", 3, m, n), m=m, n=n, k=k, sa=k, sb=n, batch_a=m * k,
                batch_b=k * n)
    return args, dict(B=64, BK=32), "m // B, n // B, 3", dict(c=x.astype(np.float32) @ y)


@case(FILE, tol=1e-5)
def product_of_rows(rng, m=80, n=64, k=64):
    x, y = operands(rng, m, n, k)
    table = rng.integers(0, 64, 64).astype(np.int32)
    args = dict(a=x, b=y, table=table, c=new("empty", "f32", 64, n), m=m, n=n, k=k, sa=k, sb=n,
                sc=n)
    picked, out = x[table].astype(np.float32), 0
    for turn in range(k // 32):
        part = slice(table[turn] // 32 * 32, table[turn] // 32 * 32 + 32)
        rows = y[part].astype(np.float32)
        out = out + picked[:, part] @ (rows + rows * (np.arange(n) % 24 < 8))
    return args, dict(B=64, BK=32), "1", dict(c=out)


@case(FILE, tol=1e-5)
def product_of_signs(rng, m=37, n=64, k=64):
    args, defines, _, _ = product(rng, m, n, k)
    args["a"] = np.abs(args["a"])
    expected = np.zeros((64, n), np.float32)
    expected[m:] = args["b"].astype(np.float32).sum(0)
    return args | dict(c=new("empty", "f32", 64, n)), defines, "1", dict(c=expected)


@case(FILE, tol=1e-5, moves=3)
@case(FILE, tol=1e-5, moves=20)
def product_moved_often(rng, moves, programs=5, k=64):
    x, y = eighths(rng, 128, 64).astype(np.float16), eighths(rng, k, 64).astype(np.float16)
    rows = []
    for pid in range(programs):
        by = sum(pid % move for move in range(2, 2 + moves))
        rows.append(x.reshape(-1)[by:by + 64 * 64].reshape(64, 64).astype(np.float32) @ y)
    args = dict(a=x, b=y, c=new("empty", "f32", programs * 64, 64), k=k)
    return args, dict(B=64, BK=32, MOVES=moves), str(programs), dict(c=np.concatenate(rows))
