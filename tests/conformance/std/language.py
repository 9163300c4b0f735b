"""The cases of library.py, in the form of cases.py: the kernels of std/kernels.py and what NumPy
says."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cases import decorator, new, normal, sigmoid  # noqa: E402

CASES = []
case = decorator(CASES, pathlib.Path(__file__).resolve().parent)
NAMES = {"i1": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
         "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u32": np.uint32,
         "u64": np.uint64}


def numbers(rng, dtype, *shape, spread=40):
    """Small whole numbers: many are equal, and sums of them are exact."""
    if dtype == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.startswith("u") else -spread
    return rng.integers(low, spread, shape).astype(NAMES[dtype])


def empty(dtype, *shape):
    return new("empty", dtype, *shape)


# ---- sorting ----


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, m=1, n=64)
@case("kernels.py", tol=0, m=3, n=5)
@case("kernels.py", tol=0, m=8, n=4, dim=0)
@case("kernels.py", tol=0, m=6, n=4, dim=0)
@case("kernels.py", tol=0, m=2, n=256, dtype="i32")
@case("kernels.py", tol=0, m=4, n=16, dtype="f16")
@case("kernels.py", tol=0, m=4, n=16, dtype="i8")
@case("kernels.py", tol=0, m=4, n=16, dtype="i64")
@case("kernels.py", tol=0, m=4, n=16, dtype="u8", dim=-1)
@case("kernels.py", tol=0, m=4, n=16, dtype="i1")
@case("kernels.py", tol=0, m=3, n=5, dtype="i1", dim=0)
@case("kernels.py", tol=0, m=2, n=1024, dtype="i32")  # in registers, these and the next ones
@case("kernels.py", tol=0, m=64, n=16, dtype="i64")
@case("kernels.py", tol=0, m=8, n=256, dtype="u32", dim=-1)
@case("kernels.py", tol=0, m=1, n=2048, dtype="i16")
@case("kernels.py", tol=0, m=2, n=1024)
@case("kernels.py", tol=0, m=2, n=1024, odd=True)
@case("kernels.py", tol=0, m=64, n=16, dtype="f64", odd=True)
@case("kernels.py", tol=0, m=1, n=2048, dtype="f16", odd=True)
def sorts(rng, m=4, n=32, dtype="f32", dim=1, odd=False):
    x = numbers(rng, dtype, m, n)
    if dtype == "f32":
        x[0, 0], x[0, 1] = np.inf, -np.inf
    if odd:  # of either sign
        for value in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
            x[rng.random(x.shape) < 0.1] = value
    up = np.sort(x, dim)
    args = dict(x_ptr=x, **{f"{a}_ptr": empty(dtype, m, n) for a in ("up", "down", "flip")})
    expected = dict(up_ptr=up, down_ptr=np.flip(up, dim), flip_ptr=np.flip(x, dim))
    return args, dict(M=m, N=n, DIM=dim), "1", expected


@case("kernels.py", tol=0)
def sort_rank3(rng, l=2, m=4, n=8):
    x = normal(rng, l, m, n)
    args = dict(x_ptr=x, out_ptr=empty("f32", l, m, n))
    return args, dict(L=l, M=m, N=n), "1", dict(out_ptr=np.sort(x))


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, n=64, k=1)
@case("kernels.py", tol=0, n=64, k=64)
@case("kernels.py", tol=0, n=16, k=3)
@case("kernels.py", tol=0, n=11, k=4)
@case("kernels.py", tol=0, m=1, n=128, k=2, dtype="i32")
@case("kernels.py", tol=0, dtype="f16")
@case("kernels.py", tol=0, dtype="i1")
@case("kernels.py", tol=0, n=11, k=4, dtype="i1")
@case("kernels.py", tol=0, n=16, k=16, dtype="i1")
def topk(rng, m=4, n=32, k=8, dtype="f32"):
    x = numbers(rng, dtype, m, n)
    args = dict(x_ptr=x, out_ptr=empty(dtype, m, k))
    return args, dict(M=m, N=n, K=k), "1", dict(out_ptr=np.flip(np.sort(x), 1)[:, :k])


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, n=128)
def merge(rng, n=16):
    x = normal(rng, n)
    x = np.concatenate([np.sort(x[:n // 2]), -np.sort(-x[n // 2:])])
    return dict(x_ptr=x, out_ptr=empty("f32", n)), dict(N=n), "1", dict(out_ptr=np.sort(x))


# ---- reductions ----


def along(axis, m, n):
    return m if axis == 1 else n


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, axis=0)
@case("kernels.py", tol=0, m=3, n=7, axis=0)
@case("kernels.py", tol=0, m=1, n=200)
@case("kernels.py", tol=0, m=128, n=1, axis=0)
@case("kernels.py", tol=0, dtype="i64")
@case("kernels.py", tol=0, dtype="u8")
@case("kernels.py", tol=0, dtype="i8", spread=127)
@case("kernels.py", tol=0, dtype="i16", spread=32000, axis=0)
def sums(rng, m=8, n=32, axis=1, dtype="i32", spread=40):
    x = numbers(rng, dtype, m, n, spread=spread)
    wide = {"i8": "i32", "i16": "i32", "u8": "u32"}.get(dtype, dtype)
    y = x.astype(NAMES[wide])
    total = y.sum(axis, dtype=y.dtype)
    k = along(axis, m, n)
    args = dict(x_ptr=x, sum_ptr=empty(wide, k), keep_ptr=empty(wide, m, n), all_ptr=empty(wide, 1),
                xor_ptr=empty(dtype, k), or_ptr=empty(dtype, k))
    keep = np.broadcast_to(np.expand_dims(total, axis), (m, n))
    expected = dict(sum_ptr=total, keep_ptr=keep, all_ptr=y.sum(dtype=y.dtype).reshape(1),
                    xor_ptr=np.bitwise_xor.reduce(x, axis), or_ptr=np.bitwise_or.reduce(x, axis))
    return args, dict(M=m, N=n, AXIS=axis), "1", expected


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, axis=0)
@case("kernels.py", tol=0, m=5, n=3, axis=0)
@case("kernels.py", tol=0, m=1, n=100)
@case("kernels.py", tol=0, dtype="i8")
@case("kernels.py", tol=0, dtype="f64")
@case("kernels.py", tol=0, dtype="u32")
@case("kernels.py", tol=0, nan=True)
@case("kernels.py", tol=0, nan=True, dtype="f16", axis=0)
def extremes(rng, m=8, n=32, axis=1, dtype="f32", nan=False):
    """NaN is left out unless there is nothing else."""
    x = numbers(rng, dtype, m, n)
    if nan:
        x[rng.random((m, n)) < .3] = np.nan
        x[0, 0] = 1
    wide = {"f16": "f32", "i8": "i32"}.get(dtype, dtype)
    k = along(axis, m, n)
    args = dict(x_ptr=x, max_ptr=empty(wide, k), min_ptr=empty(wide, k), all_ptr=empty(wide, 1))
    expected = dict(max_ptr=np.fmax.reduce(x, axis), min_ptr=np.fmin.reduce(x, axis),
                    all_ptr=(np.nanmax(x) - np.nanmin(x)).reshape(1))
    return args, dict(M=m, N=n, AXIS=axis), "1", expected


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, axis=0)
@case("kernels.py", tol=0, m=3, n=70)
@case("kernels.py", tol=0, m=1, n=512, spread=3)
@case("kernels.py", tol=0, dtype="i32", spread=2)
@case("kernels.py", tol=0, dtype="f16")
@case("kernels.py", tol=0, dtype="i64", axis=0)
@case("kernels.py", tol=0, spread=1)
def places(rng, m=8, n=32, axis=1, dtype="f32", spread=5):
    """Of equal values the leftmost."""
    x = numbers(rng, dtype, m, n, spread=spread)
    k = along(axis, m, n)
    args = dict(x_ptr=x, argmax_ptr=empty("i32", k), argmin_ptr=empty("i32", k),
                max_ptr=empty(dtype, k), at_ptr=empty("i32", k))
    expected = dict(argmax_ptr=x.argmax(axis), argmin_ptr=x.argmin(axis), max_ptr=x.max(axis),
                    at_ptr=x.argmax(axis))
    return args, dict(M=m, N=n, AXIS=axis), "1", expected


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, m=3, n=70)
def any_place(rng, m=8, n=32):
    x = numbers(rng, "f32", m, n, spread=5)
    args = dict(x_ptr=x, max_ptr=empty("f32", m), min_ptr=empty("f32", m))
    return args, dict(M=m, N=n), "1", dict(max_ptr=x.max(1), min_ptr=x.min(1))


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, m=1, n=128)
@case("kernels.py", tol=0, m=5, n=6)
def reduces(rng, m=4, n=32):
    x = rng.choice(np.float32([1, -1, 2, .5]), (m, n))
    args = dict(x_ptr=x, product_ptr=empty("f32", m), ends_ptr=empty("i32", m))
    first = np.arange(m) * n
    expected = dict(product_ptr=x.prod(1), ends_ptr=first * 1000 + first + n - 1)
    return args, dict(M=m, N=n), "1", expected


# ---- scans ----


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, axis=0)
@case("kernels.py", tol=0, m=3, n=11)
@case("kernels.py", tol=0, m=7, n=3, axis=0)
@case("kernels.py", tol=0, m=1, n=300)
@case("kernels.py", tol=0, dtype="f32")
@case("kernels.py", tol=0, dtype="i64")
@case("kernels.py", tol=0, dtype="i8", spread=100)
def cumulates(rng, m=4, n=32, axis=1, dtype="i32", spread=3):
    x = numbers(rng, dtype, m, n, spread=spread)
    if dtype == "f32":
        x = np.where(x == 0, 1, x) % 2 * 2 - 1  # Products stay exact.
        x = x.astype(np.float32)
    wide = "i32" if dtype == "i8" else dtype
    y = x.astype(NAMES[wide])
    args = dict(x_ptr=x, sum_ptr=empty(wide, m, n), back_ptr=empty(wide, m, n),
                product_ptr=empty(dtype, m, n))
    back = np.flip(np.cumsum(np.flip(y, axis), axis, dtype=y.dtype), axis)
    expected = dict(sum_ptr=np.cumsum(y, axis, dtype=y.dtype), back_ptr=back,
                    product_ptr=np.cumprod(x, axis, dtype=x.dtype))
    return args, dict(M=m, N=n, AXIS=axis), "1", expected


def recur(a, b, axis):
    """h = a h + b along an axis."""
    a, b = np.moveaxis(a, axis, 0).astype(np.float64), np.moveaxis(b, axis, 0).astype(np.float64)
    h, rows = 0, []
    for x, y in zip(a, b):
        h = x * h + y
        rows.append(h)
    return np.moveaxis(np.array(rows), 0, axis)


@case("kernels.py", tol=1e-5)
@case("kernels.py", tol=1e-5, axis=0)
@case("kernels.py", tol=1e-5, m=3, n=9)
@case("kernels.py", tol=1e-5, m=1, n=256)
def recurrence(rng, m=4, n=32, axis=1):
    a, b = rng.random((m, n), np.float32), normal(rng, m, n)
    args = dict(a_ptr=a, b_ptr=b, out_ptr=empty("f32", m, n), back_ptr=empty("f32", m, n))
    back = np.flip(recur(np.flip(a, axis), np.flip(b, axis), axis), axis)
    return args, dict(M=m, N=n, AXIS=axis), "1", dict(out_ptr=recur(a, b, axis), back_ptr=back)


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, n=1000, bins=8)
@case("kernels.py", tol=0, n=64, bins=100)
@case("kernels.py", tol=0, n=32, bins=2, dtype="i64")
@case("kernels.py", tol=0, n=500, bins=256, dtype="u8")
@case("kernels.py", tol=0, n=500, bins=200, dtype="i8", top=128)
@case("kernels.py", tol=0, n=64, bins=4, dtype="i1", top=2)
def counts(rng, n=256, bins=16, dtype="i32", top=None):
    x = rng.integers(0, top or bins, n).astype(NAMES[dtype])
    args = dict(x_ptr=x, out_ptr=empty("i32", bins), masked_ptr=empty("i32", bins))
    expected = dict(out_ptr=np.bincount(x, minlength=bins),
                    masked_ptr=np.bincount(x[np.arange(n) % 3 != 0], minlength=bins))
    return args, dict(N=n, BINS=bins), "1", expected


# ---- shapes, small functions ----


@case("kernels.py", tol=1e-6)
@case("kernels.py", tol=1e-6, m=3, n=10)
def softmaxes(rng, m=4, n=32):
    x = normal(rng, m, n) * 4
    e = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    args = dict(x_ptr=x, row_ptr=empty("f32", n), column_ptr=empty("f32", m, n),
                sigmoid_ptr=empty("f32", m, n))
    s = e / e.sum(1, keepdims=True)
    return args, dict(M=m, N=n), "1", dict(row_ptr=s[0], column_ptr=s, sigmoid_ptr=sigmoid(x))


def swizzled(m, n, group):
    """The cell of each number, where groups of rows are walked column by column."""
    cells = [(i, j) for g in range(0, m, group) for j in range(n)
             for i in range(g, min(g + group, m))]
    out = np.zeros((m, n), np.int32)
    for number, (i, j) in enumerate(cells):
        out[i, j] = number
    return out


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, m=5, n=3)
@case("kernels.py", tol=0, m=8, n=8, dtype="i8")
def shapes(rng, m=4, n=16, dtype="f32"):
    x, y = numbers(rng, dtype, m, n), numbers(rng, dtype, m, n)
    args = dict(x_ptr=x, y_ptr=y, ravel_ptr=empty(dtype, m * n),
                interleave_ptr=empty(dtype, m, 2 * n), split_ptr=empty(dtype, m, n),
                zeros_ptr=empty(dtype, m, n), swizzle_ptr=empty("i32", m, n))
    expected = dict(ravel_ptr=x.T.ravel(), interleave_ptr=np.stack([x, y], 2).reshape(m, 2 * n),
                    split_ptr=x - y, zeros_ptr=np.zeros_like(x), swizzle_ptr=swizzled(m, n, 2))
    return args, dict(M=m, N=n), "1", expected


@case("kernels.py", tol=1e-6)
@case("kernels.py", tol=1e-6, n=77)
def elementwise(rng, n=128):
    x, y = (rng.integers(-30000, 30000, n).astype(np.int32) for _ in range(2))
    s = x.astype(np.int64) + y
    outputs = {"mean": "i32", "larger": "i32", "cdiv": "i32", "clamp": "f32", "high": "u32",
               "fma": "f32"}
    args = dict(x_ptr=x, y_ptr=y, **{f"{k}_ptr": empty(t, n) for k, t in outputs.items()})
    divisor = (y & 7) + 1
    high = x.view(np.uint32).astype(np.uint64) * y.view(np.uint32) >> np.uint64(32)
    expected = dict(mean_ptr=np.trunc(s / 2), larger_ptr=np.maximum(x, y),
                    cdiv_ptr=((x & 0xFFFF) + divisor - 1) // divisor,
                    clamp_ptr=np.clip(x, -100, 1000), high_ptr=high,
                    fma_ptr=(x.astype(np.float64) * y + .5).astype(np.float32))
    return args, dict(N=n), "1", expected


# ---- random numbers ----


def philox(seed, counters, rounds=10, bits=32):
    """Philox-4x32 or 4x64 by its definition, on Python's integers: a column for each counter."""
    ka, kb, ra, rb = ((0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57) if bits == 32 else
                      (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93,
                       0xCA5A826395121157))
    mask, columns = 2**bits - 1, []
    for c in counters:
        c = [int(v) & mask for v in c]
        k = seed % 2**64
        k0, k1 = (k & mask, k >> 32) if bits == 32 else (k, 0)
        for _ in range(rounds):
            p, q = ra * c[0], rb * c[2]
            c = [q >> bits ^ c[1] ^ k0, q & mask, p >> bits ^ c[3] ^ k1, p & mask]
            k0, k1 = k0 + ka & mask, k1 + kb & mask
        columns.append(c)
    return np.array(columns, np.uint32 if bits == 32 else np.uint64).T


def of_offsets(seed, offsets, rounds=10):
    """tl.randint4x: the offset is the counter, its upper half the second word."""
    wide = offsets.dtype == np.int64
    return philox(seed, [(o, int(o) >> 32 if wide else 0, 0, 0) for o in offsets], rounds)


def uniform(words):
    """tl.uint_to_uniform_float, with its roundings to f32."""
    signed = words.view(np.int32 if words.dtype == np.uint32 else np.int64)
    scale = np.float32(4.6566127342e-10 if words.dtype == np.uint32 else 1.0842020432385337e-19)
    return np.where(signed < 0, -1 - signed, signed).astype(np.float32) * scale


def offsets_of(rng, n, dtype):
    offsets = rng.integers(-2**31, 2**31, n) if dtype == "i32" else rng.integers(-2**62, 2**62, n)
    offsets[:4] = 0, 1, -1, 2**31 - 1
    return offsets.astype(NAMES[dtype])


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, seed=-7)
@case("kernels.py", tol=0, seed=2**40 + 3)
@case("kernels.py", tol=0, seed=-2**62, dtype="i64")
@case("kernels.py", tol=0, n=50, dtype="i64")
def randoms(rng, n=64, seed=42, dtype="i32"):
    offsets = offsets_of(rng, n, dtype)
    words = of_offsets(seed, offsets)
    args = dict(offset_ptr=offsets, int_ptr=empty("u32", n), int4_ptr=empty("u32", 4, n),
                seven_ptr=empty("u32", n), seed=seed)
    expected = dict(int_ptr=words[0], int4_ptr=words, seven_ptr=of_offsets(seed, offsets, 7)[0])
    return args, dict(N=n), "1", expected


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, n=50, seed=2**33, dtype="i64")
def uniforms(rng, n=64, seed=1234, dtype="i32"):
    offsets = offsets_of(rng, n, dtype)
    u = uniform(of_offsets(seed, offsets))
    args = dict(offset_ptr=offsets, one_ptr=empty("f32", n), four_ptr=empty("f32", 4, n), seed=seed)
    return args, dict(N=n), "1", dict(one_ptr=u[0], four_ptr=u)


@case("kernels.py", tol=1e-6)
@case("kernels.py", tol=1e-6, n=50, seed=2**33, dtype="i64")
def normals(rng, n=64, seed=99, dtype="i32"):
    """Box and Muller's; the angle is rounded to f32."""
    offsets = offsets_of(rng, n, dtype)
    u = uniform(of_offsets(seed, offsets))
    radius = np.sqrt(-2 * np.log(np.maximum(u[::2], np.float32(1e-7)).astype(np.float64)))
    angle = (u[1::2] * np.float32(6.283185307179586)).astype(np.float64)
    n0, n1 = radius * np.cos(angle), radius * np.sin(angle)
    four = np.stack([n0[0], n1[0], n0[1], n1[1]])
    args = dict(offset_ptr=offsets, one_ptr=empty("f32", n), four_ptr=empty("f32", 4, n), seed=seed)
    return args, dict(N=n), "1", dict(one_ptr=four[0], four_ptr=four)


@case("kernels.py", tol=0)
@case("kernels.py", tol=0, dtype="u32", seed=-1)
@case("kernels.py", tol=0, dtype="u64")
@case("kernels.py", tol=0, dtype="i64", seed=2**62 + 5)
def philox_words(rng, n=16, dtype="i32", seed=7):
    bits = 8 * np.dtype(NAMES[dtype]).itemsize
    c0, c1 = (rng.integers(0, 2**62, n).astype(NAMES[dtype]) for _ in range(2))
    rows = [(int(a), int(b), int(a) + int(b), 0) for a, b in zip(c0, c1)]
    words = philox(seed, rows, bits=bits)
    args = dict(c0_ptr=c0, c1_ptr=c1, out_ptr=empty(f"u{bits}", 4, n),
                uniform_ptr=empty("f32", n), seed=seed)
    return args, dict(N=n), "1", dict(out_ptr=words, uniform_ptr=uniform(words[0]))
