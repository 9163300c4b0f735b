"""Elementwise operations."""
from .model import *


class Elementwise:
    # ---- conversions ----

    def cast(self, v, dtype):
        if v.dtype == dtype:
            return v
        text = f"{v}.to({TL[dtype]})"
        if not is_float(dtype):
            return self.value(text, dtype, v.shape)
        if v.err and dtype in FP8:
            raise Unsuitable
        mag = v.mag
        if dtype in FP8 and mag == INF:
            mag = TOP[dtype] * 0.999  # it saturates; NaN stays
            return self.value(text, dtype, v.shape)
        return self.value(text, dtype, v.shape, mag, v.q if mag < INF else 0, v.err)

    def op_cast(self):
        v = self.tile()
        dtype = self.dtype()
        if v.err and not is_float(dtype):
            dtype = self.r.choice(FLOATS)
        if dtype in FP8 and not is_float(v.dtype):
            raise Unsuitable
        narrower = is_float(v.dtype) and dtype in ("f16", "bf16", *FP8) and \
            bits(dtype) < bits(v.dtype)
        if narrower and not v.err and self.chance(0.2):
            return self.value(f"{v}.to({TL[dtype]}, fp_downcast_rounding=\"rtz\")", dtype, v.shape,
                              v.mag)
        return self.cast(v, dtype)

    def op_bitcast(self):
        v = self.tile(lambda v: not is_float(v.dtype) and v.dtype != "i1")
        same = [t for t in INTS + FLOATS + FP8 if t != v.dtype and bits(t) == bits(v.dtype)]
        to = self.r.choice(same)
        return self.value(f"{v}.to({TL[to]}, bitcast=True)", to, v.shape)

    # ---- two operands ----

    def op_binary(self):
        v = self.tile(lambda v: v.dtype not in FP8)
        w = self.operand(v)
        if v.dtype == "i1":
            return self.value(f"{v} {self.r.choice('&|^')} {w}", "i1", v.shape)
        return self.float_binary(v, w) if is_float(v.dtype) else self.int_binary(v, w)

    def operand(self, v):
        """A second operand for v: of its shape, broadcast to it, or a scalar."""
        if self.chance(0.25):
            return self.of(v.dtype, ())
        if len(v.shape) > 1 and self.chance(0.3):
            axis = self.r.randrange(len(v.shape))
            w = self.pick(lambda w: w.dtype == v.dtype and w.shape == (v.shape[axis],))
            if w:
                text = f"{w}[{at_axis(axis, len(v.shape))}]"
                return Value(text, w.dtype, (), w.mag, w.q, w.err)
        return self.of(v.dtype, v.shape)

    def int_binary(self, v, w):
        op = self.one_of("+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%", "min", "max", "mulhi")
        text, mag = f"{v} {op} {w}", INF
        if op in ("//", "%"):
            text, mag = f"{v} {op} (({w} & 15) + 1).to({TL[v.dtype]})", v.mag
        elif op == "mulhi":
            text = f"tl.umulhi({v}.to(tl.uint32), {w}.to(tl.uint32))"
            if w.shape != v.shape:
                raise Unsuitable
        elif op in ("<<", ">>"):
            text = f"{v} {op} ({w} & {bits(v.dtype) - 1})"
        elif op in ("min", "max"):
            text, mag = f"tl.{op}imum({v}, {w})", max(v.mag, w.mag)
        elif op in "+-*":
            mag = v.mag * w.mag if op == "*" else v.mag + w.mag
            mag = INF if op == "-" and v.dtype[0] == "u" else mag
        if mag > int_top(v.dtype):
            mag = INF
        return self.value(f"({text}).to({TL[v.dtype]})", v.dtype, v.shape, mag)

    def float_binary(self, v, w):
        op = self.one_of("+", "-", "*", "min", "max", "/", "fma", "div_rn")
        t = TL[v.dtype]
        if (v.err or w.err) and not (v.finite and w.finite):
            raise Unsuitable
        err = v.err + w.err
        if op in ("min", "max"):
            nan = self.one_of("", ", propagate_nan=tl.PropagateNan.ALL")
            return self.value(f"tl.{op}imum({v}, {w}{nan}).to({t})", v.dtype, v.shape,
                              max(v.mag, w.mag), min(v.q, w.q), max(v.err, w.err))
        if op in "+-":
            return self.value(f"({v} {op} {w}).to({t})", v.dtype, v.shape, v.mag + w.mag,
                              min(v.q, w.q), err)
        if op in ("*", "fma"):
            return self.float_product(op, v, w)
        if err or v.dtype in ("f16", "bf16"):
            raise Unsuitable
        if op == "div_rn" and w.shape == v.shape:
            return self.value(f"tl.div_rn({v}, {w})", v.dtype, v.shape)
        if not (v.finite and w.finite):
            raise Unsuitable
        return self.value(f"({v} / (tl.abs({w}) + 1)).to({t})", v.dtype, v.shape, v.mag, 0,
                          2 * v.mag * 2.0 ** -22 if v.dtype == "f32" else 0)

    def float_product(self, op, v, w):
        mag = v.mag * w.mag if v.mag and w.mag else 0
        err = v.mag * w.err + w.mag * v.err if v.err or w.err else 0
        text, q = f"{v} * {w}", v.q * w.q
        if op == "fma":
            x = self.of(v.dtype, v.shape)
            if x.err or err or w.shape != v.shape:
                raise Unsuitable
            mag, q = mag + x.mag, min(q, x.q)
            text = f"tl.fma({v}, {w}, {x})"
        return self.value(f"({text}).to({TL[v.dtype]})", v.dtype, v.shape, mag, q, err)

    # ---- one operand ----

    def op_unary(self):
        v = self.tile(lambda v: v.dtype not in FP8)
        if v.dtype == "i1":
            return self.value(f"~{v}", "i1", v.shape)
        if not is_float(v.dtype):
            if v.dtype[0] == "u":
                return self.value(f"~{v}", v.dtype, v.shape)
            op = self.one_of("-", "~", "abs")
            text = f"tl.abs({v})" if op == "abs" else f"{op}{v}"
            return self.value(text, v.dtype, v.shape, v.mag + 1)
        op = self.one_of("-", "abs", "floor", "ceil", "function", "function", "function")
        if op in ("-", "abs"):
            return self.like(v, f"-{v}" if op == "-" else f"tl.abs({v})", v.shape)
        if op == "function":
            return self.function(v)
        if v.err or v.dtype not in ("f32", "f64"):
            raise Unsuitable
        return self.value(f"tl.{op}({v})", v.dtype, v.shape, v.mag + 1, 1 if v.finite else 0)

    def function(self, v):
        """Functions that are not rounded correctly; sqrt_rn is."""
        op = self.one_of("exp2", "exp", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "sigmoid",
                         "erf", "sqrt_rn")
        t, s = v.dtype, v.shape
        if op == "sqrt_rn" and not v.err and t in ("f32", "f64"):
            return self.value(f"tl.sqrt_rn({v})", t, s)
        if v.mag > 100 or t in ("f16", "bf16"):
            raise Unsuitable
        eps = 2e-6 if t == "f32" else 1e-13
        if op in ("exp", "exp2"):
            if v.mag > 10:
                raise Unsuitable
            top = math.exp(v.mag)
            return self.value(f"tl.{op}({v})", t, s, top, 0, top * (v.err + 4 * eps))
        if op in ("log", "log2", "sqrt", "rsqrt", "sqrt_rn"):
            err = 2 * v.err + 16 * eps
            return self.value(f"tl.{op}(tl.abs({v}) + 1)", t, s, 12, 0, err)
        if op == "sigmoid" and (t != "f32" or v.mag > 20):
            raise Unsuitable
        return self.value(f"tl.{op}({v})", t, s, 1, 0, 1.2 * v.err + 8 * eps)

    # ---- choice ----

    def op_compare(self):
        v = self.tile(lambda v: v.err == 0 and v.dtype != "i1" and v.dtype not in FP8)
        w = self.of(v.dtype, v.shape if self.chance(0.7) else (), exact=True)
        op = self.one_of("<", "<=", ">", ">=", "==", "!=")
        return self.value(f"{v} {op} {w}", "i1", v.shape)

    def op_where(self):
        c = self.tile(lambda v: v.dtype == "i1")
        dtype = self.dtype()
        a, b = self.of(dtype, c.shape), self.of(dtype, c.shape if self.chance(0.7) else ())
        self.both(a, b)
        return self.value(f"tl.where({c}, {a}, {b})", dtype, c.shape, max(a.mag, b.mag),
                          min(a.q, b.q), max(a.err, b.err))

    def both(self, a, b):
        """Refuses what could be infinite here and inexact there."""
        if (a.err or b.err) and not (a.finite and b.finite):
            raise Unsuitable
