import numpy as np
from cases import bf16, new, normal
from references import case, typed

FILE = "assembly.py"
BLOCKS = "cdiv(n, BLOCK)"


@case(FILE, tol=0)
@case(FILE, tol=0, n=8, block=8)
@case(FILE, tol=0, n=90, block=96)
def asm_add_one(rng, n=1000, block=256):
    x = normal(rng, n)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=x + np.float32(1))


@case(FILE, tol=0)
@case(FILE, tol=0, n=30, block=32)
@case(FILE, tol=0, n=100, block=96)
@case(FILE, tol=0, n=2000, block=2048)
def asm_unpack_max(rng, n=1000, block=1024):
    a, b = rng.integers(0, 256, n).astype(np.uint8), normal(rng, n) * 100
    args = dict(a_ptr=a, b_ptr=b, wide_ptr=new("empty", "i32", n), max_ptr=new("empty", "f32", n),
                n=n)
    expected = dict(wide_ptr=a.astype(np.int32), max_ptr=np.maximum(a.astype(np.float32), b))
    return args, dict(BLOCK=block), BLOCKS, expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=61, block=64)
def asm_int4_to_bf16(rng, n=1000, block=512):
    x = rng.integers(0, 1 << 15, n).astype(np.int16)
    args = dict(x_ptr=x, out_ptr=new("empty", "bf16", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=(x & 15).astype(np.float32))


def e4m3(x):
    """To nearest even, saturating: (bits, values)."""
    codes = np.arange(127)
    e, m = codes >> 3, codes & 7
    table = np.where(e == 0, m / 8 * 2.0**-6, (1 + m / 8) * 2.0**(e - 7.0))
    at = np.searchsorted(table, np.minimum(abs(x), 448))
    at = np.minimum(at, 126)
    low, high = table[np.maximum(at - 1, 0)], table[at]
    size = np.minimum(abs(x).astype(float), 448)
    down = (size - low < high - size) | ((size - low == high - size) & (at % 2 == 1))
    bits = np.where(down & (at > 0), at - 1, at)
    sign = np.signbit(x)
    return (bits + 128 * sign).astype(np.uint8), np.where(sign, -table[bits], table[bits])


@case(FILE, tol=0, devices=("interp", "nest", "cpu", "cuda"))
@case(FILE, tol=0, n=62, block=64)
def asm_fp8_round_trip(rng, n=1000, block=512):
    x = (normal(rng, n) * 2.0**rng.integers(-10, 9, n)).astype(np.float32)
    x[:6] = 448, -465, 1e30, -0.0, 2.0**-10, 3 * 2.0**-10
    bits, values = e4m3(x)
    args = dict(x_ptr=x, bits_ptr=new("empty", "u8", n), out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(bits_ptr=bits, out_ptr=values)


def rotated(total, x):
    total = (total << 5 | total >> 27) & 0xFFFFFFFF
    return total ^ (x & 0xFFFFFFFF)


def signed(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def permuted(a, b, selector):
    source, r = (a | b << 32).to_bytes(8, "little"), 0
    for i in range(4):
        s = selector >> 4 * i & 15
        byte = source[s & 7]
        r |= ((255 if byte & 128 else 0) if s & 8 else byte) << 8 * i
    return r


def mixed_bits(x, y):
    u, v, M = x & 0xFFFFFFFF, y & 0xFFFFFFFF, 0xFFFFFFFF
    t = u >> 3 & 0x7FF
    t = rotated(t, signed(v >> 5 & 0x7F, 7))
    mask = 0x1FFF << 4
    t = rotated(t, (v & ~mask) | (u << 4 & mask))
    t = rotated(t, permuted(u, v, 0x9260))
    t = rotated(t, (v << 32 | u) >> 9)
    t = rotated(t, bin(u).count("1"))
    t = rotated(t, 32 - v.bit_length())
    t = rotated(t, int(f"{u:032b}"[::-1], 2))
    t = rotated(t, u ^ v ^ t)
    t = rotated(t, x * y + 12345)
    t = rotated(t, x * y >> 32)
    t = rotated(t, u * v >> 13)
    t = rotated(t, sum(signed(u >> 8 * i, 8) * (v >> 8 * i & 255) for i in range(4)) - 7)
    t = rotated(t, signed(u, 24) * signed(v, 24))
    t = rotated(t, abs(u - v) + 3)
    last = 21 + y if x < y else 17 - x
    return signed(t ^ (last & M))


@case(FILE, tol=0)
@case(FILE, tol=0, n=40, block=64)
def asm_bits(rng, n=500, block=256):
    x, y = (rng.integers(-2**31, 2**31, n).astype(np.int32) for _ in range(2))
    x[:4], y[:4] = (0, -1, 2**31 - 1, 5), (0, -2**31, 1, 5)
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "i32", n), n=n)
    r = np.array([mixed_bits(int(a), int(b)) for a, b in zip(x, y)], np.int32)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=r)


@case(FILE, tol=0)
@case(FILE, tol=0, n=64, block=64)
@case(FILE, tol=0, n=500, block=96)
def asm_bytes(rng, n=3000, block=1024):
    x = rng.integers(-128, 128, n).astype(np.int8)
    args = dict(x_ptr=x, out_ptr=new("empty", "i8", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=np.where(x & 8, x ^ 0x55, x))


@case(FILE, tol=2e-3)
def asm_approximations(rng, n=500, block=256):
    x = rng.uniform(0.1, 3, n).astype(np.float32)
    d = x.astype(float)
    y = (np.tanh(d) + 2**d + np.log2(d) + 1 / d + np.sqrt(d) + d**-0.5 + np.sin(d) + 2 * np.cos(d)
         + 1 / d)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=y)


@case(FILE, tol=0)
def asm_tf32(rng, n=500, block=256):
    x = normal(rng, n)
    bits = (x.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)
    args = dict(x_ptr=x, out_ptr=new("empty", "f32", n), n=n)
    return args, dict(BLOCK=block), BLOCKS, dict(out_ptr=bits.view(np.float32))


@case(FILE, tol=1e-12)
def asm_wide(rng, n=300, block=256):
    x = rng.integers(-2**31, 2**31, n).astype(np.int32)
    y = (rng.integers(-64, 65, n) / 8).astype(np.float64)
    s = n + 7 * x.astype(np.int64) + np.arange(n) + (-x.astype(np.int16)).astype(np.int64)
    args = dict(x_ptr=x, y_ptr=y, sum_ptr=new("empty", "i64", n),
                product_ptr=new("empty", "f64", n), n=n)
    expected = dict(sum_ptr=s, product_ptr=y * y + 1 + 2 * y)
    return args, dict(BLOCK=block), BLOCKS, expected


@case(FILE, tol=1e-5)
@case(FILE, tol=1e-5, pack=2)
@case(FILE, tol=1e-5, pack=2, rows=4, cols=8)
@case(FILE, tol=1e-5, pack=2, rows=3, cols=5)
def asm_shapes(rng, rows=16, cols=32, pack=1):
    x, y = normal(rng, rows), normal(rng, 3, cols)
    z = (x[:, None, None].astype(float) * y + 0.5).sum((1, 2))
    args = dict(x_ptr=x, y_ptr=y, out_ptr=new("empty", "f32", rows))
    return args, dict(ROWS=rows, COLS=cols, PACK=pack), "1", dict(out_ptr=z)


@case(FILE, tol=1e-2)
@case(FILE, tol=1e-2, n=64)
def asm_dot(rng, n=32):
    (a, a_values), (b, b_values) = (typed(normal(rng, n, n), "f16") for _ in range(2))
    args = dict(a_ptr=a, b_ptr=b, out_ptr=new("empty", "f32", n, n))
    c = -2 * a_values.astype(float) @ b_values.astype(float)
    return args, dict(N=n), "1", dict(out_ptr=c)


@case(FILE, tol=0)
@case(FILE, tol=0, n=3)
def asm_scalars(rng, n=9):
    args = dict(out_ptr=new("zeros", "i32", 1), n=n)
    return args, {}, "1", dict(out_ptr=np.array([3 * n + (11 if n > 4 else -11)]))


@case(FILE, tol=0, devices=("cuda", ))
def asm_registers(rng, block=128):
    args = dict(out_ptr=new("empty", "i32", block))
    return args, dict(BLOCK=block), "1", dict(out_ptr=np.full(block, 128))


@case(FILE, tol=0, devices=("cuda", ))
def asm_memory(rng, n=100, block=128):
    x = normal(rng, n)
    args = dict(x_ptr=x, flag_ptr=new("zeros", "i32", 1), out_ptr=new("empty", "f32", n), n=n)
    expected = dict(out_ptr=x * 2, flag_ptr=np.array([n]))
    return args, dict(BLOCK=block), "1", expected


@case(FILE, tol=0)
@case(FILE, tol=0, n=100)
def asm_combined(rng, n=256):
    x = rng.integers(-100, 100, n).astype(np.int32)
    sums = np.cumsum(x) - 5 * np.arange(n)
    out = np.concatenate([sums, [x.max(), sums[-1]]])
    return dict(x_ptr=x, out_ptr=new("empty", "i32", n + 2)), dict(N=n), "1", dict(out_ptr=out)
