#!/usr/bin/env python3
"""Primitives of graphs against NumPy: where views read, element by element, and what the
expressions of pointwise ops compute, in a kernel made of them.

    prims.py [--device interp|nest|cpu] [NAME...]

NAMEs select cases by the op's name.
"""
# tests/run: users' compiler
import argparse, math, os, pathlib, re, statistics, subprocess, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
PROGRAM = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"), "tests/graph/unit/prims")


def describe(folder, parameters, lines, symbols=()):
    """What the unit test's program says of a graph, line by line."""
    arguments = ", ".join(f'{name}: "{kind}"' for name, kind in parameters)
    body = "".join(f"        {line}\n" for line in lines)
    path = pathlib.Path(folder, "graph.py")
    path.write_text("class G(torch.nn.Module):\n"
                    f"    def forward(self, {arguments}):\n{body}        return ()\n")
    done = subprocess.run([PROGRAM, path, *symbols], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return [line.split(" | ", 1) for line in done.stdout.splitlines()]


# ---- views: call (x is the operand), and the same in NumPy ----


def diagonal(offset, a, b):
    return lambda x: np.diagonal(x, offset, a, b)


def unfold(axis, size, step):
    def windows(x):
        w = np.lib.stride_tricks.sliding_window_view(x, size, axis)
        return w[(slice(None), ) * axis + (slice(None, None, step), )]
    return windows


def strided(size, stride, offset):
    return lambda x: np.lib.stride_tricks.as_strided(
        x.ravel()[offset:], size, [s * x.itemsize for s in stride])


VIEWS = {
    (4, 6): [
        ("view.default(x, [2, 12])", lambda x: x.reshape(2, 12)),
        ("view.default(x, [3, 2, -1])", lambda x: x.reshape(3, 2, 4)),
        ("view.default(x, [2, 2, 1, 3, 2, 1])", lambda x: x.reshape(2, 2, 1, 3, 2, 1)),
        ("_unsafe_view.default(x, [8, 3])", lambda x: x.reshape(8, 3)),
        ("reshape.default(x, [24])", lambda x: x.reshape(24)),
        ("flatten.using_ints(x)", lambda x: x.reshape(24)),
        ("unflatten.int(x, 1, [2, 3])", lambda x: x.reshape(4, 2, 3)),
        ("view_as.default(x, x)", lambda x: x),
        ("expand_as.default(x, x)", lambda x: x),
        ("alias.default(x)", lambda x: x),
        ("detach.default(x)", lambda x: x),
        ("contiguous.default(x)", lambda x: x),
        ("lift_fresh_copy.default(x)", lambda x: x),
        ("t.default(x)", lambda x: x.T),
        ("mT.default(x)", lambda x: x.T),
        ("adjoint.default(x)", lambda x: x.T),
        ("mH.default(x)", lambda x: x.T),
        ("positive.default(x)", lambda x: x),
        ("ravel.default(x)", lambda x: x),
        ("atleast_1d.default(x)", lambda x: x),
        ("atleast_3d.default(x)", lambda x: x[..., None]),
        ("numpy_T.default(x)", lambda x: x.T),
        ("transpose.int(x, 0, -1)", lambda x: x.T),
        ("expand.default(x, [3, -1, 6])", lambda x: np.broadcast_to(x, (3, 4, 6))),
        ("broadcast_to.default(x, [2, 4, 6])", lambda x: np.broadcast_to(x, (2, 4, 6))),
        ("unsqueeze.default(x, -1)", lambda x: x[..., None]),
        ("unsqueeze.default(x, 1)", lambda x: x[:, None]),
        ("squeeze.default(x)", lambda x: x),
        ("slice.Tensor(x, 1, 2)", lambda x: x[:, 2:]),
        ("slice.Tensor(x, 1, 1, 9223372036854775807, 2)", lambda x: x[:, 1::2]),
        ("slice.Tensor(x, 0, -3, -1)", lambda x: x[-3:-1]),
        ("slice.Tensor(x, 0, -9, 3)", lambda x: x[-9:3]),
        ("slice.Tensor(x, -1, 0, 5, 3)", lambda x: x[:, 0:5:3]),
        ("slice.Tensor(x, 1, None, -2)", lambda x: x[:, :-2]),
        ("select.int(x, 0, 2)", lambda x: x[2]),
        ("select.int(x, -1, -2)", lambda x: x[:, -2]),
        ("flip.default(x, [0])", lambda x: x[::-1]),
        ("flip.default(x, [-1, 0])", lambda x: x[::-1, ::-1]),
        ("flip.default(x, [])", lambda x: x),
        ("diagonal.default(x)", diagonal(0, 0, 1)),
        ("diagonal.default(x, 2)", diagonal(2, 0, 1)),
        ("diagonal.default(x, -1)", diagonal(-1, 0, 1)),
        ("diagonal.default(x, 1, 1, 0)", diagonal(1, 1, 0)),
        ("narrow.default(x, 1, 2, 3)", lambda x: x[:, 2:5]),
        ("narrow.default(x, 0, -3, 2)", lambda x: x[1:3]),
        ("unfold.default(x, 1, 3, 2)", unfold(1, 3, 2)),
        ("unfold.default(x, 0, 2, 1)", unfold(0, 2, 1)),
        ("as_strided.default(x, [3, 2], [7, 1], 2)", strided([3, 2], [7, 1], 2)),
        ("as_strided.default(x, [2, 2, 3], [1, 12, 3])", strided([2, 2, 3], [1, 12, 3], 0)),
        ("unbind.int(x)[2]", lambda x: x[2]),
        ("unbind.int(x, -1)[5]", lambda x: x[:, 5]),
        ("split.Tensor(x, 4, 1)[1]", lambda x: x[:, 4:]),
        ("split.Tensor(x, 3)[0]", lambda x: x[:3]),
        ("unsafe_split.Tensor(x, 3)[0]", lambda x: x[:3]),
        ("unsafe_split_with_sizes.default(x, [1, 2, 3], 1)[2]", lambda x: x[:, 3:]),
        ("split_with_sizes.default(x, [1, 2, 3], 1)[2]", lambda x: x[:, 3:]),
        ("split.sizes(x, [1, 3])[1]", lambda x: x[1:]),
        ("chunk.default(x, 4, 1)[2]", lambda x: x[:, 4:6]),
        ("chunk.default(x, 2)[1]", lambda x: x[2:]),
    ],
    (2, 1, 3, 5): [
        ("permute.default(x, [3, 0, -2, 1])", lambda x: x.transpose(3, 0, 2, 1)),
        ("transpose.int(x, 1, 3)", lambda x: x.swapaxes(1, 3)),
        ("swapaxes.default(x, -4, 2)", lambda x: x.swapaxes(0, 2)),
        ("swapdims.default(x, -4, 2)", lambda x: x.swapaxes(0, 2)),
        ("moveaxis.int(x, 3, 0)", lambda x: np.moveaxis(x, 3, 0)),
        ("moveaxis.intlist(x, [0, 3], [2, 0])", lambda x: np.moveaxis(x, [0, 3], [2, 0])),
        ("movedim.int(x, 3, 0)", lambda x: np.moveaxis(x, 3, 0)),
        ("movedim.intlist(x, [0, 3], [2, 0])", lambda x: np.moveaxis(x, [0, 3], [2, 0])),
        ("numpy_T.default(x)", lambda x: x.T),
        ("mT.default(x)", lambda x: x.swapaxes(2, 3)),
        ("squeeze.default(x)", lambda x: x[:, 0]),
        ("squeeze.dim(x, 1)", lambda x: x[:, 0]),
        ("squeeze.dim(x, 0)", lambda x: x),
        ("squeeze.dims(x, [0, -3])", lambda x: x[:, 0]),
        ("expand.default(x, [2, 4, 3, 5])", lambda x: np.broadcast_to(x, (2, 4, 3, 5))),
        ("expand.default(x, [6, -1, -1, -1, -1])", lambda x: np.broadcast_to(x, (6, 2, 1, 3, 5))),
        ("flatten.using_ints(x, 1, -2)", lambda x: x.reshape(2, 3, 5)),
        ("view.default(x, [3, 10])", lambda x: x.reshape(3, 10)),
        ("view.default(x, [1, 2, 3, 1, 5])", lambda x: x.reshape(1, 2, 3, 1, 5)),
        ("diagonal.default(x, 1, -2, -1)", diagonal(1, 2, 3)),
        ("select.int(x, 1, 0)", lambda x: x[:, 0]),
        ("unfold.default(x, -1, 2, 3)", unfold(3, 2, 3)),
    ],
    (): [
        ("view.default(x, [1, 1])", lambda x: x.reshape(1, 1)),
        ("unsqueeze.default(x, 0)", lambda x: x[None]),
        ("expand.default(x, [2, 2])", lambda x: np.broadcast_to(x, (2, 2))),
        ("flatten.using_ints(x)", lambda x: x.reshape(1)),
        ("atleast_1d.default(x)", lambda x: x.reshape(1)),
        ("atleast_2d.default(x)", lambda x: x.reshape(1, 1)),
    ],
}

# Views of x: "f32[s0, s1, 4]"; n is its size along axis 0.
SYMBOLIC = [
    ("flatten.using_ints(x)", lambda x: x.ravel()),
    ("flatten.using_ints(x, 1)", lambda x: x.reshape(len(x), -1)),
    ("view.default(x, [n, -1, 2, 2])", lambda x: x.reshape(len(x), -1, 2, 2)),
    ("slice.Tensor(x, 0, -1)", lambda x: x[-1:]),
    ("slice.Tensor(x, 1, -9)", lambda x: x[:, -9:]),
    ("slice.Tensor(x, 0, 1, n)", lambda x: x[1:]),
    ("slice.Tensor(x, 1, 0, 9223372036854775807, 2)", lambda x: x[:, ::2]),
    ("select.int(x, 1, -1)", lambda x: x[:, -1]),
    ("flip.default(x, [0, 1])", lambda x: x[::-1, ::-1]),
    ("diagonal.default(x)", diagonal(0, 0, 1)),
    ("permute.default(x, [2, 0, 1])", lambda x: x.transpose(2, 0, 1)),
    ("unfold.default(x, 1, 2, 1)", unfold(1, 2, 1)),
    ("expand.default(x, [3, n, -1, -1])", lambda x: np.broadcast_to(x, (3, ) + x.shape)),
]


def lines_of(calls):
    """A statement for each call; an item of a list takes two."""
    for i, (call, _) in enumerate(calls):
        call, bracket, item = call.partition(")[")
        if bracket:
            yield f"l{i} = torch.ops.aten.{call})"
            yield f"y{i} = l{i}[{item}"
        else:
            yield f"y{i} = torch.ops.aten.{call}"


def check_views(folder, kind, shape, calls, lines=(), symbols=()):
    found = {}
    for line in describe(folder, [("x", kind)], [*lines, *lines_of(calls)], symbols):
        name, *numbers = line[0].split()[1:]
        found[name] = [int(k) for k in numbers]
    x = np.arange(math.prod(shape)).reshape(shape)
    for i, (call, numpy) in enumerate(calls):
        check(found.get(f"y{i}") == numpy(x).ravel().tolist(), f"{call} of {list(shape)}")


def views(folder, wanted):
    for shape, calls in VIEWS.items():
        calls = [c for c in calls if wanted(c[0])]
        check_views(folder, f"f32[{', '.join(map(str, shape))}]", shape, calls)
    calls = [c for c in SYMBOLIC if wanted(c[0])]
    for s0, s1 in (2, 2), (3, 5), (4, 3):
        check_views(folder, "f32[s0, s1, 4]", (s0, s1, 4), calls,
                    ["n = torch.ops.aten.sym_size.int(x, 0)"], [f"s0={s0}", f"s1={s1}"])


# ---- pointwise ops: call, and the same in NumPy ----

POINTS = 256
KINDS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32,
         "i64": np.int64, "u8": np.uint8, "b8": np.bool_}
LANGUAGE = {"float16": np.float16, "float32": np.float32, "float64": np.float64,
            "int32": np.int32, "int64": np.int64, "uint8": np.uint8, "int1": np.int32}
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 3.0, -3.0, 20.5, -20.5, 0.1, 100.0,
           math.inf, -math.inf, math.nan]


def floats(dtype):
    """Pairs of special numbers among ordinary ones."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 3, (2, POINTS)).astype(dtype)
    pairs = [(a, b) for a in SPECIAL for b in SPECIAL][::2]
    x[:len(pairs)], y[:len(pairs)] = np.array(pairs, dtype).T
    return x, y


def integers(dtype):
    rng = np.random.default_rng(2)
    low = 0 if dtype == np.uint8 else -12
    x = rng.integers(low, 13, POINTS).astype(dtype)
    y = rng.integers(1, 6, POINTS) * (1 if low == 0 else rng.choice([-1, 1], POINTS))
    return x, y.astype(dtype)


def inputs():
    """Two tensors of each kind, such as x_f32 and y_f32; small is in (-1, 1), n has no axes."""
    env = {}
    for kind, dtype in KINDS.items():
        make = floats if np.issubdtype(dtype, np.floating) else integers
        env[f"x_{kind}"], env[f"y_{kind}"] = make(dtype)
    rng = np.random.default_rng(3)
    env["x_b8"], env["y_b8"] = rng.random((2, POINTS)) < 0.5
    env["small_f32"] = rng.uniform(-0.99, 0.99, POINTS).astype(np.float32)
    env["n_f32"], env["n_i64"] = (np.full(POINTS, env[f"x_{k}"][5]) for k in ("f32", "i64"))
    env["share_f32"] = rng.uniform(0.01, 0.99, POINTS).astype(np.float32)
    env["positive_f32"] = np.exp(rng.normal(0, 3, POINTS)).astype(np.float32)
    return env


def wide(f):
    """f of f64, whatever the operands are."""
    return lambda *x: f(*[v.astype(np.float64) if hasattr(v, "astype") else v for v in x])


def erf(x):
    return np.array([math.erf(v) for v in x])


def gelu(x):
    """x times the normal distribution; of -inf the limit."""
    x = np.maximum(x, -1e9)
    return 0.5 * x * np.array([math.erfc(v) for v in x / -math.sqrt(2)])


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.where(x > 20, x, np.log1p(np.exp(x)))


def mish_backward(g, x):
    t = np.tanh(softplus(x))
    return g * (t + x * sigmoid(x) * (1 - t * t))


GRADIENTS = {  # of the gradient and the operand, or what the op gave for it
    "hardsigmoid_backward": lambda g, x: np.where((x > -3) & (x < 3), g / 6, 0),
    "hardswish_backward": lambda g, x: np.where(x <= -3, 0, np.where(x < 3, g * (x / 3 + .5), g)),
    "mish_backward": mish_backward,
    "sigmoid_backward": lambda g, y: g * (1 - y) * y,
    "silu_backward": lambda g, x: g * sigmoid(x) * (1 + x * (1 - sigmoid(x))),
    "tanh_backward": lambda g, y: g * (1 - y * y),
}


def truncated(x, y):
    """Of integers, towards zero."""
    return (np.abs(x.astype(np.int64)) // np.abs(y)) * np.sign(x) * np.sign(y)


def each(f):
    return np.vectorize(f, otypes=[np.float64])


def erfcx(x):
    """exp(x**2) * erfc(x)."""
    return np.exp(x * x) * each(math.erfc)(x)


def normal(x):
    return each(math.erfc)(x / -math.sqrt(2)) / 2


def i1(x):
    """By the integral over an angle, whose middle sum converges fast."""
    angles = np.cos((np.arange(400) + 0.5) * math.pi / 400)
    return np.mean(np.exp(np.multiply.outer(x, angles)) * angles, axis=-1)


def over_angles(f):
    """The mean of f(x, angle) over half a turn, whose middle sum converges fast."""
    angles = (np.arange(400) + 0.5) * math.pi / 400
    return lambda x: np.mean(f(np.asarray(x)[:, None], angles), axis=-1)


def over_waves(order):
    """Y of that order by its integrals over an angle, and over t."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    angles, t = (nodes + 1) * math.pi / 2, (nodes + 1) * 6

    def y(x):
        x = np.asarray(x)[:, None]
        wave = np.sin(x * np.sin(angles) - order * angles) @ weights / 2
        fall = np.exp(order * t) + (-1)**order * np.exp(-order * t)
        return wave - (fall * np.exp(-x * np.sinh(t))) @ weights * 6 / math.pi
    return y


def over_line(order, scaled=False):
    """K of that order: the integral of cosh(order t) e^(-x cosh t)."""
    t = np.arange(0, 12, 0.005)
    weight = np.where(t == 0, 0.5, 1) * 0.005 * np.cosh(order * t)
    return lambda x: np.exp(np.outer(-np.asarray(x), np.cosh(t) - scaled)) @ weight


def airy(x):
    """By its differential equation's power series."""
    z, f, g, a, b = x**3, 0, 0, 0.355028053887817239, 0.258819403792806798 * x
    for k in range(1, 30):
        f, g = f + a, g + b
        a, b = a * z / ((3 * k - 1) * (3 * k)), b * z / ((3 * k) * (3 * k + 1))
    return f - g


def of_order(values):
    """A polynomial of x by its order, of NumPy's values of a series."""
    return np.vectorize(lambda x, n: values(x, [0] * int(n) + [1]), otypes=[np.float64])


def chebyshev_u(x, series):
    """Of the second kind: a derivative of the first."""
    slope = np.polynomial.chebyshev.chebder([0, *series]) / len(series)
    return np.polynomial.chebyshev.chebval(x, slope)


def chebyshev_sum(sign):
    """Of the third and fourth kind: a difference, and a sum, of two of the second."""
    def values(x, series):
        return chebyshev_u(x, series) + (sign * chebyshev_u(x, series[1:]) if series[1:] else 0)
    return values


def shifted(values):
    return lambda x, n: values(2 * x - 1, n)


CHEBYSHEV = {"t": np.polynomial.chebyshev.chebval, "u": chebyshev_u, "v": chebyshev_sum(-1),
             "w": chebyshev_sum(1)}
POLYNOMIALS = {
    **{f"special_chebyshev_polynomial_{kind}": of_order(f) for kind, f in CHEBYSHEV.items()},
    **{f"special_shifted_chebyshev_polynomial_{kind}": shifted(of_order(f))
       for kind, f in CHEBYSHEV.items()},
    "special_hermite_polynomial_h": of_order(np.polynomial.hermite.hermval),
    "special_hermite_polynomial_he": of_order(np.polynomial.hermite_e.hermeval),
    "special_laguerre_polynomial_l": of_order(np.polynomial.laguerre.lagval),
    "special_legendre_polynomial_p": of_order(np.polynomial.legendre.legval),
}


def zeta(q, s):
    """The sum of 4000 terms, and the integral of the others."""
    k = np.arange(4000)
    end = q + 4000 - 0.5
    return np.sum((q[:, None] + k)**-s[:, None], axis=1) + end**(1 - s) / (s - 1)


def lower_gamma(a, x):
    """P(a, x) by its power series."""
    total = term = np.ones_like(x)
    for k in range(1, 200):
        term = term * x / (a + k)
        total = total + term
    return total * np.exp(a * np.log(x) - x - each(math.lgamma)(a + 1))


def times_log(x, log):
    return np.where(x == 0, 0, x * log)


UNARY = {  # of floats; the operand is x unless there is another
    "abs": np.abs, "ceil": np.ceil, "cos": np.cos, "erf": erf, "erfc": lambda x: 1 - erf(x),
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "fix": np.trunc, "floor": np.floor,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "isneginf": np.isneginf,
    "isposinf": np.isposinf, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "log_sigmoid": lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    "logical_not": lambda x: x == 0, "mish": lambda x: x * np.tanh(softplus(x)),
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x, "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6), "round": np.rint, "rsqrt": lambda x: 1 / np.sqrt(x),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "sigmoid": sigmoid, "sign": lambda x: np.nan_to_num(np.sign(x)), "signbit": np.signbit,
    "silu": lambda x: x * sigmoid(x), "sin": np.sin, "softplus": softplus, "sqrt": np.sqrt,
    "square": np.square, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
    "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "atan": np.arctan,
    "acos(small": np.arccos, "asin(small": np.arcsin, "atanh(small": np.arctanh,
    "acosh(positive": np.arccosh,
    "angle": lambda x: np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0)),
    "deg2rad": np.deg2rad, "rad2deg": np.rad2deg, "frac(small": lambda x: x - np.trunc(x),
    "erfinv(small": each(lambda x: statistics.NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)),
    "i0(small": np.i0, "special_i1(small": i1, "lgamma(positive": each(math.lgamma),
    "sinc(small": np.sinc, "special_entr(small": each(
        lambda x: -x * math.log(x) if x > 0 else 0.0 if x == 0 else -math.inf),
    "special_erfcx(small": erfcx, "special_ndtr(small": normal,
    "special_log_ndtr(small": lambda x: np.log(normal(x)),
    "special_i0e(small": over_angles(lambda x, a: np.exp(x * np.cos(a) - np.abs(x))),
    "special_i1e(small": over_angles(lambda x, a: np.exp(x * np.cos(a) - np.abs(x)) * np.cos(a)),
    "special_bessel_j0(small": over_angles(lambda x, a: np.cos(x * np.sin(a))),
    "special_bessel_j1(small": over_angles(lambda x, a: np.cos(a - x * np.sin(a))),
    "special_bessel_y0(share": over_waves(0), "special_bessel_y1(share": over_waves(1),
    "special_modified_bessel_k0(share": over_line(0),
    "special_modified_bessel_k1(share": over_line(1),
    "special_scaled_modified_bessel_k0(share": over_line(0, True),
    "special_scaled_modified_bessel_k1(share": over_line(1, True),
    "special_spherical_bessel_j0(small": lambda x: np.sinc(x / math.pi),
    "special_airy_ai(small": airy,
    "gelu": gelu,
    "hardtanh": lambda x: np.clip(x, -1, 1), "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "hardshrink": lambda x: np.where(np.abs(x) <= 0.5, 0, x),
    "softshrink": lambda x: np.where(x > 0.5, x - 0.5, np.where(x < -0.5, x + 0.5, x * 0)),
}

INTEGER_UNARY = {
    "abs": np.abs, "ceil": lambda x: x, "floor": lambda x: x, "round": lambda x: x,
    "trunc": lambda x: x, "neg": np.negative, "relu": lambda x: np.maximum(x, 0),
    "sign": np.sign, "signbit": lambda x: x < 0, "square": np.square, "isnan": lambda x: x != x,
    "isinf": lambda x: x != x, "isfinite": lambda x: x == x, "logical_not": lambda x: x == 0,
    "bitwise_not": np.invert, "relu6": lambda x: np.clip(x, 0, 6), "nan_to_num": lambda x: x,
    "exp": wide(np.exp), "sqrt": wide(np.sqrt), "sigmoid": wide(sigmoid),
    "reciprocal": wide(lambda x: 1 / x),
}

BINARY = {
    "add.Tensor": np.add, "sub.Tensor": np.subtract, "mul.Tensor": np.multiply,
    "div.Tensor": np.divide, "rsub.Tensor": lambda x, y: y - x, "maximum.default": np.maximum,
    "minimum.default": np.minimum, "max.other": np.maximum, "min.other": np.minimum,
    "fmax.default": np.fmax, "fmin.default": np.fmin, "eq.Tensor": np.equal,
    "ne.Tensor": np.not_equal, "lt.Tensor": np.less, "le.Tensor": np.less_equal,
    "gt.Tensor": np.greater, "ge.Tensor": np.greater_equal, "fmod.Tensor": np.fmod,
    "remainder.Tensor": lambda x, y: np.mod(x, y), "logical_and.default": np.logical_and,
    "logical_or.default": np.logical_or, "logical_xor.default": np.logical_xor,
    "clamp_min.Tensor": np.maximum, "clamp_max.Tensor": np.minimum,
    "floor_divide.default": np.floor_divide,
}
FLOAT_BINARY = {
    **BINARY, "atan2.default": np.arctan2, "pow.Tensor_Tensor": np.power,
    "logaddexp.default": np.logaddexp,
    "isclose.default": np.isclose, "copysign.Tensor": np.copysign, "hypot.default": np.hypot,
}
INTEGER_BINARY = {
    **BINARY, "bitwise_and.Tensor": np.bitwise_and, "bitwise_or.Tensor": np.bitwise_or,
    "gcd.default": np.gcd, "bitwise_xor.Tensor": np.bitwise_xor, "__and__.Tensor": np.bitwise_and,
    "__or__.Tensor": np.bitwise_or, "__xor__.Tensor": np.bitwise_xor,
}

OTHERS = [  # a name that ends in _KIND is a tensor
    ("add.Tensor(x_f32, y_f32, alpha=2)", lambda x, y: x + 2 * y),
    ("sub.Tensor(x_f32, y_f32, alpha=0.5)", lambda x, y: x - 0.5 * y),
    ("rsub.Scalar(x_f32, 1.0)", lambda x: 1 - x),
    ("rsub.Tensor(x_i32, y_i32, alpha=3)", lambda x, y: y - 3 * x),
    ("sub.Tensor(x_i64, y_i64, alpha=3)", lambda x, y: x - 3 * y),
    ("add.Tensor(x_f16, y_f32)", lambda x, y: x.astype(np.float32) + y),
    ("add.Tensor(x_i64, y_f32)", lambda x, y: x.astype(np.float32) + y),
    ("add.Tensor(x_u8, y_i32)", lambda x, y: x + y),
    ("add.Tensor(x_b8, y_i64)", lambda x, y: x + y),
    ("mul.Tensor(x_i32, 2.5)", lambda x: x.astype(np.float32) * np.float32(2.5)),
    ("add.Tensor(x_i32, 3)", lambda x: x + 3),
    ("mul.Tensor(x_f32, 2)", lambda x: x * 2),
    ("add.Tensor(x_b8, y_b8)", np.logical_or),
    ("mul.Tensor(x_b8, y_b8)", np.logical_and),
    ("maximum.default(x_b8, y_b8)", np.logical_or),
    ("minimum.default(x_b8, y_b8)", np.logical_and),
    ("bitwise_and.Tensor(x_b8, y_b8)", np.logical_and),
    ("bitwise_or.Tensor(x_b8, y_b8)", np.logical_or),
    ("bitwise_xor.Tensor(x_b8, y_b8)", np.logical_xor),
    ("bitwise_not.default(x_b8)", np.logical_not),
    ("logical_and.default(x_b8, y_b8)", np.logical_and),
    ("logical_xor.default(x_b8, y_b8)", np.logical_xor),
    ("logical_or.default(x_b8, y_f32)", np.logical_or),
    ("logical_not.default(x_b8)", np.logical_not),
    ("eq.Tensor(x_b8, y_b8)", np.equal),
    ("lt.Tensor(x_b8, y_b8)", lambda x, y: ~x & y),
    ("eq.Scalar(x_b8, 1)", lambda x: x),
    ("lt.Scalar(x_i64, 2.5)", lambda x: x < 2.5),
    ("ge.Scalar(x_f32, 0)", lambda x: x >= 0),
    ("isnan.default(x_b8)", lambda x: x != x),
    ("div.Tensor_mode(x_f32, y_f32, rounding_mode='floor')", np.floor_divide),
    ("div.Tensor_mode(x_f32, y_f32, rounding_mode='trunc')", lambda x, y: np.trunc(x / y)),
    ("div.Tensor_mode(x_f32, y_f32, rounding_mode=None)", np.divide),
    ("div.Tensor_mode(x_i32, y_i32, rounding_mode='floor')", np.floor_divide),
    ("div.Tensor_mode(x_i64, y_i64, rounding_mode='trunc')", truncated),
    ("div.Tensor_mode(x_f64, y_f64, rounding_mode='floor')", np.floor_divide),
    ("div.Scalar_mode(x_i64, -3, rounding_mode='floor')", lambda x: x // -3),
    ("div.Scalar_mode(x_i64, 3, rounding_mode='trunc')", lambda x: np.fix(x / 3)),
    ("div.Scalar(x_i64, 4)", lambda x: x / 4),
    ("floor_divide.Scalar(x_i32, 4)", lambda x: x // 4),
    ("floor_divide.Scalar(x_f32, 0.75)", lambda x: np.floor_divide(x, np.float32(0.75))),
    ("remainder.Scalar(x_i32, 5)", lambda x: x % 5),
    ("remainder.Scalar(x_i32, -5)", lambda x: x % -5),
    ("remainder.Scalar_Tensor(7, y_i64)", lambda y: 7 % y),
    ("remainder.Scalar(x_f32, 0.75)", lambda x: np.mod(x, np.float32(0.75))),
    ("fmod.Scalar(x_i32, 5)", lambda x: np.fmod(x, 5)),
    ("clamp.default(x_f32, -1, 1)", lambda x: np.clip(x, -1, 1)),
    ("clamp.default(x_f32, None, 1)", lambda x: np.minimum(x, 1)),
    ("clamp.default(x_f32, 0.5)", lambda x: np.maximum(x, np.float32(0.5))),
    ("clamp.default(x_f32, 1, -1)", lambda x: np.minimum(np.maximum(x, 1), -1)),
    ("clamp.default(x_i64, -2, 5)", lambda x: np.clip(x, -2, 5)),
    ("clamp.default(x_i32, 0, None)", lambda x: np.maximum(x, 0)),
    ("clamp.Tensor(x_f32, y_f32)", np.maximum),
    ("clamp.Tensor(x_f32, None, y_f32)", np.minimum),
    ("clamp.Tensor(x_f32, y_f32, small_f32)", lambda x, y, s: np.minimum(np.maximum(x, y), s)),
    ("clip.default(x_f32, 0, 6)", lambda x: np.clip(x, 0, 6)),
    ("clamp_min.default(x_f32, 0.25)", lambda x: np.maximum(x, 0.25)),
    ("clamp_max.default(x_i32, 3)", lambda x: np.minimum(x, 3)),
    ("hardtanh.default(x_f32, 0.0, 6.0)", lambda x: np.clip(x, 0, 6)),
    ("elu.default(x_f32, 2.0, 3.0, 0.5)",
     lambda x: np.where(x > 0, 3 * x, 6 * np.expm1(x * 0.5))),
    ("celu.default(x_f32, 2.0)", lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    ("leaky_relu.default(x_f32, 0.2)", lambda x: np.where(x > 0, x, np.float32(0.2) * x)),
    ("softplus.default(x_f32, 2, 10)",
     lambda x: np.where(2 * x > 10, x, np.log1p(np.exp(2 * x)) / 2)),
    ("gelu.default(x_f32, approximate='tanh')", gelu_tanh),
    ("lerp.Scalar(x_f32, y_f32, 0.25)", lambda x, y: x + (y - x) / 4),
    ("lerp.Scalar(x_f32, y_f32, 0.75)", lambda x, y: y - (y - x) / 4),
    ("lerp.Tensor(x_f32, y_f32, small_f32)",
     lambda x, y, w: np.where(np.abs(w) < 0.5, x + w * (y - x), y - (y - x) * (1 - w))),
    ("addcmul.default(x_f32, y_f32, small_f32, value=2)", lambda x, y, s: x + 2 * y * s),
    ("addcdiv.default(x_f32, y_f32, small_f32, value=0.5)", lambda x, y, s: x + 0.5 * y / s),
    ("nan_to_num.default(x_f32, 1.0, 2.0, 3.0)", lambda x: np.nan_to_num(x, True, 1, 2, 3)),
    ("nan_to_num.default(x_f32, None, 2.0)", lambda x: np.nan_to_num(x, True, 0, 2)),
    ("nan_to_num.default(x_f16)", np.nan_to_num),
    ("nan_to_num.default(x_f32)", np.nan_to_num),
    ("nan_to_num.default(x_f64)", np.nan_to_num),
    ("pow.Tensor_Scalar(x_f32, 2)", lambda x: x * x),
    ("pow.Tensor_Scalar(x_f32, 3)", lambda x: x * x * x),
    ("pow.Tensor_Scalar(x_f32, 0.5)", np.sqrt),
    ("pow.Tensor_Scalar(x_f32, -0.5)", lambda x: 1 / np.sqrt(x)),
    ("pow.Tensor_Scalar(x_f32, -1)", lambda x: 1 / x),
    ("pow.Tensor_Scalar(x_f32, -2)", lambda x: 1 / (x * x)),
    ("pow.Tensor_Scalar(x_f32, 0)", lambda x: np.ones_like(x)),
    ("pow.Tensor_Scalar(x_f32, 1.7)", lambda x: np.power(x, np.float32(1.7))),
    ("pow.Tensor_Scalar(x_i64, 3)", lambda x: x**3),
    ("pow.Tensor_Scalar(x_i32, 0)", lambda x: x**0),
    ("pow.Tensor_Tensor(x_i64, y_u8)", lambda x, y: x**y),
    ("pow.Scalar(2, y_f32)", np.exp2),
    ("pow.Scalar(2.5, y_f32)", lambda y: np.power(np.float32(2.5), y)),
    ("pow.Scalar(3, y_u8)", lambda y: 3**y.astype(np.int64)),
    ("where.self(x_b8, x_f32, y_f32)", np.where),
    ("where.self(x_b8, x_i64, y_i64)", np.where),
    ("where.self(x_b8, y_b8, x_b8)", np.where),
    ("where.self(x_b8, x_i64, y_f32)", lambda c, x, y: np.where(c, x.astype(np.float32), y)),
    ("where.ScalarOther(x_b8, x_f32, 0.5)", lambda c, x: np.where(c, x, 0.5)),
    ("where.ScalarSelf(x_b8, -1, y_i32)", lambda c, y: np.where(c, -1, y)),
    ("where.Scalar(x_b8, 1.0, 0.0)", lambda c: np.where(c, 1.0, 0.0)),
    ("where.Scalar(x_b8, 5, -7)", lambda c: np.where(c, 5, -7)),
    ("masked_fill.Scalar(x_f32, y_b8, -1000000000.0)", lambda x, m: np.where(m, -1e9, x)),
    ("masked_fill.Scalar(x_f16, y_b8, -inf)",
     lambda x, m: np.where(m, -np.inf, x)),
    ("masked_fill.Scalar(x_i64, y_b8, 7)", lambda x, m: np.where(m, 7, x)),
    ("masked_fill.Scalar(x_b8, y_b8, True)", np.logical_or),
    ("bitwise_left_shift.Tensor(x_i32, y_u8)", lambda x, y: x << y),
    ("bitwise_right_shift.Tensor(x_i64, y_u8)", lambda x, y: x >> y),
    ("bitwise_left_shift.Tensor_Scalar(x_i32, 2)", lambda x: x << 2),
    ("bitwise_left_shift.Scalar_Tensor(3, y_u8)", lambda y: np.uint8(3) << y),
    ("bitwise_right_shift.Scalar_Tensor(200, y_u8)", lambda y: np.uint8(200) >> y),
    ("bitwise_right_shift.Tensor_Scalar(x_i32, 1)", lambda x: x >> 1),
    ("bitwise_and.Scalar(x_i32, 6)", lambda x: x & 6),
    ("bitwise_and.Scalar_Tensor(6, x_i32)", lambda x: x & 6),
    ("bitwise_or.Scalar_Tensor(6, x_i32)", lambda x: x | 6),
    ("bitwise_xor.Scalar_Tensor(6, x_i32)", lambda x: x ^ 6),
    ("bitwise_or.Scalar(x_i64, 6)", lambda x: x | 6),
    ("bitwise_xor.Scalar(x_u8, 6)", lambda x: x ^ 6),
    ("isclose.default(x_i64, y_i64)", np.equal),
    ("isclose.default(x_f32, y_f32, equal_nan=True)",
     lambda x, y: np.isclose(x, y, equal_nan=True)),
    ("to.dtype(small_f32, torch.int64)", lambda x: x.astype(np.int64)),
    ("to.dtype(positive_f32, torch.int32)", lambda x: x.astype(np.int32)),
    ("to.dtype(x_f32, torch.bool)", lambda x: x != 0),
    ("to.dtype(x_i64, torch.bool)", lambda x: x != 0),
    ("to.dtype(x_b8, torch.float32)", lambda x: x.astype(np.float32)),
    ("to.dtype(x_b8, torch.int64)", lambda x: x.astype(np.int64)),
    ("to.dtype(x_f32, torch.float16)", lambda x: x.astype(np.float16)),
    ("to.dtype(x_f16, torch.float32)", lambda x: x.astype(np.float32)),
    ("to.dtype(x_f64, torch.float32)", lambda x: x.astype(np.float32)),
    ("to.dtype(x_i64, torch.uint8)", lambda x: x.astype(np.uint8)),
    ("_to_copy.default(x_i32, dtype=torch.float32)", lambda x: x.astype(np.float32)),
    ("type_as.default(x_b8, y_f32)", lambda x, y: x.astype(np.float32)),
    ("copysign.Scalar(x_f32, -2)", lambda x: np.copysign(x, -2)),
    ("copysign.Scalar(x_i64, -0.0)", lambda x: np.copysign(x, -0.0)),
    ("clone.default(x_f32)", lambda x: x),
    ("clone.default(x_b8)", lambda x: x),
    ("add.Scalar(x_f32, 2, 3)", lambda x: x + 6),
    ("sub.Scalar(x_i64, 2, 3)", lambda x: x - 6),
    ("mul.Scalar(x_f32, 0.5)", lambda x: x / 2),
    ("ne.Scalar(x_f32, 0.5)", lambda x: x != 0.5),
    ("gt.Scalar(x_i32, 2)", lambda x: x > 2),
    ("le.Scalar(x_f32, -0.5)", lambda x: x <= -0.5),
    ("clip.Tensor(x_f32, y_f32)", np.maximum),
    ("masked_fill.Tensor(x_f32, y_b8, n_f32)", lambda x, m, v: np.where(m, v, x)),
    ("fill.Tensor(x_f32, n_i64)", lambda x, y: y.astype(np.float32)),
    ("to.other(x_i64, y_f32)", lambda x, y: x.astype(np.float32)),
    ("to.device(x_i64, device(type='cpu'), torch.float32)", lambda x: x.astype(np.float32)),
    ("to.dtype_layout(x_i64, dtype=torch.float64)", lambda x: x.astype(np.float64)),
    ("copy.default(x_f32, y_i64)", lambda x, y: y.astype(np.float32)),
    ("copy.default(x_b8, y_f32)", lambda x, y: y != 0),
    ("heaviside.default(small_f32, y_f32)", np.heaviside),
    ("threshold.default(x_f32, 0.5, -3)", lambda x: np.where(x <= 0.5, -3, x)),
    ("logaddexp2.default(small_f32, positive_f32)", np.logaddexp2),
    ("xlogy.Tensor(x_f32, positive_f32)", lambda x, y: times_log(x, np.log(y))),
    ("special_xlog1py.default(x_f32, small_f32)", lambda x, y: times_log(x, np.log1p(y))),
    ("special_ndtri.default(share_f32)", each(statistics.NormalDist().inv_cdf)),
    ("_prelu_kernel.default(x_f32, y_f32)", lambda x, w: np.where(x > 0, x, w * x)),
    ("threshold_backward.default(x_f32, y_f32, 0.5)", lambda g, x: np.where(x <= 0.5, 0, g)),
    ("leaky_relu_backward.default(x_f32, y_f32, 0.2, False)",
     lambda g, x: np.where(x > 0, g, np.float32(0.2) * g)),
    ("hardshrink_backward.default(x_f32, y_f32, 0.5)",
     lambda g, x: np.where(np.abs(x) <= 0.5, 0, g)),
    ("softshrink_backward.default(x_f32, y_f32, 0.5)",
     lambda g, x: np.where(np.abs(x) <= 0.5, 0, g)),
    ("hardtanh_backward.default(x_f32, y_f32, -1, 3)",
     lambda g, x: np.where((x <= -1) | (x >= 3), 0, g)),
    ("softplus_backward.default(small_f32, share_f32, 2, 10)",
     lambda g, x: g * sigmoid(2 * x)),
    ("native_dropout_backward.default(x_f32, y_b8, 1.25)", lambda g, mask: g * (mask * 1.25)),
    ("special_zeta.default(y_u8, share_f32)", lambda s, q: zeta(q, s * 1.0)),
    ("igamma.default(positive_f32, share_f32)", wide(lambda a, x: lower_gamma(a, x))),
    ("igammac.default(positive_f32, share_f32)", wide(lambda a, x: 1 - lower_gamma(a, x))),
    ("nextafter.default(x_f32, y_f32)", np.nextafter),
    ("nextafter.default(x_f64, y_f64)", np.nextafter),
    ("prims.div.default(x_f32, y_f32)", np.divide),
    ("prims.div.default(x_i64, y_i64)", truncated),
    ("pow.Scalar(0.3, y_f64)", lambda y: np.power(0.3, y)),
    ("prims.fma.default(x_f32, y_f32, small_f32)", lambda x, y, z: x * y + z),
]


def cases():
    for name, f in UNARY.items():
        op, _, operand = name.partition("(")
        for kind in ["f32"] if operand else ["f32", "f16", "f64"]:
            yield f"{op}.default({operand or 'x'}_{kind})", wide(f)
    for name, f in INTEGER_UNARY.items():
        for kind in "i32", "i64", "u8":
            if (name, kind) != ("neg", "u8"):
                yield f"{name}.default(x_{kind})", f
    for name, f in FLOAT_BINARY.items():
        for kind in "f32", "f16", "f64":
            yield f"{name}(x_{kind}, y_{kind})", f
    for name, f in INTEGER_BINARY.items():
        for kind in "i32", "i64", "u8":
            yield f"{name}(x_{kind}, y_{kind})", f
    for name, f in GRADIENTS.items():
        yield f"{name}.default(small_f32, share_f32)", wide(f)
    for name, f in POLYNOMIALS.items():
        yield f"{name}.default(small_f32, y_u8)", wide(f)
    yield from OTHERS


def helpers(*names):
    return "".join((ROOT / "planner/kernels/templates" / name).read_text() for name in names)


HEADER = helpers(
    "header.py", "airy.py", "bessel.py", "numbers.py", "gelu.py", "incomplete_gamma.py", "mish.py",
    "orthogonal.py", "power.py", "zeta.py", "poly.py") + """

@triton.jit
def kernel({parameters}):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
"""


def tensors_of(call):
    names = re.findall(r"\b(?:n|x|y|small|share|positive)_(?:f16|f32|f64|i32|i64|u8|b8)\b", call)
    return sorted(set(names)), names


def statement(number, line):
    """The store of a node that the program described, and its dtype."""
    head, text = line
    _, _, compute, result, _, *operands = head.split(" ", 5)
    values = []
    for operand in operands[0].split(" ") if operands else []:
        name, _, dtype = operand.rpartition(":")
        tensor = re.fullmatch(r"(n|x|y|small|share|positive)_\w+", name)
        name = re.sub(r"^(-?)inf$|^nan$", lambda m: f'float("{m[0]}")', name)
        values.append(f"{name}.to(tl.{dtype})" if tensor else name)
    text = re.sub(r"\{(\d)\}", lambda m: values[int(m[1])], text)
    if result == "int1":
        return f"    tl.store(out{number} + i, ({text}).to(tl.int32))\n", result
    held = "float32" if result == "float16" else result
    cast = f"({text})" if held == compute else f"({text}).to(tl.{held})"
    return f"    tl.store(out{number} + i, {cast}.to(tl.{result}))\n", result


def run(folder, device, env, chunk, described):
    """The results of some cases, computed by one kernel."""
    names = sorted({n for call, _ in chunk for n in tensors_of(call)[0]})
    text = HEADER.format(parameters=", ".join(
        [f"{n}_ptr" for n in names] + [f"out{i}" for i in range(len(chunk))]))
    for n in names:
        text += f"    {n} = tl.load({n}_ptr + i){' != 0' if n.endswith('b8') else ''}\n"
    command = [NEREID, "run", f"{folder}/k.py", "--grid", str(POINTS // 64), "--device", device]
    for n in names:
        np.save(f"{folder}/{n}.npy", env[n].astype(np.uint8) if n.endswith("b8") else env[n])
        command.append(f"{n}_ptr=@{folder}/{n}.npy")
    for i, line in enumerate(described):
        store, result = statement(i, line)
        text += store
        kind = np.dtype(LANGUAGE[result])
        short = f"{'u' if kind.kind == 'u' else kind.kind}{kind.itemsize * 8}"
        command += [f"out{i}=empty:{short}[{POINTS}]", "--out", f"out{i}={folder}/out{i}.npy"]
    pathlib.Path(folder, "k.py").write_text(text)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{done.stderr[:3000]}")
    return [np.load(f"{folder}/out{i}.npy") for i in range(len(chunk))]


TOLERANCE = {np.float16: 2e-3, np.float32: 4e-6, np.float64: 1e-12}
ABSOLUTE = {"gelu": 1.1e-7, "special_shifted_chebyshev_polynomial_v": 2e-6,
            "special_shifted_chebyshev_polynomial_w": 2e-6}


def compare(call, got, want, env):
    dtype = got.dtype.type
    with np.errstate(all="ignore"):
        want = np.asarray(want).astype(dtype)
    if dtype in TOLERANCE:
        near = ABSOLUTE.get(call.split(".")[0], TOLERANCE[dtype] / 50)
        same = np.isclose(got, want, rtol=TOLERANCE[dtype], atol=near, equal_nan=True)
    else:
        same = got == want
    bad = np.flatnonzero(~same)
    text = ""
    if len(bad):
        k = bad[0]
        operands = [env[n][k] for n in tensors_of(call)[1]]
        text = f": {got[k]}, not {want[k]}, of {operands}; {len(bad)} wrong"
    check(not len(bad), call + text)


@np.errstate(all="ignore")
def pointwise(folder, device, wanted):
    env = inputs()
    parameters = [(n, f"{n.rpartition('_')[2]}[{POINTS}]") for n in env if n[0] != "n"]
    scalars = [f"n_{k} = torch.ops.aten.select.int(x_{k}, 0, 5)" for k in ("f32", "i64")]
    chosen = [c for c in cases() if wanted(c[0])]
    calls = [f"r{i} = torch.ops.{'' if call.startswith('prims.') else 'aten.'}{call}"
             for i, (call, _) in enumerate(chosen)]
    lines = describe(folder, parameters, scalars + calls)[len(scalars):]
    check(len(lines) == len(chosen), "every case is a pointwise op")
    for at in range(0, len(chosen), 12):
        chunk = chosen[at:at + 12]
        results = run(folder, device, env, chunk, lines[at:at + 12])
        for (call, numpy), got in zip(chunk, results):
            operands = [env[n] for n in tensors_of(call)[1]]
            compare(call, got, numpy(*operands), env)


# Below x the bound of gelu's error: relative, or absolute where that is more (x < 0).
GELU_BOUNDS = [(-5, 1, 1.1e-7), (-2, 5e-5, 0), (-1, 2e-6, 0), (math.inf, 7e-7, 0)]
GELU_GRAPH = """class G(torch.nn.Module):
    def forward(self, x: "f32[{n}]"):
        narrow = torch.ops.aten.to.dtype(x, torch.bfloat16)
        gelu = torch.ops.aten.gelu.default(x)
        gelu_1 = torch.ops.aten.gelu.default(narrow)
        to = torch.ops.aten.to.dtype(gelu_1, torch.float32)
        return (gelu, to)
"""


def dense():
    """Numbers from -14 to 14, and small ones."""
    small = np.geomspace(1e-30, 1e-2, 3000)
    return np.concatenate([np.linspace(-14, 14, 60001), small, -small]).astype(np.float32)


def gelu_errors(folder, device):
    x = dense()
    pathlib.Path(folder, "gelu.py").write_text(GELU_GRAPH.format(n=len(x)))
    np.save(f"{folder}/x.npy", x)
    subprocess.run([NEREID, "graph", f"{folder}/gelu.py", f"{folder}/x.npy", "--device", device,
                    "--out-dir", folder], check=True, stdout=subprocess.DEVNULL)
    got, narrow = [np.load(f"{folder}/output_{i}.npy").astype(np.float64) for i in (0, 1)]
    want, below = gelu(x.astype(np.float64)), -math.inf
    error = np.abs(got - want)
    for end, relative, absolute in GELU_BOUNDS:
        part = (below <= x) & (x < end)
        excess = (error - np.maximum(relative * np.abs(want), absolute))[part]
        check(excess.max() <= 0, f"gelu at {x[part][excess.argmax()]!r} on {device}")
        below = end
    # The error of an operand of 8 bits grows with it: the derivative of log Q is about -x.
    bound = 2**-8 * np.abs(want) * (2 + x.astype(np.float64)**2) + 1e-7
    check((np.abs(narrow - want) <= bound).all(), f"gelu of bf16 on {device}")


def rows(*kinds):
    """The operators of these kinds, as calls begin."""
    text = (ROOT / "graph/ops/op_table.def").read_text()
    found = re.findall(rf"(?m)^OP\(aten, (\w+), (\w+), .*\b(?:{'|'.join(kinds)})\(", text)
    return {f"{name}.{overload}" for name, overload in found}


def coverage():
    calls = [c for c, _ in cases()] + [c for v in [*VIEWS.values(), SYMBOLIC] for c, _ in v]
    missing = rows("VIEW", "PARTS", "POINTWISE") - {c.partition("(")[0] for c in calls}
    check(not missing, f"every row has a case: {' '.join(sorted(missing))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="interp")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()

    def wanted(call):
        return not args.names or call.split(".")[0] in args.names

    coverage()
    with tempfile.TemporaryDirectory() as folder:
        views(folder, wanted)
        pointwise(folder, args.device, wanted)
        if wanted("gelu"): gelu_errors(folder, args.device)
    return report()


if __name__ == "__main__":
    sys.exit(main())
