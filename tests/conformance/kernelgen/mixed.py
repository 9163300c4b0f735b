"""Operands of two dtypes, and numbers beside tiles, without casts.

The table of operators (operators/table_3.6.txt) has the dtype that an operation computes in.
Operands have the bounds that a cast to it would give them.
"""
import functools

from operators.table import COMPARISONS, NUMBERS, read_table

from .model import *

OPS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "minimum", "maximum", "where"]


@functools.cache
def cells():
    """(op, left, right) -> the dtype that it computes in; of dtypes or numbers' texts."""
    return {row[:3]: row[3].split(".")[1] for row in read_table("3.6") if row[3] != "-"}


class Mixed:
    def op_mixed(self):
        v = self.tile(lambda v: v.dtype not in FP8)
        w = self.number_beside() if self.chance(0.4) else self.of_another_dtype(v)
        a, b = (v, w) if self.chance(0.5) else (w, v)
        ops = COMPARISONS if self.chance(0.2) else OPS
        ops = [op for op in ops if (op, kind(a), kind(b)) in cells()]
        if not ops:
            raise Unsuitable
        op = self.r.choice(ops)
        dtype = cells()[op, kind(a), kind(b)]
        x, y = self.as_operand(a, dtype), self.as_operand(b, dtype)
        if op in COMPARISONS:
            if x.err or y.err:
                raise Unsuitable
            return self.mixed(f"{a} {op} {b}", (a, b), "i1", v.shape)
        if op == "where":
            return self.mixed_where(a, b, x, y, dtype, v.shape)
        mix = self.mixed_floats if is_float(dtype) else self.mixed_ints
        return mix(op, a, b, x, y, dtype, v.shape)

    # ---- operands ----

    def number_beside(self):
        """A number, as it is or by the name of a constexpr."""
        text = self.r.choice(NUMBERS)
        n = eval(text)
        named = self.chance(0.3)
        written = self.name("c") if named else text if n >= 0 else f"({text})"
        value = Value(written, None, (), abs(n), float(n == int(n)))
        value.number = text
        value.lines = [f"{written}: tl.constexpr = {text}"] if named else []
        return value

    def of_another_dtype(self, v):
        dtype = self.r.choice([t for t in ["i1", *INTS, *FLOATS, *FP8] if t != v.dtype])
        if dtype == "i32" and self.chance(0.2):
            n, value = self.argument()
            if value != 1:  # else it is a number
                return Value(n, "i32", (), value, 1)
        return self.of(dtype, v.shape if self.chance(0.6) else ())

    def as_operand(self, v, dtype):
        """v as the operation has it, cast to its dtype."""
        if v.err and (not is_float(dtype) or dtype in FP8):
            raise Unsuitable
        if is_float(dtype):
            mag = v.mag if v.mag < TOP[dtype] else INF
            return self.bounded(Value(str(v), dtype, v.shape, mag, v.q if mag < INF else 0, v.err))
        known = v.mag <= int_top(dtype) and (dtype[0] == "i" or v.dtype is None or
                                             v.dtype == "i1" or v.dtype[0] == "u")
        return self.bounded(Value(str(v), dtype, v.shape, v.mag if known else INF))

    def mixed(self, text, operands, dtype, shape, mag=INF, q=0, err=0.0):
        v = self.bounded(Value(self.name("v"), dtype, shape, mag, q, err))
        lines = [line for n in operands if n.dtype is None for line in n.lines]
        return self.emit([*lines, f"{v} = {text}"], v)

    # ---- operations ----

    def mixed_where(self, a, b, x, y, dtype, shape):
        c = self.pick(lambda c: c.dtype == "i1" and c.shape == shape)
        if not c or (x.err or y.err) and not (x.finite and y.finite):
            raise Unsuitable
        return self.mixed(f"tl.where({c}, {a}, {b})", (a, b), dtype, shape, max(x.mag, y.mag),
                          min(x.q, y.q), max(x.err, y.err))

    def mixed_ints(self, op, a, b, x, y, dtype, shape):
        text, mag = f"{a} {op} {b}", INF
        if op in ("//", "%"):
            text, mag = f"{a} {op} {self.divisor(b)}", x.mag
        elif op in ("minimum", "maximum"):
            text, mag = f"tl.{op}({a}, {b})", max(x.mag, y.mag)
        elif op in "+*":
            mag = x.mag + y.mag if op == "+" else x.mag * y.mag
        elif op == "-" and dtype[0] == "i":
            mag = x.mag + y.mag
        return self.mixed(text, (a, b), dtype, shape, mag if mag <= int_top(dtype) else INF)

    def divisor(self, v):
        """An integer operand made other than 0, in its own dtype."""
        if v.dtype is None:
            return v
        if v.dtype == "i1":
            raise Unsuitable
        return f"(({v} & 15) + 1)"

    def mixed_floats(self, op, a, b, x, y, dtype, shape):
        if (x.err or y.err) and not (x.finite and y.finite):
            raise Unsuitable
        if op in ("minimum", "maximum"):
            return self.mixed(f"tl.{op}({a}, {b})", (a, b), dtype, shape, max(x.mag, y.mag),
                              min(x.q, y.q), max(x.err, y.err))
        text = f"{a} {op} {b}"
        if op in "+-":
            return self.mixed(text, (a, b), dtype, shape, x.mag + y.mag, min(x.q, y.q),
                              x.err + y.err)
        if op == "*":
            mag = x.mag * y.mag if x.mag and y.mag else 0
            err = x.mag * y.err + y.mag * x.err if x.err or y.err else 0
            return self.mixed(text, (a, b), dtype, shape, mag, x.q * y.q, err)
        if x.err or y.err or not (x.finite and y.finite):
            raise Unsuitable
        return self.mixed_quotient(op, a, b, x, dtype, shape)

    def mixed_quotient(self, op, a, b, x, dtype, shape):
        if b.dtype is None:
            by, least = b, b.mag
        elif is_float(b.dtype):
            by, least = f"(tl.abs({b}) + 1)", 1
        else:
            by, least = self.divisor(b), 1
        if b.dtype in FP8 or dtype in FP8:
            raise Unsuitable
        mag = x.mag / min(least, 1)
        err = 2 * mag * 2.0 ** -22 if op == "/" and dtype == "f32" else 0
        return self.mixed(f"{a} {op} {by}", (a, b), dtype, shape, mag, 0, err)


def kind(v):
    return v.dtype or v.number
