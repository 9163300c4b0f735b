import numpy as np
from cases import new, normal
from references import case, eighths

FILE = "scans.py"


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, reverse=True)
@case(FILE, tol=1e-5, length=64, dim=16)
@case(FILE, tol=1e-5, length=1, dim=1)
def linear_recurrence(rng, length=75, dim=20, reverse=False):
    a, b = rng.random((length, dim), np.float32), normal(rng, length, dim)
    h, state = np.zeros((length, dim)), np.zeros(dim)
    for t in reversed(range(length)) if reverse else range(length):
        h[t] = state = a[t] * state + b[t]
    args = dict(a_ptr=a, b_ptr=b, h_ptr=new("empty", "f32", length, dim), length=length, dim=dim)
    defines = dict(BLOCK_T=32, BLOCK_D=16, REVERSE=reverse)
    return args, defines, "cdiv(dim, BLOCK_D)", dict(h_ptr=h)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, length=5, dim=16, state=16)
def selective_scan(rng, length=20, dim=20, state=8):
    x, dt = normal(rng, length, dim), rng.random((length, dim), np.float32)
    a, b, c = -rng.random((dim, state), np.float32), normal(rng, length, state), \
        normal(rng, length, state)
    h, y = np.zeros((dim, state)), np.zeros((length, dim))
    for t in range(length):
        h = np.exp(dt[t][:, None] * a) * h + (dt[t] * x[t])[:, None] * b[t]
        y[t] = h @ c[t]
    args = dict(x_ptr=x, dt_ptr=dt, a_ptr=a, b_ptr=b, c_ptr=c,
                y_ptr=new("empty", "f32", length, dim), length=length, dim=dim)
    return args, dict(STATE=state, BLOCK_D=16), "cdiv(dim, BLOCK_D)", dict(y_ptr=y)


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=256)
def segmented_cumsum(rng, n=75):
    x, flag = eighths(rng, n), (rng.integers(0, 8, n) == 0).astype(np.int32)
    y, total = np.zeros(n), 0
    for i in range(n):
        y[i] = total = x[i] + (0 if flag[i] else total)
    args = dict(x_ptr=x, flag_ptr=flag, out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=256 if n > 128 else 128), "1", dict(out_ptr=y)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, lengths=(64, 32), dim=32)
def segmented_sum(rng, lengths=(3, 0, 20, 1, 45), dim=20):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = normal(rng, offsets[-1], dim)
    y = np.stack([x[a:b].sum(0) for a, b in zip(offsets, offsets[1:])])
    args = dict(x_ptr=x, offsets_ptr=offsets, out_ptr=new("empty", "f32", *y.shape), dim=dim)
    return args, dict(BLOCK_N=16, BLOCK_D=32), str(len(lengths)), dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, n=64)
@case(FILE, tol=0, n=512, options=("--num-warps", "1"))
def look_back_scan(rng, n=300):
    x, blocks = rng.integers(-9, 10, n, np.int32), -(-n // 64)
    args = dict(x_ptr=x, out_ptr=new("empty", "i32", n), ticket_ptr=new("zeros", "i32", 1),
                state_ptr=new("zeros", "i32", blocks), sum_ptr=new("zeros", "i32", blocks),
                prefix_ptr=new("zeros", "i32", blocks), n=n)
    return args, dict(BLOCK=64), str(blocks), dict(out_ptr=x.cumsum())


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=1)
@case(FILE, tol=1e-5, n=1024)
def last_block_sum(rng, n=500):
    x, blocks = eighths(rng, n), -(-n // 64)
    args = dict(x_ptr=x, parts_ptr=new("empty", "f32", blocks), ticket_ptr=new("zeros", "i32", 1),
                out_ptr=new("empty", "f32", 1), n=n)
    expected = dict(out_ptr=x.sum(keepdims=True), ticket_ptr=np.zeros(1))
    return args, dict(BLOCK=64, BLOCK_P=16), str(blocks), expected


@case(FILE, tol=0, devices=("interp", "nest", "cuda"))
@case(FILE, tol=0, programs=1)
def ordered_chain(rng, programs=4, steps=3):
    """All programs must run at once: on a CPU only those that wait for earlier ones always end."""
    value = 1
    for _ in range(steps):
        for pid in range(programs):
            value = value * 3 + pid
    args = dict(turn_ptr=new("zeros", "i32", 1), out_ptr=np.ones(1, np.int32))
    return args, dict(STEPS=steps), str(programs), dict(out_ptr=np.array([value]))


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=64)
def compensated_sum(rng, n=1001):
    x = (normal(rng, n) * 10.0**rng.integers(-4, 8, n)).astype(np.float32)
    half = n // 2
    x[half:2 * half] = -x[rng.permutation(half)] * np.float32(1 + 2**-20)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", 1), n=n)
    return args, dict(BLOCK=64), "1", dict(out_ptr=x.sum(dtype=np.float64, keepdims=True))


@case(FILE, tol=0)
@case(FILE, tol=0, rows=1, cols=1)
@case(FILE, tol=0, rows=1, cols=128)
def running_max(rng, rows=3, cols=75):
    x = eighths(rng, rows, cols)
    best = np.maximum.accumulate(x, 1)
    at = np.array([[int(np.argmax(r[:i + 1])) for i in range(cols)] for r in x])
    args = dict(x_ptr=x, max_ptr=new("empty", "f32", rows, cols),
                at_ptr=new("empty", "i32", rows, cols), cols=cols)
    return args, dict(BLOCK=128), str(rows), dict(max_ptr=best, at_ptr=at)


@case(FILE, tol=0)
@case(FILE, tol=0, n=0, m=5)
@case(FILE, tol=0, n=31, m=40)
def edit_distance(rng, n=20, m=9):
    a, b = rng.integers(1, 4, max(n, 1), np.uint8), rng.integers(1, 4, m, np.uint8)
    row = list(range(m + 1))
    for i in range(n):
        row, old = [i + 1], row
        for j in range(m):
            row.append(min(row[j] + 1, old[j + 1] + 1, old[j] + int(a[i] != b[j])))
    args = dict(a_ptr=a, b_ptr=b, out_ptr=new("empty", "i32", 1), n=n, m=m)
    return args, dict(BLOCK=32), "1", dict(out_ptr=np.array([row[m]]))


@case(FILE, tol=0)
@case(FILE, tol=0, rows=3, cols=50)
def running_maximum(rng, rows=4, cols=64):
    x = normal(rng, rows, cols)
    outs = dict(out_ptr=new("empty", "f32", rows, cols), top_ptr=new("empty", "f32", rows))
    return dict(x_ptr=x, **outs), dict(ROWS=rows, COLS=cols), "1", \
        dict(out_ptr=np.maximum.accumulate(x, 1), top_ptr=x.max(1))


@case(FILE, tol=0)
@case(FILE, tol=0, cols=65536, options=("--num-warps", "16"))
@case(FILE, tol=0, cols=16384, dtype="i64", reverse=True, options=("--num-warps", "8"))
@case(FILE, tol=0, rows=2, cols=3000, options=("--num-warps", "8"))
@case(FILE, tol=0, rows=2, cols=3000, reverse=True)
@case(FILE, tol=0, rows=64, cols=64, axis=0, reverse=True)
@case(FILE, tol=0, rows=300, cols=8, dtype="i64", axis=0, options=("--num-warps", "8"))
@case(FILE, tol=0, rows=16, cols=256, options=("--num-warps", "1"))
def scans_of_rows(rng, rows=1, cols=2048, dtype="f32", axis=1, reverse=False):
    x = rng.integers(-3, 4, (rows, cols)).astype("i8" if dtype == "i64" else "f4")
    turned = np.flip(x, axis) if reverse else x
    lines = np.moveaxis(turned, axis, 0).astype("f8")
    sign, value = np.ones(lines.shape[1]), np.zeros(lines.shape[1])
    maps = np.empty_like(lines)
    for i, line in enumerate(lines):
        own = np.where(line < 0, -1, 1)
        sign, value = sign * own, (value * own if i else 0) + line
        maps[i] = sign + value
    maps = np.moveaxis(maps, 0, axis)
    maps = np.flip(maps, axis) if reverse else maps
    sums = np.cumsum(turned, axis)
    sums = np.flip(sums, axis) if reverse else sums
    args = dict(x_ptr=x, sum_ptr=new("empty", dtype, rows, cols),
                map_ptr=new("empty", dtype, rows, cols))
    defines = dict(ROWS=rows, COLS=cols, AXIS=axis, REVERSE=reverse)
    return args, defines, "1", dict(sum_ptr=sums, map_ptr=maps)
