"""Reductions, scans, sorts and histograms."""
from .model import *


class Reductions:
    def summed(self, v, n):
        """mag, q, err of a sum of n elements of v in v's dtype, in any order."""
        if not is_float(v.dtype):
            return v.mag * n, 1, 0
        err = v.err * n
        if not (v.q and v.mag * n / v.q <= 2 ** DIGITS[v.dtype]):
            err += n * v.mag * n * 2.0 ** -DIGITS[v.dtype]
            return v.mag * n, 0, err
        return v.mag * n, v.q, err

    def sum_of(self, v, n):
        """The same, refused where nothing is known of the sum."""
        mag, q, err = self.summed(v, n)
        if is_float(v.dtype) and (not v.finite or mag > TOP[v.dtype] or err > 0.05 * v.mag):
            raise Unsuitable
        return mag, q, err

    # ---- reductions ----

    def op_reduce(self):
        v = self.tile(lambda v: v.dtype not in FP8)
        axis = self.r.choice([*range(len(v.shape)), None]) if self.chance(0.7) else \
            len(v.shape) - 1
        keep = self.chance(0.2)
        if axis is None:
            to = (1,) * (len(v.shape) * keep)
        else:
            to = v.shape[:axis] + (1,) * keep + v.shape[axis + 1:]
        n = size(v.shape) if axis is None else v.shape[axis]
        tail = f"{axis}{', keep_dims=True' * keep}"
        if v.dtype == "i1":
            return self.reduce_bool(v, axis, to, n, tail)
        op = self.one_of("sum", "sum", "extreme", "extreme", "arg", "custom", "tuple")
        return getattr(self, "reduce_" + op)(v, axis, to, n, tail)

    def combine(self, v, axis, fn, tail):
        """tl.reduce's text; it has no axis None."""
        if axis is None:
            raise Unsuitable
        return f"tl.reduce({v}, {tail.replace(str(axis), f'{axis}, {fn}', 1)})"

    def reduce_bool(self, v, axis, to, n, tail):
        if self.chance(0.5):
            return self.value(f"tl.sum({v}.to(tl.int32), {tail})", "i32", to, n)
        fn = self.one_of("any_of", "odd_of")
        return self.value(self.combine(v, axis, fn, tail), "i1", to)

    def reduce_sum(self, v, axis, to, n, tail):
        t = TL[v.dtype]
        if not is_float(v.dtype) and self.chance(0.2):
            return self.value(f"tl.xor_sum({v}, {tail}).to({t})", v.dtype, to)
        return self.value(f"tl.sum({v}, {tail}).to({t})", v.dtype, to, *self.sum_of(v, n))

    def reduce_extreme(self, v, axis, to, n, tail):
        op = self.one_of("max", "min")
        return self.like(v, f"tl.{op}({v}, {tail}).to({TL[v.dtype]})", to)

    def reduce_arg(self, v, axis, to, n, tail):
        if v.err or not v.finite or axis is None:
            raise Unsuitable
        op = self.one_of("max", "min")
        tie = self.one_of("", "", ", tie_break_left=True")
        if self.chance(0.5):
            return self.value(f"tl.arg{op}({v}, {tail}{tie})", "i32", to, n)
        tie = tie.replace("tie", "return_indices_tie")
        a = Value(self.name("v"), v.dtype, to, v.mag, v.q)
        i = Value(self.name("v"), "i32", to, n)
        return self.emit([f"{a}, {i} = tl.{op}({v}, {tail}, return_indices=True{tie})",
                          f"{a} = {a}.to({TL[v.dtype]})"], a, i)

    def reduce_custom(self, v, axis, to, n, tail):
        if v.err:
            raise Unsuitable
        if is_float(v.dtype):
            fn, mag = self.one_of("keep_left", "keep_right", *["larger"] * v.finite), v.mag
        else:
            fn = self.one_of("larger", "product", "add", "keep_left", "keep_right")
            mag = INF if fn in ("product", "add") else v.mag
        return self.value(self.combine(v, axis, fn, tail), v.dtype, to, mag, v.q)

    def reduce_tuple(self, v, axis, to, n, tail):
        if v.err or not v.finite:
            raise Unsuitable
        a = Value(self.name("v"), v.dtype, to, v.mag, v.q)
        # minimum and maximum of bf16 are f32, as in Triton.
        fn = self.one_of(*["min_max"] * (v.dtype != "bf16"), "best", "welford")
        if fn == "min_max":
            b = Value(self.name("v"), v.dtype, to, v.mag, v.q)
            return self.emit(f"{a}, {b} = {self.combine(f'({v}, {v})', axis, fn, tail)}", a, b)
        if fn == "best":
            i = self.of("i32", v.shape)
            b = Value(self.name("v"), "i32", to, i.mag)
            return self.emit(f"{a}, {b} = {self.combine(f'({v}, {i})', axis, fn, tail)}", a, b)
        return self.welford(v, axis, to, n, tail)

    def welford(self, v, axis, to, n, tail):
        """Mean, sum of squares and count, which no executor's order gives exactly."""
        if v.dtype != "f32" or v.mag > 100:
            raise Unsuitable
        outs = [Value(self.name("v"), "f32", to, v.mag, 0, 1e-6 * v.mag * n),
                Value(self.name("v"), "f32", to, 4 * v.mag**2 * n, 0, 4e-6 * v.mag**2 * n),
                Value(self.name("v"), "f32", to, n, 1)]
        parts = f"({v}, tl.zeros_like({v}), tl.full({dims(v.shape)}, 1.0, tl.float32))"
        return self.emit(f"{', '.join(map(str, outs))} = "
                         f"{self.combine(parts, axis, 'welford', tail)}", *outs)

    # ---- scans ----

    def op_scan(self):
        v = self.tile(lambda v: v.dtype not in FP8)
        axis = self.r.randrange(len(v.shape))
        back = ", reverse=True" if self.chance(0.4) else ""
        t = TL[v.dtype]
        if v.dtype == "i1":
            fn = self.one_of("any_of", "odd_of", "keep_left", "keep_right")
            return self.value(f"tl.associative_scan({v}, {axis}, {fn}{back})", "i1", v.shape)
        op = self.one_of("cumsum", "custom", "tuple", "cumprod")
        if op == "cumsum":
            bounds = self.sum_of(v, v.shape[axis])
            return self.value(f"tl.cumsum({v}, {axis}{back}).to({t})", v.dtype, v.shape, *bounds)
        if v.err or op != "custom" and is_float(v.dtype):
            raise Unsuitable
        if op == "cumprod":
            return self.value(f"tl.cumprod({v}, {axis}{back}).to({t})", v.dtype, v.shape)
        if op == "tuple":
            return self.scan_tuple(v, axis, back)
        fns = ["keep_left", "keep_right"]
        fns += ["larger"] * v.finite + ["product", "add"] * (not is_float(v.dtype))
        fn = self.r.choice(fns)
        mag = INF if fn in ("product", "add") else v.mag
        return self.value(f"tl.associative_scan({v}, {axis}, {fn}{back})", v.dtype, v.shape, mag,
                          v.q)

    def scan_tuple(self, v, axis, back):
        if v.dtype not in ("i32", "i64", "u32", "u64"):
            raise Unsuitable
        w = self.of(v.dtype, v.shape)
        outs = [Value(self.name("v"), v.dtype, v.shape) for _ in range(2)]
        return self.emit(f"{outs[0]}, {outs[1]} = "
                         f"tl.associative_scan(({v}, {w}), {axis}, compose{back})", *outs)

    # ---- sorts, histograms ----

    def op_sort(self):
        v = self.tile(lambda v: v.err == 0 and v.finite and size(v.shape) <= 256 and
                      v.dtype not in FP8)
        axis = self.r.randrange(len(v.shape))
        if self.chance(0.4):
            k = self.r.randint(1, v.shape[axis])
            return self.like(v, f"tl.topk({v}, {k}, {axis}).to({TL[v.dtype]})",
                             v.shape[:axis] + (k,) + v.shape[axis + 1:])
        return self.like(v, f"tl.sort({v}, {axis}, {self.chance(0.5)})", v.shape)

    def op_histogram(self):
        v = self.tile(lambda v: not is_float(v.dtype))
        bins = self.one_of(1, 2, 7, 16, 32, 100, 128, 256, 300)
        if len(v.shape) > 1:
            v = self.like(v, f"tl.ravel({v})", (size(v.shape),))
        mask = f", mask=({v} & 1) == 0" if self.chance(0.3) else ""
        return self.value(f"tl.histogram({v}, {bins}{mask})", "i32", (bins,), size(v.shape))
