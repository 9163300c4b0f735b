"""Casts to 8-bit floats, which saturate unless they are told not to, and to narrow integers."""
import numpy as np

from casts import rounded, wrapped

NUMBERS = {"float8_e4m3fn": (17, 448), "float8_e5m2": (19, 57344)}
X = np.float32([0.1, -0.3, 447, 448, 455, 464, 465, 480, 1e3, 57344, 61439, 61440, 1e5, -1e5,
                np.inf, -np.inf, np.nan, 2**-9, 2**-10, 1e-8, 300.5, -200.7])
SCALE = np.float32(0.37)


def saturated(x, t):
    return np.float32(rounded(np.clip(x, -NUMBERS[t][1], NUMBERS[t][1]), t))


def cast(t, saturate):
    attributes = {"to": NUMBERS[t][0]} | ({} if saturate else {"saturate": 0})
    return ("Cast", 19, [X], attributes,
            lambda x: saturated(x, t) if saturate else np.float32(rounded(x, t)))


CASES = [cast(t, s) for t in NUMBERS for s in (True, False)] + [
    ("QuantizeLinear", 21, [X, SCALE], {"output_dtype": NUMBERS[t][0]},
     lambda x, s, t=t: saturated(x / s, t)) for t in NUMBERS
] + [
    ("Cast", 13, [np.float32([-129, 300.5, -70000.5, 127.9])], {"to": 3},
     lambda x: wrapped(x, "int8")),
]
