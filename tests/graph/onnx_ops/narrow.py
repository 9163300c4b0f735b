"""Integers of 4 and 2 bits, which are packed in files and bytes in arrays, and floats that no
kernel has, which are bytes."""
import numpy as np
import onnx_text as text

F = np.float32
UINT4, INT4, UINT2, INT2 = 21, 22, 25, 26
X = np.array([[-20, -8.6, -7.5, -1, 0.4], [1.5, 2.5, 7.2, 8, 300]], F)
SCALE = np.array(1.0, F)


def constant(kind, values, packed):
    return ("Constant", 25, [], dict(value=text.tensor("", kind, [len(values)], bytes(packed))),
            np.array(values, np.uint8 if kind in (UINT4, UINT2) else np.int8))


def cast(kind, bits, signed):
    x = np.array([-9, -8, -3, -1, 0, 1, 3, 4, 7, 8, 15, 16, 200], np.int32)
    low = x & ((1 << bits) - 1)
    wraps = np.where(low >> (bits - 1), low - (1 << bits), low)
    return ("Cast", 25, [x], dict(to=kind),
            wraps.astype(np.int8) if signed else low.astype(np.uint8))


def quantize(kind, low, high):
    return ("QuantizeLinear", 25, [X, SCALE], dict(output_dtype=kind),
            np.clip(np.rint(X), low, high).astype(np.int8 if low else np.uint8))


# A zero point of 4 bits, which has come through other operators, says how far results reach.
ZERO = text.tensor("zero", INT4, [1], bytes([0x0E]))
BODY = text.graph(
    [text.node("Reshape", "zero none", "z"), text.node("QuantizeLinear", "a s z", "q"),
     text.node("DequantizeLinear", "q s z", "b"), text.node("Identity", "go", "on")],
    {"i": text.i64(), "go": text.boolean(), "a": text.f32(2, 5)}, "on b",
    [ZERO, text.tensor("s", "f4", [], np.array(2, F).tobytes()), text.ints("none")])

# Floats: dtype, bits, exponent's bias, bits of the mantissa, elements that are NaN, and their
# finite numbers by the sum of a sign, an exponent and a mantissa.
E4M3FNUZ, E5M2FNUZ, E2M1, E8M0 = 18, 20, 23, 24
FLOATS = {E4M3FNUZ: (8, 8, 3), E5M2FNUZ: (8, 16, 2), E2M1: (4, 1, 1)}


def number(kind, element):
    bits, bias, mantissa = FLOATS[kind]
    sign, magnitude = element >> (bits - 1), element & ((1 << (bits - 1)) - 1)
    if kind != E2M1 and sign and not magnitude:
        return np.nan
    exponent, digits = magnitude >> mantissa, (magnitude & ((1 << mantissa) - 1)) / (1 << mantissa)
    x = (digits + 1) * 2.0 ** (exponent - bias) if exponent else digits * 2.0 ** (1 - bias)
    return -x if sign else x


def numbers(kind):
    if kind == E8M0:
        return np.array([2.0 ** (i - 127) for i in range(255)] + [np.nan], F)
    return np.array([number(kind, i) for i in range(1 << FLOATS[kind][0])], F)


def nearest(kind, x, saturate=1):
    """The elements that are nearest, in double precision; of two the even one."""
    table, out = numbers(kind).astype("f8"), []
    half = len(table) // 2
    last = table[half - 1]
    beyond = last + (last - table[half - 2]) / 2  # from here on the next element would be nearest
    for v in np.asarray(x, "f8").ravel():
        sign = half if np.signbit(v) else 0
        gaps = abs(table[:half] - min(abs(v), last))
        near = min(range(half), key=lambda i: (gaps[i], i % 2))
        large = abs(v) > beyond or (abs(v) == beyond and (half - 1) % 2)
        if np.isnan(v) or (large and not saturate and kind != E2M1):
            out.append(half)  # of E2M1 a negative zero
        else:
            out.append(near + sign if near or kind == E2M1 else 0)
    return np.array(out, np.uint8).reshape(np.shape(x))


def powers(x, mode="up", saturate=1):
    out = []
    for v in np.abs(np.asarray(x, "f8")):
        if np.isnan(v) or (not saturate and (v < 2.0**-127 or np.isinf(v))):
            out.append(255)
            continue
        v = min(max(v, 2.0**-127), 2.0**128)
        at = np.floor(np.log2(v))
        up = v > 2.0**at if mode == "up" else mode == "nearest" and v >= 1.5 * 2.0**at
        e = int(at + up) + 127
        out.append(e if e < 255 else 254 if saturate else 255)
    return np.array(out, np.uint8)


def numbers_to_round(kind):
    table = numbers(kind)
    finite = np.unique(table[np.isfinite(table)])
    between = (finite[1:].astype("f8") + finite[:-1]) / 2
    near = [np.nextafter(between.astype(F), F(s)) for s in (-np.inf, np.inf)]
    beyond = finite[-1] * F([1.03, 1.07, 1.2, 3])
    ends = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, -1e-40, *beyond]
    return np.concatenate([finite, between.astype(F), *near, F(ends), -F(ends[-4:])])


class Elements(np.ndarray):
    """Bytes that are of another dtype in ONNX."""


def elements(kind, values):
    made = np.asarray(values, np.uint8).view(Elements)
    made.onnx_dtype = kind
    return made


def float_casts(kind):
    every = np.arange(len(numbers(kind)), dtype=np.uint8).reshape(2, -1)
    types = ((1, F), (11, "f8")) if kind == E8M0 else ((1, F), (11, "f8"), (10, "f2"))
    read = [("Cast", 25, [elements(kind, every)], dict(to=to),
             numbers(kind).astype(t).reshape(2, -1)) for to, t in types]
    like = ("CastLike", 25, [np.array([1.5, -3], F), elements(kind, [1])], {},
            powers([1.5, -3]) if kind == E8M0 else nearest(kind, [1.5, -3]))
    read += [("Cast", 25, [elements(kind, every)], dict(to=kind), every),
             ("CastLike", 25, [elements(kind, every), elements(kind, [1])], {}, every)]
    if kind in (E4M3FNUZ, E5M2FNUZ):
        read.append(("IsNaN", 20, [elements(kind, every)], {},
                     np.isnan(numbers(kind)).reshape(2, -1)))
    if kind == E8M0:
        return [*read, like]
    x = numbers_to_round(kind)
    return [*read, like, ("Cast", 25, [np.array([-300, -3, 0, 5, 7, 1000])], dict(to=kind),
                          nearest(kind, [-300, -3, 0, 5, 7, 1000])),
            *[("Cast", 25, [x], dict(to=kind, saturate=s), nearest(kind, x, s)) for s in (1, 0)],
            ("QuantizeLinear", 25, [x, np.array(2, F)], dict(output_dtype=kind),
             nearest(kind, x / F(2))),
            ("QuantizeLinear", 25, [x, np.array(2, F), elements(kind, 3)], {},
             nearest(kind, x / F(2) + numbers(kind)[3])),
            ("DequantizeLinear", 25, [elements(kind, every), F([1, 3]), elements(kind, [0, 3])],
             dict(axis=0),
             (numbers(kind).reshape(2, -1) - F([[0], [numbers(kind)[3]]])) * F([[1], [3]]))]


POWERS = F([0, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126, 2.0**-149, 1, 1.25, 1.5, 1.75, 2, 3e38,
            2.0**127, np.inf, np.nan, 0.1])


# Elements keep their dtype where a Constant or a ConstantOfShape makes them, or turns of a loop
# are put together.
ELEMENTS = bytes([0x48, 0xC0, 0x80])
KEPT = numbers(E4M3FNUZ)[list(ELEMENTS)]


def made(nodes, outputs, more=()):
    """A loop of two turns whose body has these nodes."""
    return dict(body=text.graph([*nodes, text.node("Identity", "go", "on")],
                                {"i": text.i64(), "go": text.boolean()}, ["on", *outputs], more))


def constant_floats():
    zero = text.tensor("", E4M3FNUZ, [3], ELEMENTS)
    one = text.tensor("", E4M3FNUZ, [1], ELEMENTS[:1])
    few = text.tensor("", INT4, [2], bytes([0xF8]))
    cast = text.node("Cast", "a", "b", to=1)
    return [("Loop", 25, [np.array(2), None], made(nodes, ["b"], more), np.stack([want] * 2))
            for nodes, more, want in (
                ([text.node("Constant", "", "a", value=zero), cast], (), KEPT),
                ([text.node("ConstantOfShape", "s", "a", value=one), cast], [text.ints("s", 2)],
                 KEPT[[0, 0]]),
                ([text.node("Constant", "", "z", value=few),
                  text.node("QuantizeLinear", "x s z", "a", axis=0),
                  text.node("DequantizeLinear", "a s z", "b", axis=0)],
                 [text.tensor("x", "f4", [2], F([300, -300]).tobytes()),
                  text.tensor("s", "f4", [2], F([1, 1]).tobytes())], F([15, -7])))]


CASES = [
    *[case for kind in (E4M3FNUZ, E5M2FNUZ, E2M1, E8M0) for case in float_casts(kind)],
    *[("Cast", 25, [POWERS], dict(to=E8M0, round_mode=mode, saturate=s), powers(POWERS, mode, s))
      for mode in ("up", "down", "nearest") for s in (1, 0)],
    *constant_floats(),
    ("Loop", 25, [np.array(1), None], made(
        [text.node("Constant", "", "a", value=text.tensor("", E4M3FNUZ, [3], ELEMENTS)),
         text.node("SplitToSequence", "a", "s"),
         text.node("ConcatFromSequence", "s", "c", axis=0), text.node("Cast", "c", "b", to=1)],
        ["b"]), KEPT[None]),
    ("Loop", 25, [np.array(1), None], made(
        [text.node("Constant", "", "a", value=text.tensor("", E4M3FNUZ, [3], ELEMENTS)),
         text.node("Scan", "a", "c", num_scan_inputs=1, body=text.graph(
             [text.node("Identity", "e", "f")], {"e": text.type_of(E4M3FNUZ, [])}, "f")),
         text.node("Cast", "c", "b", to=1)], ["b"]), KEPT[None]),
    ("If", 25, [np.array(True)], dict(then_branch=text.graph(
        [text.node("Constant", "", "a", value=text.tensor("", E2M1, [3], bytes([0x7A, 0x0F]))),
         text.node("Cast", "a", "b", to=1)], {}, "b"), else_branch=text.graph(
             [text.node("Constant", "", "b", value=text.tensor("", "f4", [3], bytes(12)))], {},
             "b")), numbers(E2M1)[[0xA, 7, 0xF]]),
    constant(INT4, [1, 2, -8, -1, 7], [0x21, 0xF8, 0x07]),
    constant(UINT4, [1, 2, 8, 15, 7], [0x21, 0xF8, 0x07]),
    constant(INT2, [1, -2, -1, 0, 1], [0b00111001, 0b01]),
    constant(UINT2, [1, 2, 3, 0, 1], [0b00111001, 0b01]),
    cast(INT4, 4, True), cast(UINT4, 4, False), cast(INT2, 2, True), cast(UINT2, 2, False),
    quantize(INT4, -8, 7), quantize(UINT4, 0, 15), quantize(INT2, -2, 1), quantize(UINT2, 0, 3),
    ("Loop", 25, [np.array(1), None, X], dict(body=BODY),
     lambda n, x: (np.clip(np.rint(x / 2) - 2, -8, 7) + 2) * F(2)),
]
