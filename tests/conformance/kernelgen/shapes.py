"""Shapes: expand, permute, reshape, join, split, slice, gather."""
from .model import *


class Shapes:
    def op_shape(self):
        v = self.tile()
        kind = self.one_of("expand", "trans", "trans", "reshape", "reshape", "join", "split",
                           "split", "flip", "slice", "ravel", "broadcast", "squeeze")
        return getattr(self, "shape_" + kind)(v, v.shape)

    def shape_expand(self, v, s):
        axis = self.r.randrange(len(s) + 1)
        if len(s) > 4:
            raise Unsuitable
        if len(s) == 1 and self.chance(0.5):
            return self.like(v, f"{v}[{at_axis(axis, 2)}]", (s + (1,), (1,) + s)[axis])
        return self.like(v, f"tl.expand_dims({v}, {axis})", s[:axis] + (1,) + s[axis:])

    def shape_squeeze(self, v, s):
        axes = [a for a, n in enumerate(s) if n == 1]
        if not axes or len(s) < 2:
            raise Unsuitable
        axis = self.r.choice(axes)
        return self.like(v, f"tl.squeeze({v}, {axis})", s[:axis] + s[axis + 1:])

    def shape_broadcast(self, v, s):
        axis = self.r.randrange(len(s) + 1)
        n = self.one_of(2, 3, 4, 5, 8)
        if len(s) > 4 or size(s) * n > self.max_size:
            raise Unsuitable
        to = s[:axis] + (n,) + s[axis:]
        return self.like(v, f"tl.broadcast_to(tl.expand_dims({v}, {axis}), {dims(to)})", to)

    def shape_trans(self, v, s):
        perm = list(range(len(s)))
        self.r.shuffle(perm)
        if len(s) < 2:
            raise Unsuitable
        if len(s) == 2 and self.chance(0.3):
            return self.like(v, f"{v}.T", s[::-1])
        return self.like(v, f"tl.permute({v}, {dims(perm)})", [s[i] for i in perm])

    def shape_reshape(self, v, s):
        to = self.factored(size(s))
        return self.like(v, f"tl.reshape({v}, {dims(to)})", to)

    def shape_ravel(self, v, s):
        return self.like(v, f"tl.ravel({v})", (size(s),))

    def shape_join(self, v, s):
        """Or interleave, or cat."""
        op = self.one_of("join", "interleave", "cat")
        if 2 * size(s) > self.max_size or len(s) > 3 or op == "cat" and len(s) > 1:
            raise Unsuitable
        w = self.of(v.dtype, s)
        self.both(v, w)
        to = {"join": s + (2,), "interleave": s[:-1] + (2 * s[-1],), "cat": (2 * s[0],)}[op]
        more = f", can_reorder={self.one_of(True, False)}" if op == "cat" else ""
        return self.value(f"tl.{op}({v}, {w}{more})", v.dtype, to, max(v.mag, w.mag),
                          min(v.q, w.q), max(v.err, w.err))

    def shape_split(self, v, s):
        """Of two elements in all: into scalars."""
        if size(s) % 2:
            raise Unsuitable
        if s[-1] != 2:
            to = self.factored(size(s) // 2) + (2,)
            v = self.like(v, f"tl.reshape({v}, {dims(to)})", to)
        outs = [Value(self.name("v"), v.dtype, v.shape[:-1], v.mag, v.q, v.err) for _ in range(2)]
        return self.emit(f"{outs[0]}, {outs[1]} = tl.split({v})", *outs)

    def shape_flip(self, v, s):
        return self.like(v, f"tl.flip({v}, {self.r.randrange(len(s))})", s)

    def shape_slice(self, v, s):
        axis = self.r.randrange(len(s))
        lo = self.r.randrange(s[axis])
        hi = self.r.randint(lo + 1, s[axis])
        step = self.one_of(1, 1, 2, 3)
        to = s[:axis] + (len(range(lo, hi, step)),) + s[axis + 1:]
        index = ", ".join(f"{lo}:{hi}:{step}" if a == axis else ":" for a in range(len(s)))
        return self.like(v, f"{v}[{index}]", to)

    def factored(self, n):
        """A random shape of n elements."""
        shape = []
        while n > 1 and len(shape) < 3 and self.chance(0.75):
            d = self.r.choice([d for d in range(1, n + 1) if n % d == 0])
            shape.append(d)
            n //= d
        shape.append(n)
        self.r.shuffle(shape)
        return tuple(shape)

    def op_gather(self):
        v = self.tile()
        axis = self.r.randrange(len(v.shape))
        to = v.shape
        if self.chance(0.4):
            to = v.shape[:axis] + (self.extent(),) + v.shape[axis + 1:]
        if size(to) > self.max_size:
            raise Unsuitable
        i = self.of("i32", to)
        return self.like(v, f"tl.gather({v}, ({i} & 0x7fff) % {v.shape[axis]}, {axis})", to)
