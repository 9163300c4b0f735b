import numpy as np
from cases import described, new, normal
from references import case, eighths, typed

FILE = "host_descriptors.py"


def window(x, at, shape, padding=0):
    """The part of x that begins at `at`, where x ends at its edges."""
    out = np.full(shape, padding, x.dtype)
    cut = [slice(max(a, 0), max(min(a + n, m), 0)) for a, n, m in zip(at, shape, x.shape)]
    to = [slice(c.start - a, c.start - a + len(range(c.start, c.stop))) for a, c in zip(at, cut)]
    out[tuple(to)] = x[tuple(cut)]
    return out


@case(FILE, tol=0)
@case(FILE, tol=0, row=-3, col=5)
@case(FILE, tol=0, row=20, col=-40)
@case(FILE, tol=0, dtype="bf16", rows=40, cols=64)
@case(FILE, tol=0, dtype="f16", rows=7, cols=24)
@case(FILE, tol=0, dtype="f64")
@case(FILE, tol=0, dtype="i8", cols=64)
@case(FILE, tol=0, dtype="u32")
@case(FILE, tol=0, dtype="i64", row=1)
def shift(rng, rows=37, cols=44, row=0, col=0, dtype="f32"):
    x, values = typed(eighths(rng, rows, cols) if dtype[0] in "fb" else
                      rng.integers(0, 50, (rows, cols)), dtype)
    block = [16, 32]
    args = dict(d=described(x, block), e=described(new("empty", dtype, rows, cols), block),
                row=row, col=col)
    expected = window(values, (row, col), (rows, cols)) + values.dtype.type(1)
    return args, {}, "cdiv(d.shape.0, 16), cdiv(d.shape.1, 32)", dict(e=expected)


@case(FILE, tol=0)
def older(rng):
    x = normal(rng, 10, 20)
    args = dict(d=described(x, [1, 1]), e=described(new("zeros", "f32", 10, 20), [2, 2]))
    out = np.zeros_like(x)
    out[:, :8] = 2 * x[:, 4:12]
    return args, dict(M=4, N=8), "1", dict(e=out)


@case(FILE, tol=0)
@case(FILE, tol=0, at=-1)
def shift3(rng, at=2):
    x, values = typed(eighths(rng, 5, 9, 16), "f16")
    args = dict(d=described(x, [4, 2, 8]), e=described(new("zeros", "f16", 5, 9, 16), [4, 2, 8]),
                at=at)
    out = np.zeros((5, 9, 16), np.float16)
    out[:4, :2, :8] = window(values, (at, at, at), (4, 2, 8))
    return args, {}, "1", dict(e=out)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=64, inner=64, cols=64)
def product(rng, rows=37, inner=48, cols=50):
    x, y = (eighths(rng, *shape).astype(np.float16) for shape in ((rows, inner), (cols, inner)))
    args = dict(a=described(x, [32, 16]), b=described(y, [32, 16]), inner=inner,
                c=described(new("empty", "f32", rows, 64), [32, 32], shape=[rows, cols]))
    grid = "cdiv(c.shape.0, 32), cdiv(c.shape.1, 32)"
    out = x.astype(np.float32) @ y.T
    return args, {}, grid, dict(c=np.pad(out, ((0, 0), (0, 64 - cols)), constant_values=np.nan))


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=4)
def turns(rng, n=7):
    x, y = normal(rng, 20), normal(rng, 30)
    args = dict(d=described(x, [16]), e=described(y, [16]), out=new("empty", "f32", 16), n=n)
    at = [window((x, y)[i % 2], (i,), (16,)) for i in range(n)]
    return args, {}, "1", dict(out=sum(at) + window(y, (0,), (16,)))


@case(FILE, tol=0)
@case(FILE, tol=0, padding="nan")
@case(FILE, tol=0, padding="nan", strides=[64, 1])
def padded(rng, padding=None, strides=None):
    x = normal(rng, 10, 32)
    args = dict(d=described(x, [8, 16], shape=strides and [5, 30], strides=strides,
                            padding=padding), out=new("empty", "f32", 8, 16))
    seen = x[::2][:, :30] if strides else x
    return args, {}, "1", dict(out=window(seen, (len(seen) - 4, -8), (8, 16), 99 if padding else 0))


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="f16", col=40)
@case(FILE, tol=0, dtype="i8", col=-5)
@case(FILE, tol=0, dtype="f64", count=8)
def gathered(rng, dtype="f32", col=3, count=16):
    x, values = typed(eighths(rng, 37, 48), dtype)
    rows = rng.permutation(45)[:count].astype(np.int32) - 4
    block = [1, 32 if dtype == "i8" else 16]
    args = dict(d=described(x, block), e=described(new("zeros", dtype, 37, 48), block), rows=rows,
                col=col)
    out = np.zeros_like(values)
    for row in rows[(rows >= 0) & (rows < 37)]:
        columns = slice(max(col, 0), min(col + block[1], 48))
        out[row, columns] = -values[row, columns]
    return args, dict(N=count), "1", dict(e=out)


@case(FILE, tol=0)
def gathered_nan(rng, rows=8, cols=16):
    x, at = normal(rng, 10, 40), np.array([0, 3, -1, 9, 10, 5, 3, 1000], np.int32)
    args = dict(a=x, out=new("empty", "f32", rows, cols), rows=at, M=10, N=40)
    out = np.concatenate([window(x, (i, 32), (1, cols), 99) for i in at])
    return args, dict(R=rows, C=cols), "1", dict(out=out)


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="f32")
@case(FILE, tol=1e-2, dtype="bf16")
@case(FILE, tol=1e-3, dtype="f16")
@case(FILE, tol=0, dtype="u64")
@case(FILE, tol=0, kind="min", at=-3)
@case(FILE, tol=0, kind="max", at=30, dtype="u32")
@case(FILE, tol=0, kind="max", dtype="i64")
@case(FILE, tol=0, kind="max", dtype="bf16")
@case(FILE, tol=0, kind="min", dtype="f16")
@case(FILE, tol=0, kind="and", dtype="i64")
@case(FILE, tol=0, kind="or")
@case(FILE, tol=0, kind="xor", dtype="u64")
def atomics(rng, kind="add", dtype="i32", at=3):
    draw = (lambda *s: eighths(rng, *s)) if dtype[0] in "fb" else lambda *s: rng.integers(0, 99, s)
    (x, seen), (v, change) = typed(draw(37, 48), dtype), typed(draw(8, 16), dtype)
    apply = dict(add=np.add, min=np.minimum, max=np.maximum, xor=np.bitwise_xor,
                 **{"and": np.bitwise_and, "or": np.bitwise_or})[kind]
    out = seen.copy()
    rows, cols = slice(max(at, 0), min(at + 8, 37)), slice(max(at, 0), min(at + 16, 48))
    part = change[rows.start - at:rows.stop - at, cols.start - at:cols.stop - at]
    out[rows, cols] = apply(out[rows, cols], part)
    args = dict(d=described(x, [8, 16]), value=v, at=at)
    return args, dict(KIND=kind), "1", dict(d=out)
