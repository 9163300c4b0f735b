"""Loops, branches, helpers, and what they carry."""
from .model import *


class Control:
    def inside(self, body, steps):
        """Runs steps with statements going to `body`; what they define stays inside."""
        outer, scope = self.block, list(self.scope)
        self.block = body
        self.level += 1
        try:
            steps()
        finally:
            self.level -= 1
            self.block, self.scope = outer, scope

    def carried(self):
        """A fresh variable that starts as some value."""
        v = self.pick(lambda v: v.err == 0 and (not is_float(v.dtype) or v.q) and
                      (v.shape or v.dtype in ("i32", "f32", "i64")) and v.dtype not in FP8)
        if not v:
            raise Unsuitable
        c = Value(self.name("c"), v.dtype, v.shape, v.mag, v.q)
        zeros = f"{'|' if v.dtype == 'i1' else '+'} tl.zeros({dims(v.shape)}, {TL[v.dtype]})"
        self.block.append(Stmt(f"{c} = {v} {zeros}" if v.shape else f"{c} = {v}", [c]))
        if not is_float(c.dtype):
            c.mag = int_top(c.dtype)
        return c

    def update(self, c, trips):
        """The new value of a carried variable; its bounds are widened for `trips` rounds."""
        try:
            x = self.of(c.dtype, c.shape, exact=True, mag=1e4 if is_float(c.dtype) else INF)
        except Unsuitable:
            return
        if not is_float(c.dtype):
            op = self.one_of(*("&|^" if c.dtype == "i1" else "+^-*"))
            self.block.append(Stmt(f"{c} = ({c} {op} {x}).to({TL[c.dtype]})", [c]))
        elif x.q:
            mag, q = c.mag + trips * x.mag, min(c.q, x.q)
            if mag / q <= 2 ** DIGITS[c.dtype] and self.chance(0.7):
                self.block.append(Stmt(f"{c} = ({c} + {x}).to({TL[c.dtype]})", [c]))
                c.mag, c.q = mag, q
            else:
                self.block.append(Stmt(f"{c} = tl.maximum({c}, {x}).to({TL[c.dtype]})", [c]))
                c.mag, c.q = max(c.mag, x.mag), q

    # ---- loops ----

    def op_for(self):
        if self.level > 1:
            raise Unsuitable
        variables = [self.carried() for _ in range(self.r.randint(1, 3))]
        head, i, trips = self.loop_head()
        body = []

        def steps():
            # Floats are summed and used only after the loop, when their bounds are known.
            self.scope += [c for c in variables if not is_float(c.dtype)]
            if not head.startswith("while") or self.chance(0.5):
                self.scope.append(i)
            self.steps(self.r.randint(1, 4))
            for c in variables:
                if self.chance(0.85):
                    self.update(c, trips)
            if head.startswith("while"):
                self.block.append(Stmt(f"{i} = {i} + 1", fixed=True))

        self.inside(body, steps)
        self.block.append(Stmt(head, variables, [body]))
        self.scope += variables
        return variables[0]

    def loop_head(self):
        """(text, index, most rounds)"""
        n, most = self.argument()
        i = Value(self.name("i"), "i32", (), 64)
        kind = self.one_of("range", "tl.range", "static", "down", "while", "until", "const")
        step = self.one_of(1, 1, 2, 3, 4)
        if kind == "range":
            return f"for {i} in range(0, {n}, {step}):", i, most
        if kind == "tl.range":
            return (f"for {i} in tl.range({n} // 2, {n}, {step}, "
                    f"num_stages={self.r.randint(1, 4)}):", i, most)
        if kind == "down":
            return f"for {i} in range({n}, 0, -{step}):", i, most
        trips = self.r.randint(1, 4)
        if kind == "static":
            return f"for {i} in tl.static_range({trips}):", i, trips
        if kind == "const":
            return f"for {i} in range({trips - 1}):", i, trips
        self.block.append(Stmt(f"{i} = 0", [i], fixed=True))
        if kind == "while":
            return f"while {i} < tl.minimum({n}, {trips}):", i, trips
        v = self.of("i32", (), exact=True)
        return f"while ({i} < {trips}) & ({i} < {v}):", i, trips

    def op_pointers(self):
        """A tile of pointers that a loop carries as data."""
        if self.level:
            raise Unsuitable
        c = self.tile(lambda v: v.dtype == "i1")
        dtype = self.one_of("i32", "f32", "i8", "i64", "u16")
        name, a = self.array(dtype)
        mag, q = a.bounds()
        if is_float(dtype) and not q:
            raise Unsuitable
        n, most = self.argument()
        a.need(2 * most + size(c.shape) + 2)
        p, i = self.name("p"), self.name("i")
        out = self.bounded(Value(self.name("c"), dtype, c.shape, most * mag, q))
        self.emit([f"{p} = {name} + ({self.offset_text(c.shape, row_major(c.shape))})",
                   f"{out} = tl.zeros({dims(c.shape)}, {TL[dtype]})"], out)
        step = self.one_of(f"{p} = tl.where({c}, {p} + 1, {p})", f"{p} += tl.where({c}, 1, 2)",
                           f"{p} += {c}.to(tl.int32)")
        body = [Stmt(f"{out} = ({out} + tl.load({p})).to({TL[dtype]})"), Stmt(step)]
        self.block.append(Stmt(f"for {i} in range({n}):", [out], [body]))
        return out

    # ---- branches ----

    def op_if(self):
        if self.level > 1:
            raise Unsuitable
        c = self.of("i1", ())
        variables = [self.carried() for _ in range(self.r.randint(1, 2))]
        blocks = [[]] if self.chance(0.4) else [[], []]

        def steps():
            self.steps(self.r.randint(1, 3))
            for v in variables:
                self.update(v, 1)

        for body in blocks:
            self.inside(body, steps)
        self.block.append(Stmt([f"if {c}:", "else:"][:len(blocks)], variables, blocks))
        self.scope += variables
        return variables[0]

    def op_barrier(self):
        self.block.append(Stmt("tl.debug_barrier()"))
        return True

    def op_choice(self):
        """A conditional expression of scalars."""
        c = self.of("i1", ())
        dtype = self.one_of("i32", "f32", "i64")
        a, b = self.of(dtype, ()), self.of(dtype, ())
        self.both(a, b)
        return self.value(f"{a} if {c} else {b}", dtype, (), max(a.mag, b.mag), min(a.q, b.q),
                          max(a.err, b.err))

    # ---- helpers ----

    def op_helper(self):
        v = self.tile(lambda v: not is_float(v.dtype) and v.dtype != "i1")
        kind = self.one_of("pair", "swap", "early")
        if kind == "early":
            n, _ = self.argument()
            return self.value(f"early({v}, {n}).to({TL[v.dtype]})", v.dtype, v.shape)
        w = self.of(v.dtype, v.shape)
        outs = [Value(self.name("v"), v.dtype, v.shape) for _ in range(2)]
        if kind == "pair":
            return self.emit(f"{outs[0]}, {outs[1]} = pair(({v}, {w}))", *outs)
        c = self.of("i1", ())
        return self.emit(f"{outs[0]}, {outs[1]} = swap_if({c}, {v}, {w})", *outs)
