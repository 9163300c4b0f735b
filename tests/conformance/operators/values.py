"""What an operation of a table computes, in exact arithmetic, for operators.py.

Numbers are Python's: integers, and floats for all floating dtypes.  An operation converts its
operands to the dtype that it computes in, as a cast does, and its result is rounded once.
"""
import math
import operator
from fractions import Fraction

# Digits, the exponent of the least normal number, the largest number, what is beyond it.
FLOATS = {"f16": (11, -14, 65504.0, math.inf), "bf16": (8, -126, 2.0 ** 128 - 2.0 ** 120, math.inf),
          "f32": (24, -126, 2.0 ** 128 - 2.0 ** 104, math.inf),
          "f64": (53, -1022, 2.0 ** 1023 * (2 - 2.0 ** -52), math.inf),
          "f8e5": (3, -14, 57344.0, 57344.0), "f8e4nv": (4, -6, 448.0, 448.0)}


def bits(dtype):
    return 1 if dtype == "i1" else int(dtype[1:])


def is_signed(dtype):
    return dtype[0] == "i" and dtype != "i1"


def wrapped(value, dtype):
    width = bits(dtype)
    value &= 2 ** width - 1
    return value - 2 ** width if is_signed(dtype) and value >> (width - 1) else value


def rounded(value, dtype):
    """The number of a floating dtype that is nearest; ties to even."""
    digits, least, top, beyond = FLOATS[dtype]
    if value == 0 or value != value or dtype == "f64":
        return float(value)
    if value in (math.inf, -math.inf):
        return math.copysign(beyond, value)
    size = abs(value)
    exponent = size.bit_length() if isinstance(size, int) else math.frexp(size)[1]
    step = max(exponent - 1, least) - digits + 1
    near = round(Fraction(size, 2 ** step) if step > 0 and isinstance(size, int) else
                 math.ldexp(size, -step))
    size = beyond if near > math.ldexp(top, -step) else math.ldexp(near, step)
    return -size if value < 0 else size


def cast(value, source, target):
    if target == "i1":
        return int(value != 0)
    if target in FLOATS:
        return rounded(value, target)
    if source not in FLOATS:
        return wrapped(value, target)
    low = -2 ** (bits(target) - 1) if is_signed(target) else 0
    high = 2 ** (bits(target) - is_signed(target)) - 1
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


# ---- operations ----

def float_arithmetic(op, a, b, dtype):
    """In doubles, then rounded: as if rounded once, since they have over twice f32's digits."""
    if op == "fdiv" and b == 0:
        exact = math.nan if a == 0 or a != a else \
            math.copysign(math.inf, a) * math.copysign(1, b)
    elif op == "frem":
        exact = math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)
    else:
        exact = {"fadd": a.__add__, "fsub": a.__sub__, "fmul": a.__mul__,
                 "fdiv": a.__truediv__}[op](b)
    return rounded(exact, dtype)


def float_pick(op, a, b):
    """minnum and maxnum leave a NaN out, minimum and maximum do not; -0 is less than 0."""
    if a != a or b != b:
        return math.nan if op in ("minimumf", "maximumf") or (a != a and b != b) else \
            b if a != a else a
    ordered = sorted((a, b), key=lambda v: (v, math.copysign(1, v)))
    return ordered[op[:3] == "max"]


def divided(op, a, b):
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op.endswith("div") else a - quotient * b


def shifted(op, a, b, dtype):
    """By the width or more: 0, or the sign.  A negative count is as large as an unsigned one."""
    width = bits(dtype)
    unsigned = "u" + dtype[1:] if width > 1 else "i1"
    signed = "i" + dtype[1:]
    count = min(wrapped(b, unsigned), width)
    if op == "shl":
        return wrapped(a << count, dtype)
    return wrapped(wrapped(a, signed if op == "ashr" else unsigned) >> count, dtype)


SIMPLE = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_,
          "or": operator.or_, "xor": operator.xor, "minsi": min, "minui": min, "maxsi": max,
          "maxui": max}


def integer_result(op, a, b, dtype):
    if op in SIMPLE:
        return wrapped(SIMPLE[op](a, b), dtype)
    if op in ("shl", "ashr", "lshr"):
        return shifted(op, a, b, dtype)
    return wrapped(divided(op, a, b), dtype)


COMPARE = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b,
           "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}


def compared(op, dtype):
    """The dtype that a comparison computes in: of integers the operation says the sign."""
    return dtype if op[0] == "f" or dtype == "i1" else ("u" if op[4] == "U" else "i") + dtype[1:]


def binary(op, dtype, a, left, b, right):
    """`op` of the table, in `dtype`, of a value of dtype `left` and one of dtype `right`."""
    compare = op[:4] in ("icmp", "fcmp")
    dtype = compared(op, dtype) if compare else dtype
    a, b = cast(a, left, dtype), cast(b, right, dtype)
    if compare:
        return int(COMPARE[op[-2:]](a, b))
    if op in ("fadd", "fsub", "fmul", "fdiv", "frem"):
        return float_arithmetic(op, a, b, dtype)
    if op[-1] == "f" and op[:3] in ("min", "max"):
        return float_pick(op, a, b)
    return integer_result(op, a, b, dtype)


def unary(op, dtype, a):
    if op == "not":
        return int(a == 0)
    if op == "-":
        return -a if dtype in FLOATS else wrapped(-a, dtype)
    return wrapped(~a, dtype)
