"""Integers of 4 and 2 bits, which are packed in files and bytes in arrays."""
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

CASES = [
    constant(INT4, [1, 2, -8, -1, 7], [0x21, 0xF8, 0x07]),
    constant(UINT4, [1, 2, 8, 15, 7], [0x21, 0xF8, 0x07]),
    constant(INT2, [1, -2, -1, 0, 1], [0b00111001, 0b01]),
    constant(UINT2, [1, 2, 3, 0, 1], [0b00111001, 0b01]),
    cast(INT4, 4, True), cast(UINT4, 4, False), cast(INT2, 2, True), cast(UINT2, 2, False),
    quantize(INT4, -8, 7), quantize(UINT4, 0, 15), quantize(INT2, -2, 1), quantize(UINT2, 0, 3),
    ("Loop", 25, [np.array(1), None, X], dict(body=BODY),
     lambda n, x: (np.clip(np.rint(x / 2) - 2, -8, 7) + 2) * F(2)),
]
