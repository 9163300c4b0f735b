import math, zlib
import numpy as np
from cases import new, normal
from references import NUMPY, case, eighths, typed

FILE = "numbers.py"


@case(FILE, tol=0, devices=("interp", "nest", "cpu"))
@case(FILE, tol=0, devices=("interp", "nest", "cpu"), shape=(4, 64), limit=50)
@case(FILE, tol=0.2, devices=("cuda", ))
def mandelbrot(rng, shape=(7, 30), limit=20):
    """Steps of points near the set's edge change where products and sums are rounded at once."""
    height, width = shape
    f, i = np.float32, np.arange(height * width)
    cx = (i % width).astype(f) * f(f(3.0) / f(width)) - f(2)
    cy = (i // width).astype(f) * f(f(2.0) / f(height)) - f(1)
    x, y, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros(len(i), int)
    for _ in range(limit):
        busy = x * x + y * y <= 4
        steps += busy
        x, y = np.where(busy, x * x - y * y + cx, x), np.where(busy, 2 * x * y + cy, y)
    args = dict(out_ptr=new("empty", "i32", height, width), width=width, height=height, limit=limit)
    grid = "cdiv(width * height, BLOCK)"
    return args, dict(BLOCK=64), grid, dict(out_ptr=steps.reshape(shape))


@case(FILE, tol=0.05)
def monte_carlo_pi(rng, trials=500, programs=4):
    args = dict(hits_ptr=new("zeros", "i32", 1), seed=11, trials=trials)
    hits = math.pi / 4 * trials * programs
    return args, dict(BLOCK=128), str(programs), dict(hits_ptr=np.array([hits]))


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=8, span=4)
@case(FILE, tol=1e-5, n=256, span=1)
def fft_step(rng, n=128, span=8):
    z = normal(rng, n) + 1j * normal(rng, n)
    i = np.arange(n // 2)
    k = i % span
    t = z[n // 2:] * np.exp(-1j * np.pi * k / span)
    y = np.zeros(n, complex)
    y[(i - k) * 2 + k], y[(i - k) * 2 + k + span] = z[:n // 2] + t, z[:n // 2] - t
    part = lambda x: np.ascontiguousarray(x).astype(np.float32)
    args = dict(re_ptr=part(z.real), im_ptr=part(z.imag), out_re_ptr=new("empty", "f32", n),
                out_im_ptr=new("empty", "f32", n), n=n, span=span)
    expected = dict(out_re_ptr=y.real, out_im_ptr=y.imag)
    return args, dict(BLOCK=64), "cdiv(n // 2, BLOCK)", expected


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, n=4)
@case(FILE, tol=1e-5, n=256, options=("--num-warps", "8"))
def fft_whole(rng, n=64):
    re, im = normal(rng, n), normal(rng, n)
    y = np.fft.fft(re + 1j * im)
    args = dict(re_ptr=re, im_ptr=im, out_re_ptr=new("empty", "f32", n),
                out_im_ptr=new("empty", "f32", n))
    expected = dict(out_re_ptr=y.real, out_im_ptr=y.imag)
    return args, dict(N=n, STEPS=n.bit_length() - 1), "1", expected


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, n=1)
@case(FILE, tol=1e-6, n=128)
def complex_multiply(rng, n=75):
    x, y = normal(rng, n, 2), normal(rng, n, 2)
    z = (x[:, 0] + 1j * x[:, 1]) * (y[:, 0] + 1j * y[:, 1])
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "f32", n, 2), n=n)
    expected = dict(out_ptr=np.stack([z.real, z.imag], 1))
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=1, length=1)
def crc32(rng, n=40, length=9):
    x = rng.integers(0, 256, (n, length), np.uint8)
    y = np.array([zlib.crc32(r.tobytes()) for r in x], np.uint32)
    args = dict(x_ptr=x, out_ptr=new("empty", "u32", n), length=length, n=n)
    return args, dict(BLOCK=32), "cdiv(n, BLOCK)", dict(out_ptr=y)


@case(FILE, tol=0)
@case(FILE, tol=0, n=128)
def bit_tricks(rng, n=100):
    x = rng.integers(1, 1 << 31, n, np.uint32)
    expected = dict(ones=[bin(v).count("1") for v in x],
                    reversed=[int(f"{v:032b}"[::-1], 2) for v in x],
                    power=[1 << (int(v) - 1).bit_length() for v in x],
                    gray=x ^ (x >> np.uint32(1)), high=[int(v) * int(v) >> 32 for v in x])
    args = dict(x_ptr=x, **{f"{k}_ptr": new("empty", "u32", n) for k in expected}, n=n)
    expected = {f"{k}_ptr": np.array(v, np.uint32) for k, v in expected.items()}
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, dtype="u8")
@case(FILE, tol=0, dtype="i16")
@case(FILE, tol=0, dtype="u16", n=128)
@case(FILE, tol=0, dtype="i32")
@case(FILE, tol=0, dtype="i64", n=128)
@case(FILE, tol=0, dtype="u64")
def integer_ops(rng, n=100, dtype="i8"):
    limits = np.iinfo(typed(0, dtype)[1].dtype)
    draw = lambda low: rng.integers(low, limits.max, n, limits.dtype, endpoint=True)
    x, y = draw(limits.min + 1), draw(limits.min + 1)
    y[::2] = y[::2] % 9
    y[y == 0] = 3
    quotient = np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1)
                         for a, b in zip(x, y)]).astype(limits.dtype)
    shift = y & 7
    with np.errstate(over="ignore"):
        values = dict(div=quotient, rem=x - quotient * y, shl=x << shift, shr=x >> shift,
                      mul=x * y - x)
    args = dict(x_ptr=x, y_ptr=y, **{f"{k}_ptr": new("empty", dtype, n) for k in values},
                less_ptr=new("empty", "i1", n), n=n)
    expected = {f"{k}_ptr": v for k, v in values.items()}
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", dict(**expected, less_ptr=x <= y)


@case(FILE, tol=0)
@case(FILE, tol=0, n=64)
def gcd(rng, n=50):
    x, y = (rng.integers(1, 10000, n, np.int32) for _ in range(2))
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "i32", n), n=n)
    return args, dict(BLOCK=32), "cdiv(n, BLOCK)", dict(out_ptr=np.gcd(x, y))


@case(FILE, tol=0)
def collatz(rng, numbers=(1, 7, 27, 0, -5, 77031)):
    def steps(x):
        return 0 if x == 1 else 1 + steps(3 * x + 1 if x % 2 else x // 2)
    expected = np.array([steps(x) if x > 0 else -1 for x in numbers])
    args = dict(n_ptr=np.array(numbers, "i4"), steps_ptr=new("empty", "i32", len(numbers)))
    return args, {}, str(len(numbers)), dict(steps_ptr=expected)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, rows=1, cols=200)
def csr_matvec(rng, rows=9, cols=75):
    a = np.where(rng.random((rows, cols)) < 0.3, eighths(rng, rows, cols), 0)
    a[rows // 2] = 0
    at, columns = np.nonzero(a)
    first = np.searchsorted(at, np.arange(rows + 1)).astype(np.int32)
    x = eighths(rng, cols)
    values = a[at, columns] if len(at) else np.zeros(1)
    args = dict(row_ptr=first, column_ptr=np.resize(columns, max(len(at), 1)).astype(np.int32),
                value_ptr=values.astype(np.float32), x_ptr=x, y_ptr=new("empty", "f32", rows))
    return args, dict(BLOCK=16), str(rows), dict(y_ptr=a @ x)


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, blocks=(1, 1), cols=16)
def block_sparse_matmul(rng, blocks=(3, 4), cols=50, size=16):
    rows, inner = blocks
    stored = rng.random(blocks) < 0.5
    stored[0, 0], stored[-1] = True, False if rows > 1 else True
    first = np.concatenate([[0], stored.sum(1).cumsum()]).astype(np.int32)
    a = eighths(rng, first[-1], size, size)
    whole = np.zeros((rows, size, inner, size), np.float32)
    for value, (r, c) in zip(a, np.argwhere(stored)):
        whole[r, :, c] = value
    x = eighths(rng, inner * size, cols)
    args = dict(first_ptr=first, column_ptr=np.nonzero(stored)[1].astype(np.int32),
                block_ptr=a.astype(np.float16), x_ptr=x.astype(np.float16),
                y_ptr=new("empty", "f32", rows * size, cols), cols=cols)
    expected = dict(y_ptr=whole.reshape(rows * size, -1) @ x)
    return args, dict(SIZE=size, BLOCK_N=32), f"{rows}, cdiv(cols, BLOCK_N)", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=1)
def nothing(rng, n=0):
    x, y = eighths(rng, max(n, 1)), np.full(65, 7, np.float32)
    expected = y.copy()
    expected[0] = x[:n].sum()
    expected[1:n + 1] = x[:n]
    return dict(x_ptr=x, out_ptr=y, n=n), dict(BLOCK=64), "1", dict(out_ptr=expected)


@case(FILE, tol=0)
def long_chain(rng, steps=1000, block=64):
    x = np.tile(np.arange(block, dtype=np.int32), (2, 1))
    for k in range(steps):
        x = x * x + np.array([[k], [1 ^ k]], np.int32)
    x[:, ::2] = 0
    args = dict(out_ptr=new("zeros", "i32", 2, block))
    return args, dict(STEPS=steps, BLOCK=block), "2", dict(out_ptr=x)


@case(FILE, tol=0)
def hinted_chain(rng, steps=1000, block=256):
    x = np.arange(block, dtype=np.int32) // 2
    for k in range(steps):
        x = x * x + np.int32(k)
    args = dict(out_ptr=new("empty", "i32", block), n=2)
    return args, dict(STEPS=steps, BLOCK=block), "1", dict(out_ptr=x)


@case(FILE, tol=0)
def wrapping_chain(rng, steps=50, block=64):
    x = np.arange(block, dtype=np.int32)
    for k in range(steps):
        x = x * np.int32(3) + np.int32(k)
    args = dict(out_ptr=new("empty", "i32", block))
    return args, dict(STEPS=steps, BLOCK=block), "1", dict(out_ptr=x)


@case(FILE, tol=0)
def turned_chain(rng, steps=40, size=16):
    i = np.arange(size, dtype=np.int32)
    x = i[:, None] * np.int32(3) + i
    for _ in range(steps):
        x = x * np.int32(2) + x.T
    args = dict(out_ptr=new("empty", "i32", size, size))
    return args, dict(STEPS=steps, BLOCK=size), "1", dict(out_ptr=x)


@case(FILE, tol=0)
def single(rng):
    x = normal(rng, 1)
    return dict(x_ptr=x, out_ptr=new("empty", "f32", 1)), {}, "1", dict(out_ptr=4 * x)


@case(FILE, tol=0)
@case(FILE, tol=0, rows=8)
@case(FILE, tol=0, dtype="i8")
@case(FILE, tol=0, dtype="i16")
@case(FILE, tol=0, dtype="i64")
def extrema_of_negations(rng, rows=4, n=64, dtype="i32"):
    np_type = np.dtype(NUMPY[dtype])
    x = rng.integers(-100, 100, (rows, n)).astype(np_type)
    x[:, 0], x[0, 1] = np.iinfo(np_type).min, np.iinfo(np_type).min
    one = np_type.type(1)
    a, b, c = x[0], x[1], x[2]
    highest, lowest = np.maximum, np.minimum
    with np.errstate(over="ignore"):
        results = [highest(a, highest(b, -c)), lowest(lowest(-a, -b), -c), (-x).max(0),
                   (-(x + one)).min(0), highest(highest(a, -(b * c)), ~b),
                   highest(-(-x).max(0), lowest(-a, -b))]
    args = dict(x_ptr=x, out_ptr=new("empty", dtype, len(results), n))
    return args, dict(N=rows, BLOCK=n), "1", dict(out_ptr=np.stack(results))


@case(FILE, tol=1e-6)
@case(FILE, tol=1e-6, wide=True)
def by_symbol(rng, n=128, wide=False):
    x = normal(rng, n)
    outs = dict(sine_ptr=new("empty", "f64" if wide else "f32", n),
                zeros_ptr=new("empty", "i32", n), power_ptr=new("empty", "f32", n))
    bits = 64 if wide else 32
    scaled = np.trunc(x * np.float32(100)).astype(np.int64)
    zeros = np.array([0 if v < 0 else bits - int(v).bit_length() for v in scaled], np.int32)
    return dict(x_ptr=x, **outs), dict(WIDE=wide, BLOCK=n), "1", \
        dict(sine_ptr=np.sin(x.astype(np.float64)), zeros_ptr=zeros, power_ptr=x ** 3)


@case(FILE, tol=0, by=2)
@case(FILE, tol=0, by=3)
@case(FILE, tol=0, by=7)
@case(FILE, tol=0, by=-8)
@case(FILE, tol=0, by=641)
@case(FILE, tol=0, by=1 << 33)
@case(FILE, tol=0, by=(1 << 33) + 1)
@case(FILE, tol=0, by=1 << 62)
@case(FILE, tol=0, by=(1 << 63) - 1)
@case(FILE, tol=0, by=7, dtype="u64")
@case(FILE, tol=0, by=16, dtype="u64")
@case(FILE, tol=0, by=(1 << 33) + 1, dtype="u64")
@case(FILE, tol=0, by=(1 << 63) - 1, dtype="u64")
@case(FILE, tol=0, by=2, dtype="i32")
@case(FILE, tol=0, by=7, dtype="i32")
@case(FILE, tol=0, by=16, dtype="i32")
@case(FILE, tol=0, by=641, dtype="i32")
@case(FILE, tol=0, by=1 << 30, dtype="i32")
@case(FILE, tol=0, by=(1 << 31) - 1, dtype="i32")
@case(FILE, tol=0, by=7, dtype="u32")
@case(FILE, tol=0, by=16, dtype="u32")
@case(FILE, tol=0, by=641, dtype="u32")
@case(FILE, tol=0, by=1 << 31, dtype="u32")
@case(FILE, tol=0, by=(1 << 32) - 1, dtype="u32")
@case(FILE, tol=0, by=16, dtype="i16")
@case(FILE, tol=0, by=7, dtype="i8")
@case(FILE, tol=0, by=100, dtype="u8")
def divide_by_constant(rng, by, dtype="i64"):
    """Quotients are rounded to zero, as C's are."""
    limits = np.iinfo(dtype.replace("u", "uint") if dtype[0] == "u" else dtype.replace("i", "int"))
    near = [k * by + d for k in (-3, -1, 0, 1, 2, 1000) for d in (-1, 0, 1)]
    some = rng.integers(limits.min, limits.max, 64, dtype=limits.dtype.type)
    some = [int(v) >> s for s, v in enumerate(some)]
    ends = [limits.min, limits.min + 1, limits.max - 1, limits.max]
    x = [v for v in near + some + ends if limits.min <= v <= limits.max]
    quotient = [abs(v) // abs(by) * (1 if (v < 0) == (by < 0) else -1) for v in x]
    rest = [v - q * by for v, q in zip(x, quotient)]
    x, quotient, rest = (np.array(v, limits.dtype) for v in (x, quotient, rest))
    args = dict(x_ptr=x, quotient_ptr=new("empty", dtype, len(x)),
                rest_ptr=new("empty", dtype, len(x)), n=len(x))
    return args, dict(D=by, BLOCK=64), "cdiv(n, BLOCK)", dict(quotient_ptr=quotient, rest_ptr=rest)


INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


def all_of(rng, dtype, n):
    """Numbers of any size that each dtype of floats has, but of floats only those that all integers
    have, and fractions of them."""
    if dtype[0] == "f":
        return (rng.integers(0, 127, n) + rng.choice([0, 0.25, 0.5, 0.75], n)).astype(NUMPY[dtype])
    x = rng.integers(0, 1 << 23, n) << rng.integers(0, 41, n)
    return (x >> rng.integers(0, 60, n)).astype(np.uint64).astype(NUMPY[dtype])


def of_dtypes(function, dtypes):
    for dtype in dtypes:
        function = case(FILE, tol=0, dtype=dtype)(function)
    return function


def saturated(x, dtype):
    """Towards zero, NaN to 0."""
    if dtype[0] == "f": return x.astype(NUMPY[dtype])
    limits = np.iinfo(NUMPY[dtype])
    whole = [0 if v != v else v if abs(v) == np.inf else int(v) for v in x.tolist()]
    return np.array([int(min(max(v, limits.min), limits.max)) for v in whole], NUMPY[dtype])


def convert_to_all(rng, dtype, n=150, ends=False):
    x = all_of(rng, dtype, n)
    if dtype == "i64": x = x * rng.choice([-1, 1], n)
    if ends:
        near = [s * (2.0**b + d / 2) for b in (7, 8, 15, 16) for d in range(-2, 3) for s in (-1, 1)]
        far = [s * v for v in (1e9, 3e9, 1e10, 1e19, 3e38, np.inf, 0.0, 0.5) for s in (-1, 1)]
        x = np.array([np.nan, -np.nan] + near + far, NUMPY[dtype])
        n = len(x)
    expected = {f"{d}_ptr": saturated(x, d) if ends else x.astype(NUMPY[d])
                for d in INTEGERS + ["f32", "f64"]}
    args = dict(x_ptr=x, **{f"{d}_ptr": new("empty", d, n) for d in INTEGERS + ["f32", "f64"]}, n=n)
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", expected


def short_integers(rng, dtype, n=150):
    t = NUMPY[dtype]
    x, y = (rng.integers(0, 1 << 16, n).astype(t) for _ in range(2))
    y[::5] = x[::5]
    by = (y & 7).astype(t)
    expected = dict(less=(x < y).astype(np.int8), low=np.minimum(x, y), high=np.maximum(x, y),
                    left=x << by, right=x >> by,
                    chosen=np.where(x == y, x, np.where(np.arange(n) % 3 == 0, y, x + y)))
    args = dict(x_ptr=x, y_ptr=y, **{f"{k}_ptr": new("empty", "i8" if k == "less" else dtype, n)
                                     for k in expected}, n=n)
    return args, dict(BLOCK=64), "cdiv(n, BLOCK)", {f"{k}_ptr": v for k, v in expected.items()}


for of in ("f32", "f64"):
    case(FILE, tol=0, devices=("interp", "nest", "cpu"), dtype=of, ends=True)(convert_to_all)
of_dtypes(convert_to_all, INTEGERS + ["f32", "f64"])
of_dtypes(short_integers, ["i8", "i16", "u8", "u16"])
