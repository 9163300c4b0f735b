"""The cases of kernels.py: what NumPy says of the kernels in kernels/.  A module is named after
the file whose kernels it is about; cases.py says what a case is."""
import importlib, pathlib
import numpy as np
from cases import bf16, decorator, narrow

CASES = []
HERE = pathlib.Path(__file__).resolve().parent
case = decorator(CASES, HERE.parent / "kernels")


NUMPY = dict(i1="bool", i8="int8", i16="int16", i32="int32", i64="int64", u8="uint8", u16="uint16",
             u32="uint32", u64="uint64", f16="float16", f32="float32", f64="float64")


def typed(array, dtype):
    """(argument, its values): `array` rounded to a dtype of ours.  Values for 8-bit floats must
    be exact in them."""
    if dtype in NUMPY:
        array = np.asarray(array).astype(NUMPY[dtype])
        return array, array
    argument = bf16(array) if dtype == "bf16" else narrow(array, dtype)
    return argument, argument.array


def eighths(rng, *shape, largest=2):
    """Random multiples of 1/8: their products and sums are exact in float32."""
    return (rng.integers(-8 * largest, 8 * largest + 1, shape) / 8).astype(np.float32)


def load_all():
    for path in sorted(HERE.glob("[a-z]*.py")):
        importlib.import_module(f"references.{path.stem}")
    return CASES
