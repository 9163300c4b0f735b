"""Loads, stores and atomics."""
from .model import *

# Integer types whose values index others.
INDICES = ("i32", "i64", "u8", "i16")


class Memory:
    def array(self, dtype):
        """An input of that type: its name and its Array."""
        inputs = [n for n in self.k.arrays if n[0] == "x"]
        known = [n for n in inputs if self.k.arrays[n].dtype == dtype]
        if known and self.chance(0.5):
            n = self.r.choice(known)
            return n, self.k.arrays[n]
        n = f"x{len(inputs)}"
        a = self.k.arrays[n] = self.content(dtype)
        a.shared = self.aliases and dtype != "i1" and dtype not in FP8 and self.chance(0.7)
        return n, a

    def content(self, dtype):
        seed = self.r.randrange(1000)
        if self.chance(0.15):
            return Array(dtype, "any", seed)
        if is_float(dtype) and self.chance(0.3):
            return Array(dtype, "normal", seed)
        if dtype == "i1":
            return Array(dtype, "small", seed, 0, 1)
        if dtype[0] == "u":
            return Array(dtype, "small", seed, 0, self.one_of(4, 100))
        most = self.one_of(8, 8, 2) if dtype in FP8 else self.one_of(8, 8, 2, 100)
        return Array(dtype, "small", seed, -most, most)

    # ---- addresses ----

    def strides(self, shape):
        """(strides, elements that they span): mostly compact, in any order of the axes."""
        order = list(range(len(shape)))
        if self.chance(0.4):
            self.r.shuffle(order)
        strides, step = [0] * len(shape), self.one_of(1, 1, 1, 1, 1, 2, 3)
        for axis in reversed(order):
            strides[axis] = step
            step *= shape[axis]
            if self.chance(0.2):
                step += self.one_of(1, 3, 8)
        return strides, step

    def axis_index(self, axis, shape):
        index = f"tl.arange(0, {shape[axis]})"
        return index if len(shape) == 1 else f"{index}[{at_axis(axis, len(shape))}]"

    def offset_text(self, shape, strides, flips=0.0, wide=0.0):
        """With some chance an axis runs backwards, or is of 64 bits."""
        parts = []
        for a, stride in enumerate(strides):
            index = self.axis_index(a, shape)
            if self.chance(flips):
                index = f"({shape[a] - 1} - {index})"
            if self.chance(wide):
                index += ".to(tl.int64)"
            parts.append(index + self.times(stride))
        return " + ".join(parts)

    def times(self, stride):
        """` * stride`, which may be an argument of the kernel."""
        if 0 < stride <= 64 and self.chance(0.15):
            n = f"s{stride}"
            self.k.scalars[n] = stride
            return f" * {n}"
        return f" * {stride}" if stride != 1 else ""

    def part_of_index(self, index):
        """A quotient or a remainder, whose groups decide how wide an access under a mask is."""
        if self.chance(0.3):
            index = f"(tl.program_id(0) * {self.one_of(8, 24, 64)} + {index})"
        return f"{index} {self.one_of('%', '//')} {self.one_of(2, 3, 4, 8, 16)}"

    def mask(self, shape):
        """Text of a mask over some axes."""
        if self.chance(0.2):
            m = self.pick(lambda v: v.dtype == "i1" and v.shape == shape)
            if m:
                return m.name
        axes = [a for a in range(len(shape)) if self.chance(0.6)] or [len(shape) - 1]
        parts = []
        for a in axes:
            n, _ = self.argument()
            n = n if self.chance(0.6) else str(self.r.randint(0, shape[a]))
            index = self.axis_index(a, shape)
            if self.chance(0.25):
                index, n = self.part_of_index(index), str(self.r.randint(0, 8))
            parts.append(f"({index} {self.one_of('<', '<', '<', '>=')} {n})")
        return " & ".join(parts)

    # ---- loads ----

    def load(self, dtype, shape):
        way = self.r.random()
        if way < 0.15 and len(shape) <= 3:
            return self.load_block(dtype, shape)
        if way < 0.3:
            index = self.pick(lambda v: v.shape == shape and v.dtype in INDICES)
            if index:
                return self.load_gathered(dtype, shape, index)
        return self.load_strided(dtype, shape)

    def load_strided(self, dtype, shape):
        name, a = self.array(dtype)
        strides, span = self.strides(shape)
        base = name
        if self.chance(0.5):
            apart = self.one_of(span, span, 1, 16)
            base += f" + tl.program_id(0) * {apart}"
            span += apart * (self.k.grid - 1)
        if self.chance(0.1):
            base, span = f"{base} + {size(shape)}", span + size(shape)
        if self.chance(0.1):
            strides[self.r.randrange(len(strides))] = 0
        a.need(span)
        text = self.offset_text(shape, strides, flips=0.06, wide=0.06)
        if self.chance(0.1):
            start, most = self.argument()
            text, span = f"({text}) % {start}", most
        pointers = f"{base} + ({text})"
        if 0 in strides:
            pointers = f"tl.broadcast_to({pointers}, {dims(shape)})"
        return self.load_at(pointers, a, dtype, shape, 0.45)

    def load_at(self, pointers, a, dtype, shape, masked):
        more = ""
        mag, q = a.bounds()
        if self.chance(masked):
            other = self.one_of(0, 0, 0, 1, 3)
            other = min(other, 1) if dtype == "i1" else other
            mag = max(mag, other)
            more = f", mask={self.mask(shape)}, other={other}"
        if self.chance(0.1):
            more += self.one_of(', cache_modifier=".cg"', ', eviction_policy="evict_first"',
                                ", volatile=True")
        return self.value(f"tl.load({pointers}{more})", dtype, shape, mag, q)

    def load_gathered(self, dtype, shape, index):
        name, a = self.array(dtype)
        n = self.one_of(7, 32, 100)
        a.need(n)
        return self.load_at(f"{name} + ({index}.to(tl.int32) & 0x7fff) % {n}", a, dtype, shape, 0.3)

    def load_block(self, dtype, shape):
        """Through a block pointer, partly outside where it is checked."""
        name, a = self.array(dtype)
        strides, span = self.strides(shape)
        checked = [i for i in range(len(shape)) if self.chance(0.5)]
        sizes, offsets = [str(n) for n in shape], ["0"] * len(shape)
        for i in checked:
            n = self.r.randint(1, shape[i] + 2)
            n, most = self.argument() if self.chance(0.4) else (n, n)
            sizes[i], offsets[i] = str(n), str(self.one_of(0, 0, 1, -1, 2))
            span += most * strides[i]
        a.need(span + 4 * max(strides))
        order = sorted(range(len(shape)), key=lambda i: strides[i])
        b = self.name("b")
        lines = [f"{b} = tl.make_block_ptr({name}, {listed(sizes)}, {dims(strides)}, "
                 f"{listed(offsets)}, {dims(shape)}, {dims(order)})"]
        if checked and self.chance(0.4):
            by = [self.one_of(0, 1, -1) if i in checked else 0 for i in range(len(shape))]
            lines.append(f"{b} = tl.advance({b}, {dims(by)})")
        more = f", boundary_check={dims(checked)}" if checked else ""
        mag, q = a.bounds()
        if checked and is_float(dtype) and self.chance(0.3):
            more += ', padding_option="nan"'
            mag, q = INF, 0
        elif checked and self.chance(0.7):
            more += ', padding_option="zero"'
        out = Value(self.name("v"), dtype, shape, mag, q)
        return self.emit(lines + [f"{out} = tl.load({b}{more})"], out)

    # ---- stores ----

    def op_store(self):
        """In a loop too: what stays is what the last round stored."""
        v = self.pick(lambda v: v.err == 0 or v.finite)
        return v and self.store(v)

    def output(self, dtype, count, err):
        o = f"o{len(self.k.arrays)}"
        self.k.errors[o] = err
        self.k.arrays[o] = Array(dtype, "zeros")
        self.k.arrays[o].need(count)
        return o

    def aliased(self, dtype, count):
        """An output in the memory of an input, or None: later loads may read what is stored."""
        shared = [n for n, a in self.k.arrays.items() if a.shared and a.dtype == dtype]
        if not shared or self.chance(0.3):
            return None
        base, at = self.r.choice(shared), self.one_of(0, 0, 1, 3, 16, 64)
        o = f"o{len(self.k.arrays)}"
        self.k.arrays[o] = Array(dtype, "zeros", within=(base, at))
        self.k.arrays[o].need(count)
        self.k.arrays[base].need(at + count)
        self.k.errors[base] = 0
        return o

    def store(self, v):
        strides, span = self.strides(v.shape) if v.shape else ([], 1)
        o = None if v.err else self.aliased(v.dtype, span)
        o = o or self.output(v.dtype, span * self.k.grid, v.err)
        base = f"{o} + tl.program_id(0) * {span}" if self.k.grid > 1 else o
        if not v.shape:
            self.emit(f"tl.store({base}, {v})")
        elif len(v.shape) <= 3 and self.chance(0.2):
            self.store_block(base, v, strides)
        else:
            mask = f", mask={self.mask(v.shape)}" if self.chance(0.35) else ""
            self.emit(f"tl.store({base} + ({self.offset_text(v.shape, strides)}), {v}{mask})")
            if not mask and self.chance(0.15):
                self.reload(base, v, strides)
        return v

    def store_block(self, base, v, strides):
        checked = [i for i in range(len(v.shape)) if self.chance(0.5)]
        sizes = [self.r.randint(1, n) if i in checked else n for i, n in enumerate(v.shape)]
        more = f", boundary_check={dims(checked)}" if checked else ""
        order = dims(range(len(v.shape)))
        self.emit(f"tl.store(tl.make_block_ptr({base}, {dims(sizes)}, {dims(strides)}, "
                  f"{dims([0] * len(v.shape))}, {dims(v.shape)}, {order}), {v}{more})")

    def reload(self, base, v, strides):
        """Reads back what the program stored, one axis in the other direction."""
        flipped = self.r.randrange(len(v.shape))
        index = [self.axis_index(a, v.shape) for a in range(len(v.shape))]
        index[flipped] = f"({v.shape[flipped] - 1} - {index[flipped]})"
        text = " + ".join(f"{i} * {s}" for i, s in zip(index, strides))
        self.like(v, f"tl.load({base} + ({text}))", v.shape)

    # ---- atomics ----

    def op_atomic(self):
        if self.level > 1:
            return None
        kind = self.one_of("add", "add", "max", "min", "and", "or", "xor", "apart", "apart", "cas")
        if kind in ("apart", "cas"):
            return None if self.level else self.atomic_apart(kind)
        types = ["i32", "i32", "i64", "u32", "u64"]
        if kind == "add":
            types += ["f32", "f64", "f16"]
        dtype = self.r.choice(types)
        v = self.pick(lambda v: v.dtype == dtype and v.err == 0 and
                      (not is_float(dtype) or self.sum_is_exact(v)))
        if not v:
            return None
        bins = self.one_of(1, 5, 32)
        o = self.output(dtype, bins, 0)
        if not v.shape:
            self.emit(f"tl.atomic_{kind}({o} + {self.r.randrange(bins)}, {v})")
            return v
        i = self.of("i32", v.shape)
        mask = f", mask={self.mask(v.shape)}" if self.chance(0.4) else ""
        sem = self.one_of("", "", ', sem="relaxed"', ', sem="release"', ', scope="cta"' *
                          (self.k.grid == 1))
        self.emit(f"tl.atomic_{kind}({o} + ({i} & 0x7fff) % {bins}, {v}{mask}{sem})")
        return v

    def sum_is_exact(self, v):
        """Of all elements of all programs in all rounds of loops, in any order."""
        rounds = self.k.grid * size(v.shape) * 40 ** self.level
        return v.q and v.mag * rounds / v.q <= 2 ** DIGITS[v.dtype]

    def atomic_apart(self, kind):
        """Each element has an address of its own, so that the value before it is known."""
        types = ["i32", "i64", "u32", "u64"] + ["f32"] * (kind == "apart")
        dtype = self.r.choice(types)
        v = self.pick(lambda v: v.dtype == dtype and v.shape and v.err == 0)
        if not v:
            return None
        strides, span = self.strides(v.shape)
        name = self.one_of("add", "xchg")
        # A GPU's atomic sum takes denormal numbers for zero.
        flushed = 2.0**-126 if (kind, name, dtype) == ("apart", "add", "f32") else 0
        o = self.output(dtype, span * self.k.grid, flushed)
        p = f"{o} + tl.program_id(0) * {span} + ({self.offset_text(v.shape, strides)})"
        if kind == "cas":
            w = self.of(dtype, v.shape)
            text = f"tl.atomic_cas({p}, {v} & {w} & 1, {v})"
            return self.value(text, dtype, v.shape, 0, 1)
        mask = f", mask={self.mask(v.shape)}" if self.chance(0.2) else ""
        text = f"tl.atomic_{name}({p}, {v}{mask})"
        if mask or self.chance(0.5):
            self.emit(text)
            return v
        return self.value(text, dtype, v.shape, 0, 1)
