import numpy as np
from cases import bf16, new, normal
from references import case, eighths, typed

FILE = "movement.py"


@case(FILE, tol=0)
@case(FILE, tol=0, rows=1, cols=70)
@case(FILE, tol=0, rows=64, cols=32)
@case(FILE, tol=0, rows=37, cols=50, dtype="f16")
@case(FILE, tol=0, rows=37, cols=50, dtype="i8")
# A tile that a thread's stack does not hold.
@case(FILE, tol=0, devices=("cpu",), rows=600, cols=1100, block=(512, 512))
def transpose(rng, rows=37, cols=50, dtype="f32", block=(32, 16)):
    x, _ = typed(normal(rng, rows, cols) * 8, dtype)
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, cols, rows), rows=rows, cols=cols)
    grid = "cdiv(rows, BLOCK_R), cdiv(cols, BLOCK_C)"
    return args, dict(BLOCK_R=block[0], BLOCK_C=block[1]), grid, dict(out_ptr=x.T)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=64, cols=32, dtype="bf16", to="bf16")
@case(FILE, tol=0, rows=48, cols=80, dtype="bf16", to="fp8e4nv", block=(64, 64))
@case(FILE, tol=0, rows=64, cols=128, dtype="f16", to="f32", block=(64, 128))
@case(FILE, tol=0, rows=48, cols=16, dtype="i32", to="i8", block=(16, 64))
def store_across(rng, rows=37, cols=50, dtype="f32", to="f32", block=(32, 16)):
    x, _ = typed(np.round(normal(rng, rows, cols) * 2), dtype)
    y, _ = typed(np.round(normal(rng, cols, rows) * 2), dtype)
    z = getattr(x, "array", x) + getattr(y, "array", y).T
    args = dict(x_ptr=x, y_ptr=y, turned_ptr=new("empty", to, cols, rows),
                out_ptr=new("empty", dtype, rows, cols), rows=rows, cols=cols)
    grid = "cdiv(rows, BLOCK_R), cdiv(cols, BLOCK_C)"
    return args, dict(BLOCK_R=block[0], BLOCK_C=block[1]), grid, \
        dict(turned_ptr=z.T, out_ptr=getattr(y, "array", y).T)


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(16, 1, 2))
def permute_3d(rng, shape=(4, 8, 16)):
    x = normal(rng, *shape)
    y = x.transpose(2, 0, 1)
    return dict(x_ptr=x, out_ptr=new("empty", "f32", *y.shape)), dict(zip("ABC", shape)), "1", \
        dict(out_ptr=y)


def copy_of(x, strides):
    """Arguments of strided_copy from a contiguous x to places of these strides."""
    shape, step = x.shape, [s // x.itemsize for s in x.strides]
    return dict(zip(("n0", "n1", "n2", "x0", "x1", "x2", "o0", "o1", "o2"),
                    (*shape, *step, *strides)))


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(1, 1, 1))
@case(FILE, tol=0, shape=(3, 16, 64))
@case(FILE, tol=0, shape=(5, 1, 77))
def strided_copy(rng, shape=(3, 5, 7)):
    x = normal(rng, *shape)
    y = np.zeros((shape[2], 2 * shape[0], shape[1]), np.float32)
    inner = y[:, ::2].transpose(1, 2, 0)
    inner[...] = x
    args = dict(x_ptr=x, out_ptr=new("zeros", "f32", *y.shape),
                **copy_of(x, [s // 4 for s in inner.strides]))
    return args, dict(BLOCK=64), "cdiv(n0 * n1 * n2, BLOCK)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=16, cols=64)
def copy_blocks(rng, rows=19, cols=75, blocks=(8, 32)):
    x = normal(rng, rows, cols)
    wide = -(-cols // blocks[1]) * blocks[1]
    y = np.pad(x, ((0, 0), (0, wide - cols))) + np.float32(1)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", rows, wide), rows=rows, cols=cols)
    defines = dict(BLOCK_R=blocks[0], BLOCK_C=blocks[1])
    return args, defines, "cdiv(rows, BLOCK_R)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, n=1, dim=1)
@case(FILE, tol=0, n=48, dim=32, index="i64")
def embedding(rng, n=37, dim=20, words=50, index="i32"):
    table, i = bf16(normal(rng, words, dim)), typed(rng.integers(0, words, n), index)[0]
    args = dict(index_ptr=i, table_ptr=table, out_ptr=new("empty", "bf16", n, dim), n=n, dim=dim)
    return args, dict(BLOCK_N=16, BLOCK_D=32), "cdiv(n, BLOCK_N)", dict(out_ptr=table.array[i])


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=64, dim=32)
@case(FILE, tol=0, dtype="f16")
def embedding_backward(rng, n=37, dim=20, words=9, dtype="f32"):
    i = rng.integers(0, words, n).astype(np.int32)
    grad, _ = typed(eighths(rng, n, dim), dtype)
    sums = np.zeros((words, dim))
    np.add.at(sums, i, grad)
    args = dict(index_ptr=i, grad_ptr=grad, table_grad_ptr=new("zeros", dtype, words, dim), n=n,
                dim=dim)
    return args, dict(BLOCK_N=16, BLOCK_D=32), "cdiv(n, BLOCK_N)", dict(table_grad_ptr=sums)


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="i32")
@case(FILE, tol=0, dtype="i64", n=64)
def scatter_max(rng, n=100, slots=7, dtype="f32"):
    i = rng.integers(-1, slots, n).astype(np.int32)
    x, _ = typed(normal(rng, n) * 100, dtype)
    y = np.zeros(slots, x.dtype)
    np.maximum.at(y, i[i >= 0], x[i >= 0])
    args = dict(index_ptr=i, x_ptr=x, out_ptr=new("zeros", dtype, slots), n=n)
    return args, dict(BLOCK=32), "cdiv(n, BLOCK)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=64, cols=4)
def permute_within(rng, rows=8, cols=64):
    x, i = normal(rng, rows, cols), rng.integers(0, cols, (rows, cols), np.int32)
    args = dict(x_ptr=x, index_ptr=i, out_ptr=new("empty", "f32", rows, cols))
    return args, dict(ROWS=rows, COLS=cols), "1", dict(out_ptr=np.take_along_axis(x, i, 1))


@case(FILE, tol=0)
@case(FILE, tol=0, shape=(1, 4, 16), scale=2)
def upsample_nearest(rng, shape=(3, 5, 7), scale=3):
    x = normal(rng, *shape)
    y = x.repeat(scale, 1).repeat(scale, 2)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", *y.shape), height=shape[1], width=shape[2])
    return args, dict(SCALE=scale, BLOCK=16), f"height * SCALE, {shape[0]}", dict(out_ptr=y)


def halfway(n, out_n):
    """The two neighbours of each output coordinate, and the second one's share."""
    at = (np.arange(out_n, dtype=np.float32) + np.float32(.5)) * np.float32(n / out_n) \
        - np.float32(.5)
    low = np.floor(at)
    return (low.clip(0, n - 1).astype(int), (low + 1).clip(0, n - 1).astype(int),
            (at - low).astype(np.float32))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, out_shape=(3, 4))
def upsample_bilinear(rng, shape=(6, 8), out_shape=(11, 19)):
    x = normal(rng, *shape)
    top, bottom, fy = halfway(shape[0], out_shape[0])
    left, right, fx = halfway(shape[1], out_shape[1])
    wide = x[:, left] * (1 - fx) + x[:, right] * fx
    y = wide[top] * (1 - fy)[:, None] + wide[bottom] * fy[:, None]
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", *out_shape), height=shape[0],
                width=shape[1], out_height=out_shape[0], out_width=out_shape[1])
    return args, dict(BLOCK=64), "cdiv(out_height * out_width, BLOCK)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, distance=1 << 40)
def far_offsets(rng, n=20, distance=(1 << 31) + 12345, programs=3):
    x = normal(rng, programs, n)
    at = np.arange(programs)[:, None] * distance + np.arange(n)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", programs, n),
                at_ptr=new("empty", "i64", programs, n), distance=distance, n=n)
    return args, dict(BLOCK=32), str(programs), dict(out_ptr=x, at_ptr=at)


@case(FILE, tol=0)
@case(FILE, tol=0, sizes=(5, ))
@case(FILE, tol=0, sizes=(16, 1, 0, 33))
def concat(rng, sizes=(7, 130, 64)):
    dtypes = ("f32", "i32", "f16")
    parts = [typed(rng.integers(-99, 99, n), dtypes[k % 3])[0] for k, n in enumerate(sizes)]
    begins = np.cumsum((0, *sizes[:-1])).astype(np.int32)
    args = {f"xs.{k}": x for k, x in enumerate(parts)}
    args.update({f"sizes.{k}": n for k, n in enumerate(sizes)})
    args.update({"out.0": new("empty", "f32", sum(sizes)),
                 "out.1.0": new("empty", "i32", len(sizes))})
    y = np.concatenate([x.astype(np.float32) for x in parts])
    return args, dict(BLOCK=64), f"cdiv({max(sizes)}, BLOCK)", {"out.0": y, "out.1.0": begins}


@case(FILE, tol=0)
@case(FILE, tol=0, rows=5, cols=32, dtype="f16", width=16)
@case(FILE, tol=0, rows=16, cols=96, dtype="i8")
def promised_columns(rng, rows=13, cols=64, dtype="f32", width=8, ROWS=8, COLS=32, times=3):
    argument, x = typed(rng.integers(-9, 9, (rows, cols)), dtype)
    at = (rng.integers(0, cols // 4, times * COLS // 4)[:, None] * 4 + np.arange(4)).ravel()
    j = np.arange(times * COLS)
    y = x[:, j % cols].astype(np.float64) + x[:, at] * (j // width)
    args = dict(x_ptr=argument, at_ptr=at.astype(np.int32),
                out_ptr=new("empty", "i32" if dtype == "i8" else dtype, rows, times * COLS),
                rows=rows, cols=cols, width=width)
    return args, dict(ROWS=ROWS, COLS=COLS), f"cdiv(rows, ROWS),{times}", dict(out_ptr=y)


@case(FILE, tol=0)
def loads_by_element(rng, n=128, limit=10):
    x = rng.integers(-50, 50, n).astype(np.int32)
    table = rng.integers(0, 1000, 64).astype(np.int32)
    at = np.where(x > limit, x // 2 * 2 - limit, 0)
    y = np.where(x > limit, np.where(x % 2 == 0, table[at], -table[at + 1]), x)
    args = dict(x_ptr=x, table_ptr=table, out_ptr=new("empty", "i32", n), limit=limit)
    return args, dict(N=n), "1", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=256, cols=256)
@case(FILE, tol=0, rows=64, cols=32, axis=0, dtype="i64", options=("--num-warps", "1"))
@case(FILE, tol=0, rows=64, cols=32, axis=0, dtype="i64")
@case(FILE, tol=0, rows=3, cols=100, dtype="i64")
def flip_tile(rng, rows=16, cols=64, axis=1, dtype="f32"):
    x = rng.integers(-99, 100, (rows, cols)).astype("i8" if dtype == "i64" else "f4")
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, rows, cols))
    return args, dict(ROWS=rows, COLS=cols, AXIS=axis), "1", dict(out_ptr=np.flip(x, axis))


@case(FILE, tol=0)
@case(FILE, tol=0, block=16)
@case(FILE, tol=0, block=128, steps=3)
@case(FILE, tol=0, block=512)
def divide_neighbors(rng, block=64, steps=1, programs=3):
    n = block * steps * programs
    x, y = eighths(rng, n // 32 * 40 + 40).astype("f4"), eighths(rng, 64).astype("f4")
    at = np.arange(n)
    before = np.fmod(at - 64, 32) + 32
    sums = x[at // 32 * 40 + at % 32] * y[at % 48] + y[before] * y[at // 3 % 12]
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "f32", n), steps=steps)
    want = sums + y[at * 2 % 64] * y[(at + 4) % 32]
    return args, dict(BLOCK=block), str(programs), dict(out_ptr=want)


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="f16", block=16)
@case(FILE, tol=0, dtype="bf16", block=32, steps=3)
@case(FILE, tol=0, dtype="u8", block=128)
@case(FILE, tol=0, dtype="i8")
@case(FILE, tol=0, dtype="i64", block=16, steps=2)
@case(FILE, tol=0, dtype="f64", block=64)
def lanes_in_runs(rng, dtype="f32", block=64, steps=1, programs=3):
    n = block * steps * programs
    data, x = typed(rng.integers(0, 4, 512), dtype)
    x, at = np.asarray(x, np.float64), np.arange(n)
    sums = x[at // 2] + np.where(at < n - 21, x[at // 4], 2) + x[at % 2 * 128 + at // 2] * x[at % 4]
    sums += x[3 - at % 4] + x[at % 4 * 64 + at // 4] + x[(at & 1) * 3 + (at >> 1)]
    sums += x[np.trunc((at - 5) / 2).astype(int) + 3] + x[(at + 200) % 256 // 2]
    sums += x[(7 + at * 3) % 8] + x[at // 8 * 8 + (at ^ 1) % 8]
    sums += np.where(at < n - 21, x[at // 8 * 8 + 1], 1)
    sums += np.where((at < n - 21) & (at % 5 < 2), x[at // 4 * 4 + 2], 2)
    args = dict(x_ptr=data, out_ptr=new("empty", dtype, n), n=n - 21, steps=steps)
    return args, dict(BLOCK=block), str(programs), dict(out_ptr=sums)
