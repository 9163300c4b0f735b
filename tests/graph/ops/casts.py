"""Casts that narrow: each rounds, or wraps, although its result is held in a wider dtype.

Overflow is PyTorch's: 8-bit floats become infinity or NaN, integers keep their low bits."""
import numpy as np

# Significant bits, the least normal exponent, the largest number, and what lies above it.
FORMATS = {
    "float8_e4m3fn": (4, -6, 448.0, np.nan), "float8_e5m2": (3, -14, 57344.0, np.inf),
    "float16": (11, -14, 65504.0, np.inf), "bfloat16": (8, -126, 2.0**128 - 2.0**120, np.inf),
    "float32": (24, -126, 2.0**128 - 2.0**104, np.inf), "float64": (53, -1022, np.inf, np.inf),
}
FLOATS = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "uint8", "int16"]


def once(x, t):
    """x, in f64, as the nearest number of t, to even."""
    bits, low, most, above = FORMATS[t]
    x = np.float64(x)
    exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 1))[1] - 1, low)
    unit = np.ldexp(1.0, exponent - bits + 1)
    y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
    return np.where(np.abs(y) > most, np.copysign(above, x), y)


def rounded(x, t):
    """As PyTorch does it: doubles by way of f32."""
    return once(once(x, "float32"), t) if t in FLOATS else np.float64(x)


def wrapped(x, t):
    return np.trunc(x).astype(np.int64).astype(t)


rng = np.random.default_rng(29)
near = np.concatenate([
    np.float64([0, -0.0, 1, -1, .1, -.3, 1 / 3, 2.5, 3.5, 100.7, 127, 128, -129, 200.5, 448]),
    [s * (1 + 2.0**-k + d) for k in (3, 4, 8, 9, 11, 12) for d in (0, 2.0**-30, 2.0**-50)
     for s in (1, -1.5, 3)],
    [m * 2.0**-k for k in (5, 6, 7, 9, 10, 14, 15, 16, 17, 24, 25, 26) for m in (1, 1.5, 1.0625)],
    rng.standard_normal(60) * 2.0**rng.integers(-12, 7, 60)])
ARRAYS = {
    "near": near, "near32": near.astype(np.float32),
    "far": np.float64([448, 449, 464, 464.5, 465, 479, 480, 500, 1e3, 57344, 61439, 61440, 61441,
                       65504, 65519, 65520, 1e5, 3e38, np.inf, np.nan]),
    "number": np.float32([-2.5, 127.9, 128, -128.9, -129, 255, 256, -256.5, 300, 70000, -70000.5,
                          1e9, 2e9, -2147483648, 0.99, -0.99]),
    "whole": np.array([0, -1, 127, 128, -129, 255, 256, 300, 2049, 4097, 65535, 65536, 16777217,
                       16777219, -33554435, 2**40 + 2**20 + 1], np.int64),
    "double": np.float64([0.1, -0.1, 0.3, 2147483647, 2147483648, 16777216, 16777217]),
    "index": np.arange(600),
    "half": (rng.standard_normal(90) * 3).astype(np.float16),
    "rows": rng.standard_normal((12, 40)).astype(np.float32) * 3,
    "w": rng.standard_normal(40).astype(np.float32),
    "flag": np.arange(40) % 3 == 0,
    "wt": rng.standard_normal((40, 8)).astype(np.float32),
}


def bits(x):
    return x.astype(np.float32).view(np.int32)


def cast(x, *dtypes):
    """The text of x cast to one dtype after the other."""
    x = [x] + [f"${i}" for i in range(len(dtypes) - 1)]
    return "; ".join(f"to.dtype({a}, torch.{t})" for a, t in zip(x, dtypes))


def chain(x, a, b):
    """The bits of x cast to a, to b and to f32."""
    text = cast(x, a, b, "float32") + "; view.dtype($2, torch.int32)"
    return text, lambda x: bits(rounded(rounded(x, a), b))


def rms(x, w, t):
    y = x * (1 / np.sqrt((np.float64(x) ** 2).mean(-1, keepdims=True) + 1e-6))
    return np.float32(w * rounded(y, t))


def softmax(x):
    e = np.exp(np.float64(x) - np.float64(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


RMS = "pow.Tensor_Scalar(%s, 2); mean.dim($%d, [-1], True); add.Tensor($%d, 1e-06); " \
      "rsqrt.default($%d); mul.Tensor(%s, $%d)"


def f8(x):
    return rounded(x, "float8_e4m3fn")


CASES = [chain("near", a, b) for a in FLOATS + ["float64"] for b in FLOATS if a != b] + [
    ("to.dtype(near32, torch.bfloat16); mul.Tensor($0, 1.0); to.dtype($1, torch.float32)",
     lambda x: np.float32(rounded(x, "bfloat16"))),
] + [
    (cast("far", t, "float64"), lambda x, t=t: rounded(x, t)) for t in FLOATS
] + [
    (cast("number", t, "int32"), lambda x, t=t: wrapped(x, t).astype(np.int32)) for t in INTEGERS
] + [
    (cast("number", "bfloat16", t, "int32"),
     lambda x, t=t: wrapped(rounded(x, "bfloat16"), t).astype(np.int32)) for t in INTEGERS
] + [
    (cast("whole", t, "int64"), lambda x, t=t: x.astype(t).astype(np.int64))
    for t in INTEGERS + ["int32"]
] + [
    (cast("whole", t, "float64"), lambda x, t=t: rounded(x, t)) for t in ["bfloat16", "float16"]
] + [
    # Positions, which the compiler knows; 8-bit floats as they lie in memory; another 16 bits.
    (cast("index", "int8", "int64"), lambda x: x.astype(np.int8).astype(np.int64)),
    ("slice.Tensor(far, 0, 0, 19); to.dtype($0, torch.float8_e5m2); view.dtype($1, torch.uint8)",
     lambda x: np.array([95, 95, 95, 95, 95, 95, 96, 96, 100, 123] + [123] + [124] * 8,
                        np.uint8)),
    ("to.dtype(half, torch.bfloat16); to.dtype($0, torch.float16)",
     lambda x: rounded(x, "bfloat16").astype(np.float16)),
    # Casts that another op makes.
    ("sum.dim_IntList(rows, [1], dtype=torch.bfloat16); to.dtype($0, torch.float32)",
     lambda x: np.float32(rounded(rounded(x, "bfloat16").sum(1), "bfloat16"))),
    ("softmax.int(rows, -1, torch.float16)",
     lambda x: softmax(rounded(x, "float16")).astype(np.float16)),
    ("full.default([16], 0.1, dtype=torch.bfloat16); to.dtype($0, torch.float32); "
     "mul.Tensor(number, $1)", lambda x: x * np.float32(rounded(.1, "bfloat16"))),
    ("to.dtype(w, torch.bfloat16); where.ScalarOther(flag, $0, 0.1); to.dtype($1, torch.float32)",
     lambda w, f: np.float32(np.where(f, rounded(w, "bfloat16"), rounded(.1, "bfloat16")))),
    ("to.dtype(w, torch.float16); masked_fill.Scalar($0, flag, 0.1); to.dtype($1, torch.float32)",
     lambda w, f: np.float32(np.where(f, rounded(.1, "float16"), rounded(w, "float16")))),
    ("to.dtype(w, torch.float16); constant_pad_nd.default($0, [1, 1], 0.1); "
     "to.dtype($1, torch.float32)",
     lambda w: np.float32(np.pad(rounded(w, "float16"), 1, constant_values=np.float16(.1)))),
    # What is fused with casts, and patterns that a narrowing cast must not be part of.
    ("mul.Tensor(rows, 2.0); to.dtype($0, torch.float8_e4m3fn); to.dtype($1, torch.float32); "
     "add.Tensor($2, w)", lambda x, w: np.float32(f8(x * 2)) + w),
    ("to.dtype(rows, torch.float8_e4m3fn); to.dtype($0, torch.float32); mm.default($1, wt); "
     "to.dtype($2, torch.float8_e5m2); to.dtype($3, torch.float32)",
     lambda x, w: np.float32(rounded(np.float32(f8(x)) @ w, "float8_e5m2"))),
    (RMS % ("rows", 0, 1, 2, "rows", 3) + "; to.dtype($4, torch.float8_e4m3fn); "
     "to.dtype($5, torch.float32); mul.Tensor(w, $6)",
     lambda x, w: rms(x, w, "float8_e4m3fn")),
    ("to.dtype(rows, torch.float8_e4m3fn); to.dtype($0, torch.float32); " +
     RMS % ("$1", 2, 3, 4, "$1", 5) + "; mul.Tensor(w, $6)",
     lambda x, w: rms(f8(x), w, "float32")),
    # A scale of constants, which would else be moved into the constant weights.
    ("arange.default(320, dtype=torch.float32); view.default($0, [40, 8]); sin.default($1); "
     "mm.default(rows, $2); to.dtype($3, torch.float8_e4m3fn); to.dtype($4, torch.float32); "
     "arange.default(8, dtype=torch.float32); cos.default($6); mul.Tensor($5, $7)",
     lambda x: np.float32(f8(x @ np.sin(np.arange(320.0)).reshape(40, 8)) * np.cos(np.arange(8.)))),
    ("mm.default(rows, wt); to.dtype($0, torch.bfloat16); softmax.int($1, -1); "
     "to.dtype($2, torch.float32); transpose.int(wt, 0, 1); mm.default($3, $4)",
     lambda x, w: np.float32(rounded(softmax(rounded(x @ w, "bfloat16")), "bfloat16") @ w.T)),
] + [
    # Doubles beside numbers that f32 doesn't have.
    (f"{name}.Scalar(double, {v})", lambda x, f=f, v=v: f(x, v))
    for name, f in (("ge", np.greater_equal), ("le", np.less_equal), ("eq", np.equal))
    for v in (0.1, -0.1, 2147483647.0, 2147483647, 16777217)
] + [
    ("clamp.default(double, 0.1, 2147483647)", lambda x: x.clip(0.1, 2147483647)),
    ("fmod.Scalar(double, 0.3)", lambda x: np.fmod(x, 0.3)),
    ("threshold.default(double, 0.1, 0.3)", lambda x: np.where(x <= 0.1, 0.3, x)),
]
