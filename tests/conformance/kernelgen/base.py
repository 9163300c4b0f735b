"""Names, choices and operands: what all parts of the generator use."""
import random

from .model import *


# The largest error relative to a value's bound: a larger one would let wrong elements pass.
MOST_ERROR = {"f16": 2.0 ** -9, "bf16": 2.0 ** -7}


class Base:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.k = Kernel(seed)
        self.names = 0
        self.scope = []
        self.block = self.k.body
        self.level = 0
        self.max_size = self.one_of(256, 512, 1024, 1024, 2048, 2048, 4096, 8192)

    # ---- names, statements ----

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def emit(self, lines, *outs):
        self.block.append(Stmt(lines, outs))
        self.scope += outs
        return outs[0] if outs else None

    def value(self, text, dtype, shape, mag=INF, q=0, err=0.0):
        """Emits `name = text`, its bounds with the rounding to dtype accounted for."""
        v = self.bounded(Value(self.name("v"), dtype, shape, mag, q, err))
        return self.emit(f"{v} = {text}", v)

    def like(self, v, text, shape):
        """A value with v's elements, or some of them."""
        return self.value(text, v.dtype, shape, v.mag, v.q, v.err)

    @staticmethod
    def bounded(v):
        if not is_float(v.dtype):
            v.mag, v.q, v.err = min(v.mag, int_top(v.dtype)), 1, 0.0
            return v
        if v.q and v.mag / v.q > 2 ** DIGITS[v.dtype]:
            v.q = 0
        if not v.q and v.err:  # either of two results is rounded, by half a unit in the last place
            v.err += v.mag * 2.0 ** (1 - DIGITS[v.dtype])
        if not v.mag < TOP[v.dtype]:
            v.mag = INF
        if v.err > v.mag * MOST_ERROR.get(v.dtype, 2.0 ** -13):
            raise Unsuitable
        return v

    def chance(self, p):
        return self.r.random() < p

    def one_of(self, *choices):
        return self.r.choice(choices)

    # ---- choosing ----

    def extent(self):
        if self.chance(0.6):
            return self.one_of(1, 2, 4, 8, 16, 16, 32, 32, 64, 128)
        return self.one_of(3, 5, 6, 7, 9, 11, 12, 13, 15, 17, 20, 24, 27, 31, 33, 40, 48, 50, 96,
                           100, 130)

    def shape(self):
        """A new shape, mostly of extents that others have."""
        known = [e for v in self.scope for e in v.shape]
        while True:
            rank = self.r.choices([1, 2, 3, 4, 5], [8, 9, 4, 1.5, 0.3])[0]
            s = [self.r.choice(known) if known and self.chance(0.6) else self.extent()
                 for _ in range(rank)]
            if size(s) <= self.max_size:
                return tuple(s)

    def dtype(self):
        if self.chance(0.4):
            return self.one_of("i32", "f32")
        return self.r.choice(INTS + FLOATS + FLOATS + ["i1"] + FP8)

    def pick(self, ok):
        """A value that will do, later ones more often so that chains form; or None."""
        found = [v for v in self.scope if ok(v)]
        if not found:
            return None
        return found[max(self.r.randrange(len(found)) for _ in range(2))]

    def tile(self, ok=lambda v: True):
        """A tile that will do, perhaps loaded for it."""
        v = self.pick(lambda v: v.shape and ok(v))
        for _ in range(20):
            if v:
                return v
            v = self.load(self.dtype(), self.shape())
            v = v if ok(v) else None
        raise Unsuitable

    def of(self, dtype, shape, exact=False, mag=INF):
        """Some value of that type, perhaps converted.  `exact`: with err 0; `mag`: not larger."""
        shape = tuple(shape)

        def fit(v):
            return (not exact or v.err == 0) and v.mag <= mag

        v = self.pick(lambda v: v.dtype == dtype and v.shape == shape and fit(v))
        if not v or self.chance(0.2):
            v = self.made(dtype, shape, fit) or v
        if not v or not fit(v):
            v = self.full(dtype, shape)
        if not fit(v):
            raise Unsuitable
        return v

    def made(self, dtype, shape, fit):
        way = self.r.random()
        if way < 0.35:
            w = self.pick(lambda v: v.shape == shape and v.dtype != dtype and v.finite and fit(v)
                          and (v.err == 0 or is_float(dtype)))
            if w:
                return self.cast(w, dtype)
        if not shape:
            return self.scalar(dtype)
        if way < 0.5:
            return self.full(dtype, shape)
        return way < 0.7 and len(shape) > 1 and self.spread(dtype, shape, fit) or \
            self.load(dtype, shape)

    def spread(self, dtype, shape, fit):
        """A vector along one axis of the shape, broadcast."""
        axis = self.r.randrange(len(shape))
        v = self.pick(lambda v: v.dtype == dtype and v.shape == (shape[axis],) and fit(v))
        if not v:
            return None
        text = f"{v}[{at_axis(axis, len(shape))}]"
        if dtype not in FP8 and self.chance(0.5):
            return self.like(v, f"{text} {'|' if dtype == 'i1' else '+'} "
                             f"tl.zeros({dims(shape)}, {TL[dtype]})", shape)
        return self.like(v, f"tl.broadcast_to({text}, {dims(shape)})", shape)

    def full(self, dtype, shape):
        """The same number everywhere, or consecutive ones."""
        if dtype == "i1":
            return self.value(f"tl.full({dims(shape)}, {self.one_of(0, 1)}, tl.int1)", dtype, shape)
        if dtype == "i32" and len(shape) == 1 and self.chance(0.6):
            start = self.one_of(0, 0, 1, 5)
            return self.value(f"tl.arange({start}, {start + shape[0]})", dtype, shape,
                              start + shape[0])
        c = self.one_of(0, 1, 2, 3, 7)
        if c == 0 and self.chance(0.5):
            return self.value(f"tl.zeros({dims(shape)}, {TL[dtype]})", dtype, shape, 0, 1)
        n, v = self.argument() if dtype not in FP8 and self.chance(0.3) else (c, c)
        return self.value(f"tl.full({dims(shape)}, {n}, {TL[dtype]})", dtype, shape, v, 1)

    def scalar(self, dtype):
        """A uniform run-time scalar."""
        way = self.r.random()
        if way < 0.25 and dtype not in FP8:
            t = self.pick(lambda v: v.dtype == dtype and v.shape and v.err == 0 and v.finite)
            if t and dtype != "i1":
                return self.like(t, f"tl.max(tl.ravel({t}), 0).to({TL[dtype]})", ())
        if way < 0.5:
            name, a = self.array(dtype)
            i = self.r.randrange(8)
            a.need(8)
            return self.value(f"tl.load({name} + {i})", dtype, (), *a.bounds())
        n, v = ("tl.program_id(0)", self.k.grid) if way < 0.7 else self.argument()
        if dtype == "i1":
            return self.value(f"{n} > {self.r.randrange(4)}", dtype, ())
        if dtype == "i32" and self.chance(0.5):
            return self.value(f"{n} * 3", "i32", (), 3 * v)
        if dtype in FP8:
            return self.value(f"tl.full((), {v % 8}, {TL[dtype]})", dtype, (), 8, 1)
        return self.value(f"tl.full((), 0, {TL[dtype]}) + ({n}).to({TL[dtype]})", dtype, (), v, 1)

    def argument(self):
        """A run-time integer argument: its name and its value."""
        counts = [n for n in self.k.scalars if n[0] == "n"]
        if counts and (self.chance(0.6) or len(counts) > 5):
            n = self.r.choice(counts)
            return n, self.k.scalars[n]
        n = f"n{len(counts)}"
        self.k.scalars[n] = self.one_of(1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 20, 31, 32)
        return n, self.k.scalars[n]
