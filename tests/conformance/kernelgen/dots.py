"""Products of matrices: single ones, and loops over K."""
from .model import *

DOT_TYPES = ("f16", "bf16", "f32", "i8", "f8e5", "f8e4nv")


class Dots:
    def dot_extent(self):
        return self.one_of(16, 16, 32, 32, 64, 64, 8, 48, self.extent())

    def op_dot(self):
        a = self.pick(lambda v: len(v.shape) in (2, 3) and v.mag < 1e4 and
                      v.dtype in (*DOT_TYPES, "f64"))
        dtype = a.dtype if a else self.r.choice(DOT_TYPES)
        if a and self.chance(0.6):
            batch, (m, k) = a.shape[:-2], a.shape[-2:]
        else:
            batch, m, k = (self.one_of(2, 3, 4),) * self.chance(0.2), *self.extents(2)
            a = self.of(dtype, batch + (m, k), mag=1e4)
        n = self.dot_extent()
        if size(batch) * max(m * k, k * n, m * n) > 2 * self.max_size:
            raise Unsuitable
        if self.chance(0.4) and not batch:
            b = self.of(dtype, (n, k), mag=1e4)
            text = f"{a}, tl.trans({b})"
        else:
            b = self.of(dtype, batch + (k, n), mag=1e4)
            text = f"{a}, {b}"
        return self.dot(a, b, text, batch + (m, n), k)

    def extents(self, n):
        return [self.dot_extent() for _ in range(n)]

    def dot_bounds(self, a, b, k, precision):
        """dtype, mag, q, err of a product with k terms."""
        if a.dtype == "i8":
            return "i32", a.mag * b.mag * k, 1, 0
        out = "f64" if a.dtype == "f64" else "f32"
        mag = a.mag * b.mag * k
        err = (a.mag * b.err + b.mag * a.err) * k
        exact = a.q and b.q and mag / (a.q * b.q) <= 2 ** DIGITS[out]
        short = max(a.mag / a.q, b.mag / b.q) <= 1024 if a.q and b.q else False
        if a.dtype == "f32" and precision != "ieee" and not short:
            err += 2.0 ** -9 * mag
            exact = False
        if not exact:
            err += 4 * k * mag * 2.0 ** -DIGITS[out]
        return out, mag, a.q * b.q if exact else 0, err

    def dot(self, a, b, text, shape, k):
        precision = self.one_of("tf32", "ieee") if a.dtype == "f32" else None
        if a.mag == INF or b.mag == INF:
            raise Unsuitable
        out, mag, q, err = self.dot_bounds(a, b, k, precision)
        more = f', input_precision="{precision}"' if precision else ""
        if self.chance(0.4):
            acc = self.of(out, shape, mag=INF if out == "i32" else 1e6)
            q, mag, err = min(q, acc.q), mag + acc.mag, err + acc.err
            if out != "i32" and not (q and mag / q <= 2 ** DIGITS[out]):
                err += 4 * k * mag * 2.0 ** -DIGITS[out]
            more += f", acc={acc}"
        more += {"i32": ", out_dtype=tl.int32", "f64": ", out_dtype=tl.float64"}.get(out, "")
        return self.value(f"tl.dot({text}{more})", out, shape, mag, q, err)

    # ---- a loop over K ----

    def op_matmul(self):
        """Pointers that advance, offsets from the loop's index, or block pointers."""
        if self.level:
            raise Unsuitable
        dtype = self.r.choice(DOT_TYPES)
        m, n, k = self.extents(3)
        if max(m * k, k * n, m * n) > 4096:
            raise Unsuitable
        total = self.k.scalars.setdefault("K", self.r.randint(1, 5 * k))
        loop = Matmul(self, dtype, m, n, k, total)
        a, b = (Value("", dtype, (), *x.bounds()) for x in loop.arrays)
        if not (a.finite and b.finite):
            raise Unsuitable
        precision = self.one_of("ieee", "tf32")
        out, mag, q, err = self.dot_bounds(a, b, total + k, precision)
        c = self.bounded(Value(self.name("c"), out, (m, n), mag, q, err))
        more = {"i8": ", out_dtype=tl.int32",
                "f32": f', input_precision="{precision}"'}.get(dtype, "")
        ta, tb = self.name("t"), self.name("t")
        lines, loads, steps = getattr(loop, self.one_of("advance", "offsets", "blocks"))(ta, tb)
        dot = self.one_of(f"{c} = tl.dot({ta}, {tb}, {c}{more})",
                          f"{c} += tl.dot({ta}, {tb}{more})")
        self.emit([*lines, f"{c} = tl.zeros(({m}, {n}), {TL[out]})"], c)
        self.block.append(Stmt(loop.head, [c], [[Stmt(line) for line in [*loads, dot, *steps]]]))
        return c


class Matmul:
    """The parts of a loop over K: the lines before it, its loads and its steps."""
    def __init__(self, g, dtype, m, n, k, total):
        self.m, self.n, self.k = m, n, k
        room = 8 * math.ceil(total / 8) + g.one_of(0, 8)
        self.sa = (1, m) if g.chance(0.3) else (room, 1)
        self.sb = (1, room) if g.chance(0.4) else (n, 1)
        (self.a, a), (self.b, b) = g.array(dtype), g.array(dtype)
        self.arrays = a, b
        for x in self.arrays:
            x.need((room + k + 8) * max(m, n) + 64)
        self.i = g.name("i")
        head = g.one_of(f"tl.range(0, K, {k}, num_stages={g.r.randint(1, 4)})",
                        f"range(0, K, {k})", f"range(tl.cdiv(K, {k}))")
        self.at = f"{self.i} * {k}" if "cdiv" in head else self.i
        self.head = f"for {self.i} in {head}:"
        self.rm, self.rn, self.rk = (f"tl.arange(0, {x})" for x in (m, n, k))
        self.names = g.name("p"), g.name("p")

    def pointers(self, at):
        (am, ak), (bk, bn) = self.sa, self.sb
        return (f"{self.a} + {self.rm}[:, None] * {am} + {at}[None, :] * {ak}",
                f"{self.b} + {at}[:, None] * {bk} + {self.rn}[None, :] * {bn}")

    def advance(self, ta, tb):
        pa, pb = self.names
        a, b = self.pointers(self.rk)
        left = f"K - {self.at}"
        return ([f"{pa} = {a}", f"{pb} = {b}"],
                [f"{ta} = tl.load({pa}, mask={self.rk}[None, :] < {left}, other=0)",
                 f"{tb} = tl.load({pb}, mask={self.rk}[:, None] < {left}, other=0)"],
                [f"{pa} += {self.k} * {self.sa[1]}", f"{pb} += {self.k} * {self.sb[0]}"])

    def offsets(self, ta, tb):
        at = f"({self.at} + {self.rk})"
        a, b = self.pointers(at)
        return ([], [f"{ta} = tl.load({a}, mask={at}[None, :] < K, other=0)",
                     f"{tb} = tl.load({b}, mask={at}[:, None] < K, other=0)"], [])

    def blocks(self, ta, tb):
        pa, pb = self.names
        return ([f"{pa} = tl.make_block_ptr({self.a}, ({self.m}, K), {dims(self.sa)}, (0, 0), "
                 f"({self.m}, {self.k}), (1, 0))",
                 f"{pb} = tl.make_block_ptr({self.b}, (K, {self.n}), {dims(self.sb)}, (0, 0), "
                 f"({self.k}, {self.n}), (1, 0))"],
                [f"{ta} = tl.load({pa}, boundary_check=(0, 1))",
                 f"{tb} = tl.load({pb}, boundary_check=(0,))"],
                [f"{pa} = tl.advance({pa}, (0, {self.k}))",
                 f"{pb} = tl.advance({pb}, ({self.k}, 0))"])
