"""What a random kernel is made of: dtypes, values, statements, arrays.

A kernel is a list of statements over named values.  Each value carries what is known of it:

    mag    bound of its absolute value (inf: none; then it may be NaN too)
    q      all elements are multiples of this (0: unknown), so that sums of them are exact
    err    bound of how far two right executors may be apart; 0: they agree bit for bit

Only values with err 0 decide anything (comparisons, indices, conversions to integers, sorting).
"""
import math
import re
import numpy as np

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
FP8 = ["f8e5", "f8e4nv"]
TL = {"i1": "tl.int1", "bf16": "tl.bfloat16", "f16": "tl.float16", "f32": "tl.float32",
      "f64": "tl.float64", "f8e5": "tl.float8e5", "f8e4nv": "tl.float8e4nv",
      **{t: f"tl.{'u' * (t[0] == 'u')}int{t[1:]}" for t in INTS}}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53, "f8e5": 3, "f8e4nv": 4}
TOP = {"f16": 60000.0, "bf16": 1e38, "f32": 1e38, "f64": 1e300, "f8e5": 57344.0, "f8e4nv": 448.0}
INF = math.inf
NAME = re.compile(r"\b[a-z]{1,2}\d+\b")  # of a value, an array or a scalar


def bits(t):
    return {"i1": 1, "bf16": 16}.get(t) or (8 if t in FP8 else int(t.lstrip("iuf")))


def int_top(t):
    return 1 if t == "i1" else 2 ** (bits(t) - (t[0] == "i"))


def is_float(t):
    return t in DIGITS


def size(shape):
    return math.prod(shape)


def listed(words):
    words = list(words)
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def dims(shape):
    return listed(map(str, shape))


def at_axis(axis, rank):
    return ", ".join(":" if a == axis else "None" for a in range(rank))


def row_major(shape):
    return [size(shape[a + 1:]) for a in range(len(shape))]


class Unsuitable(Exception):
    """What was begun has no operands, or a meaning that executors need not share."""


class Value:
    def __init__(self, name, dtype, shape, mag=INF, q=0, err=0.0):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)
        self.mag, self.q, self.err = mag, q, err

    def __str__(self):
        return self.name

    @property
    def finite(self):
        """Not a float that may be infinite or NaN."""
        return not is_float(self.dtype) or self.mag < INF


class Stmt:
    """Lines of text that define `outs` (names are unique), or a block: header lines and bodies.
    A fixed one is part of its surroundings, such as the step of a while loop's counter."""
    def __init__(self, lines, outs=(), blocks=(), fixed=False):
        self.lines = [lines] if isinstance(lines, str) else list(lines)
        self.outs, self.blocks, self.fixed = list(outs), [list(b) for b in blocks], fixed

    def text(self, indent):
        if not self.blocks:
            return "".join(f"{indent}{line}\n" for line in self.lines)
        return "".join(f"{indent}{head}\n" + block_text(body, indent + "    ")
                       for head, body in zip(self.lines, self.blocks))


def block_text(stmts, indent):
    return "".join(s.text(indent) for s in stmts) or f"{indent}pass\n"


class Array:
    """An argument: `count` elements of a kind of content, drawn from `seed`.

    small: integers from lo to hi; normal: standard normal, cut at 8; any: all there is, infinities
    and NaN among them; zeros: an output.  `within`: (another array, an element), where this one
    begins in the memory of that; `shared`: others are, so that any store may change it."""
    def __init__(self, dtype, kind, seed=0, lo=0, hi=0, within=None):
        self.dtype, self.kind, self.seed, self.lo, self.hi = dtype, kind, seed, lo, hi
        self.count, self.within, self.shared = 1, within, False

    def need(self, count):
        self.count = max(self.count, count)

    def bounds(self):
        """mag, q of the elements."""
        if self.kind == "any" or self.shared:
            return (INF, 0) if is_float(self.dtype) else (int_top(self.dtype), 1)
        return (8.0, 0) if self.kind == "normal" else (max(abs(self.lo), abs(self.hi)), 1)

    def data(self):
        """The elements as NumPy has them; those of bf16 and fp8 as their bits."""
        rng = np.random.default_rng(self.seed)
        if self.kind == "zeros":
            return np.zeros(self.count, storage(self.dtype))
        if self.kind == "normal":
            return encode(np.clip(rng.standard_normal(self.count), -8, 8), self.dtype)
        if self.kind == "small":
            return encode(rng.integers(self.lo, self.hi + 1, self.count), self.dtype)
        return any_data(rng, self.dtype, self.count)


def storage(dtype):
    if dtype == "i1":
        return np.dtype(bool)
    if dtype == "bf16" or dtype in FP8:
        return np.dtype(f"u{bits(dtype) // 8}")
    return np.dtype(f"{dtype[0]}{bits(dtype) // 8}")


def any_data(rng, dtype, count):
    """Random bits, among them numbers of common sizes and the special ones."""
    if dtype == "i1":
        return rng.integers(0, 2, count).astype(bool)
    raw = rng.integers(0, 256, count * bits(dtype) // 8, dtype=np.uint8).view(storage(dtype))
    if not is_float(dtype):
        return np.where(rng.random(count) < 0.7, raw, encode(rng.integers(0, 4, count), dtype))
    common = encode(rng.standard_normal(count) * 4, dtype)
    with np.errstate(over="ignore"):
        special = encode(rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, 6e4, -3e38],
                                    count), dtype)
    return np.choose(rng.choice(3, count, p=[0.3, 0.4, 0.3]), [raw, common, special])


def encode(x, dtype):
    if dtype == "bf16":
        raw = np.asarray(x, np.float32).view(np.uint32)
        rounded = (raw + 0x7FFF + (raw >> 16 & 1)) >> 16
        return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
    if dtype in FP8:
        table = np.nan_to_num(decode(np.arange(128, dtype=np.uint8), dtype), nan=1e30, posinf=1e30)
        x = np.nan_to_num(np.asarray(x, np.float64), nan=0.0)
        near = np.abs(np.abs(x)[:, None] - table[None, :]).argmin(axis=1)
        return (near + 128 * np.signbit(x)).astype(np.uint8)
    return np.asarray(x).astype(storage(dtype))


def decode(raw, dtype):
    """As float64, or the integers as they are."""
    if dtype == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "f8e5":
        return (raw.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    if dtype == "f8e4nv":
        low = raw.astype(np.int64) & 127
        power, part = low >> 3, low & 7
        x = np.where(power == 0, part / 512.0, (1 + part / 8.0) * 2.0 ** (power - 7.0))
        return np.where(low == 127, np.nan, x) * np.where(raw & 128, -1.0, 1.0)
    return raw.astype(np.float64) if is_float(dtype) else raw


class Kernel:
    """A kernel with its launch: arrays and scalars are its parameters, in that order; `errors`
    has for each output how far two right executors may be apart."""
    def __init__(self, seed):
        self.seed = seed
        self.body, self.arrays, self.scalars, self.errors = [], {}, {}, {}
        self.grid, self.warps, self.stages = 1, 4, 3

    def parameters(self):
        """The names of arrays and scalars that the body uses."""
        used = set(re.findall(r"\w+", block_text(self.body, "")))
        return [name for name in [*self.arrays, *self.scalars] if name in used]

    def memory(self):
        """The names of the arrays that have memory of their own, of which some parameter is one."""
        arrays = [(n, self.arrays[n]) for n in self.parameters() if n in self.arrays]
        return list(dict.fromkeys(a.within[0] if a.within else n for n, a in arrays))

    def text(self):
        body = block_text(self.body, "    ")
        helpers = "".join(f"@triton.jit\n{text}\n\n" for name, text in HELPERS.items()
                          if f"{name}(" in body or f", {name}" in body)
        return (f"import triton\nimport triton.language as tl\n\n\n{helpers}@triton.jit\n"
                f"def kernel({', '.join(self.parameters())}):\n{body}")


HELPERS = {
    "add": "def add(a, b):\n    return a + b\n",
    "larger": "def larger(a, b):\n    return tl.where(a > b, a, b)\n",
    "product": "def product(a, b):\n    return a * b\n",
    "any_of": "def any_of(a, b):\n    return a | b\n",
    "odd_of": "def odd_of(a, b):\n    return a ^ b\n",
    "keep_left": "def keep_left(a, b):\n    return a\n",
    "keep_right": "def keep_right(a, b):\n    return b\n",
    "compose": "def compose(a, b, c, d):\n    return a * c, b * c + d\n",
    "min_max": "def min_max(a, b, c, d):\n    return tl.minimum(a, c), tl.maximum(b, d)\n",
    "best": "def best(a, i, b, j):\n    first = (a > b) | ((a == b) & (i < j))\n"
            "    return tl.where(first, a, b), tl.where(first, i, j)\n",
    "welford": "def welford(m, v, n, b, w, k):\n    d = b - m\n    t = n + k\n"
               "    r = k / tl.maximum(t, 1.0)\n"
               "    return m + d * r, v + w + d * d * n * r, t\n",
    "pair": "def pair(p):\n    a, b = p\n    return b, a + b\n",
    "swap_if": "def swap_if(c, a, b):\n    if c:\n        return b, a\n    return a, b\n",
    "early": "def early(x, n):\n    if n > 2:\n        return x + x\n    y = x * x\n"
             "    return y - x\n",
}
