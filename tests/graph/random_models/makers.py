"""What random models are made of: each maker adds an operator, or a few, to a model."""
import struct

import numpy as np

import onnx_text as o

SYMBOLS = ["n", "m", "k"]
CODES = {"f4": 1, "u1": 2, "i1": 3, "i4": 6, "i8": 7, "?": 9}


class Value:
    """dims: numbers, names of sizes, or None where they are not tracked.  exact: any order of
    additions gives these elements."""

    def __init__(self, name, dtype, dims, exact=True):
        self.name, self.dtype, self.dims, self.exact = name, dtype, list(dims), exact

    @property
    def rank(self):
        return len(self.dims)


class Model:
    def __init__(self, rng, opset):
        self.rng, self.opset, self.nodes, self.initializers, self.ops = rng, opset, [], [], []
        self.values, self.used, self.inputs, self.names = [], set(), {}, 0
        for _ in range(rng.randint(1, 2)):
            self.input("f4", [self.dim() for _ in range(rng.randint(1, 4))])
        for _ in range(rng.randint(2, 9)):
            try:
                rng.choice(MAKERS)(self)
            except LookupError:
                pass  # no value fits
        outputs = [v for v in self.values if v.name not in self.used and v.name not in self.inputs]
        self.outputs = outputs[:6] or [self.add("Identity", [self.values[0]], [0])]

    def dim(self):
        return self.rng.choice([*SYMBOLS, *SYMBOLS, *SYMBOLS, 1, 3])

    def symbols(self):
        return {d for _, dims in self.inputs.values() for d in dims if isinstance(d, str)}

    def fresh(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def input(self, dtype, dims):
        name = self.fresh("x")
        self.inputs[name] = (dtype, dims)
        self.values.append(Value(name, dtype, dims))
        return self.values[-1]

    def value(self, least=0, most=4, dtype="f4", exact=False, fits=None):
        fit = [v for v in self.values if least <= v.rank <= most and v.dtype in dtype.split() and
               (v.exact or not exact) and (not fits or fits(v))]
        if not fit or (len(self.inputs) < 4 and self.rng.random() < 0.06 and not fits):
            if fits or len(self.inputs) > 5:
                raise LookupError
            rank = self.rng.randint(max(least, 1), max(most, 1))
            return self.use(self.input(dtype.split()[0], [self.dim() for _ in range(rank)]))
        return self.use(fit[-1 - min(int(self.rng.expovariate(0.5)), len(fit) - 1)])

    def use(self, v):
        self.used.add(v.name)
        return v

    def like(self, v, **more):
        """A value that broadcasts with v, where that is known."""
        def broadcasts(w):
            pairs = zip(reversed(v.dims), reversed(w.dims))
            return w is v or all(a == b is not None or 1 in (a, b) for a, b in pairs)
        return self.value(dtype=v.dtype, fits=broadcasts, **more)

    def constant(self, dtype, array):
        array = np.asarray(array, dtype)
        name = self.fresh("c")
        self.initializers.append(o.tensor(name, dtype, list(array.shape), array.tobytes()))
        return name

    def ints(self, *values):
        name = self.fresh("c")
        self.initializers.append(o.ints(name, *values))
        return name

    def weights(self, *shape):
        """Small halves, so that products are exact."""
        numbers = np.random.default_rng(self.rng.randrange(1 << 30))
        return self.constant("f4", numbers.integers(-3, 4, shape) * 0.5)

    def add(self, op, inputs, dims, dtype="f4", exact=True, more=(), **attributes):
        """A node; `dims` of its first result, or those of input number dims[0] where it is [0]."""
        values = [v for v in inputs if isinstance(v, Value)]
        if dims == [0] and values:
            dims = values[0].dims
        exact = exact and all(v.exact for v in values)
        out = Value(self.fresh(), dtype, dims, exact)
        rest = [Value(self.fresh(), t, d, exact) for t, d in more]
        names = [v.name if isinstance(v, Value) else v or "-" for v in inputs]
        self.nodes.append(o.node(op, names, [out.name, *(r.name for r in rest)], **attributes))
        self.ops.append(op)
        self.values += [out, *rest]
        return out if not rest else [out, *rest]

    def size(self, x, axis):
        """[size], of i64"""
        whole = self.add("Shape", [x], [x.rank], "i8")
        return self.add("Gather", [self.use(whole), self.ints(axis)], [1], "i8")

    def onnx(self):
        types = {n: o.type_of(CODES[t], dims) for n, (t, dims) in self.inputs.items()}
        outputs = {v.name: o.field(1, o.field(1, CODES[v.dtype])) for v in self.outputs}
        return o.model(self.nodes, types, outputs, self.initializers, self.opset)


def joined(a, b):
    """Sizes of a broadcast."""
    n = max(a.rank, b.rank)
    left, right = [1] * (n - a.rank) + a.dims, [1] * (n - b.rank) + b.dims
    return [y if x == 1 else x if y == 1 or x == y else None for x, y in zip(left, right)]


# ---- elements ----

def smooth(m):
    op = m.rng.choice("Exp Sigmoid Tanh Softplus Erf Sqrt Sin Cos Elu Selu Mish HardSwish Log Atan "
                      "Softsign Reciprocal Gelu Celu HardSigmoid".split())
    if op == "Gelu" and m.opset < 20:
        op = "Erf"
    a = m.value()
    if op in ("Sqrt", "Log", "Reciprocal"):
        a = m.use(m.add("Abs", [a], [0]))
        a = m.use(m.add("Add", [a, m.constant("f4", 0.5)], [0]))
    if op == "Exp":
        a = m.use(m.add("Clip", [a, m.constant("f4", -9), m.constant("f4", 4)], [0]))
    m.add(op, [a], [0], exact=False)


def plain(m):
    a = m.value(dtype="f4 i8")
    ops = "Neg Abs Identity Sign".split() + (["Relu", "LeakyRelu"] if a.dtype == "f4" else [])
    op = m.rng.choice(ops)
    if op == "Sign" and not a.exact:
        op = "Neg"
    attributes = {"alpha": 0.25} if op == "LeakyRelu" else {}
    m.add(op, [a], [0], a.dtype, **attributes)


def rounded(m):
    m.add(m.rng.choice("Floor Ceil Round".split()), [m.value(exact=True)], [0])


def binary(m):
    a = m.value(dtype="f4 i8")
    b = m.like(a)
    op = m.rng.choice("Add Sub Mul Max Min".split())
    if m.rng.random() < 0.5:
        a, b = b, a
    m.add(op, [a, b], joined(a, b), a.dtype)


def divided(m):
    a = m.value()
    b = m.like(a)
    one = m.use(m.add("Add", [m.use(m.add("Abs", [b], [0])), m.constant("f4", 1)], [0]))
    m.add("Div", [a, one], joined(a, b), exact=False)


def modulo(m):
    a = m.value(dtype="i8")
    m.add("Mod", [a, m.constant("i8", m.rng.choice([2, 3, -3]))], [0], "i8")


def powered(m):
    m.add("Pow", [m.value(exact=True), m.constant("f4", m.rng.choice([2, 3, 1]))], [0],
          exact=False)


def compared(m):
    a = m.value(dtype="f4 i8", exact=True)
    b = m.like(a, exact=True)
    op = m.rng.choice("Greater Less Equal GreaterOrEqual LessOrEqual".split())
    m.add(op, [a, b], joined(a, b), "?")


def logical(m):
    a = m.value(dtype="?")
    if m.rng.random() < 0.3:
        m.add("Not", [a], [0], "?")
        return
    b = m.like(a)
    m.add(m.rng.choice("And Or Xor".split()), [a, b], joined(a, b), "?")


def chosen(m):
    a = m.value(dtype="f4 i8")
    c = m.value(dtype="?", fits=lambda v: v.dims == a.dims)
    m.add("Where", [c, a, m.constant(a.dtype, 2)], a.dims, a.dtype)


def cast(m):
    a = m.value(dtype="f4 i8 ?", exact=True)
    to = m.rng.choice(["f4", "i8", "?", "i4"])
    y = m.add("Cast", [a], [0], to, to=CODES[to])
    if to == "i4":
        m.add("Cast", [m.use(y)], [0], "i8", to=7)


def clipped(m):
    low, high = sorted(m.rng.sample([-2, -1, 0, 1, 2], 2))
    inputs = [m.value(), m.constant("f4", low) if m.rng.random() < 0.7 else "",
              m.constant("f4", high)]
    m.add("Clip", inputs, [0])


def prelu(m):
    a = m.value(2, 4, fits=lambda v: isinstance(v.dims[1], int))
    slope = m.weights(a.dims[1], *[1] * (a.rank - 2))
    m.add("PRelu", [a, slope], [0])


def halved(m):
    a = m.value(exact=True)
    half = m.use(m.add("Cast", [m.use(m.add("Clip", [a, m.constant("f4", -9),
                                                     m.constant("f4", 9)], [0]))], [0], "f2",
                       to=10))
    other = m.use(m.add(m.rng.choice("Neg Abs Relu".split()), [half], [0], "f2"))
    m.add("Cast", [other], [0], to=1)


# ---- shapes ----

def axes_of(m, a, least=1):
    return sorted(m.rng.sample(range(a.rank), m.rng.randint(least, a.rank)))


def sign(m, axis, rank):
    """The axis, maybe counted from the end."""
    return axis - rank if m.rng.random() < 0.3 else axis


def squeezed(m):
    a = m.value(1, fits=lambda v: 1 in v.dims)
    axis = a.dims.index(1)
    m.add("Squeeze", [a, m.ints(sign(m, axis, a.rank))], a.dims[:axis] + a.dims[axis + 1:],
          a.dtype)


def unsqueezed(m):
    a = m.value(0, 3, dtype="f4 i8 ?")
    axis = m.rng.randint(0, a.rank)
    m.add("Unsqueeze", [a, m.ints(sign(m, axis, a.rank + 1))],
          a.dims[:axis] + [1] + a.dims[axis:], a.dtype)


def transposed(m):
    a = m.value(2, dtype="f4 i8 ?")
    perm = m.rng.sample(range(a.rank), a.rank)
    m.add("Transpose", [a], [a.dims[p] for p in perm], a.dtype, perm=perm)


def flattened(m):
    a = m.value(1)
    m.add("Flatten", [a], [None, None], axis=sign(m, m.rng.randint(0, a.rank - 1), a.rank))


def reshaped(m):
    a = m.value(1, dtype="f4 i8")
    kind = m.rng.randrange(5)
    if kind == 0:
        m.add("Reshape", [a, m.ints(-1)], [None], a.dtype)
    elif kind == 1 and a.rank > 1:
        m.add("Reshape", [a, m.ints(0, -1)], [a.dims[0], None], a.dtype)
    elif kind == 2:
        sizes = m.use(m.add("Shape", [a], [a.rank], "i8"))
        rest = m.use(m.add("Slice", [sizes, m.ints(1), m.ints(9)], [a.rank - 1], "i8"))
        whole = m.use(m.add("Concat", [m.ints(1, -1), rest], [a.rank + 1], "i8", axis=0))
        m.add("Reshape", [a, whole], [1, *a.dims], a.dtype)
    elif kind == 3 and isinstance(a.dims[-1], int) and a.dims[-1] == 3:
        m.add("Reshape", [a, m.ints(*[0] * (a.rank - 1), 3, -1)], [*a.dims[:-1], 3, 1], a.dtype)
    else:
        b = m.size(a, m.rng.randrange(a.rank))
        whole = m.use(m.add("Concat", [m.use(b), m.ints(-1)], [2], "i8", axis=0))
        m.add("Reshape", [a, whole], [None, None], a.dtype)


def expanded(m):
    a = m.value(dtype="f4 i8")
    b = m.like(a, least=1)
    m.add("Expand", [a, m.use(m.add("Shape", [b], [b.rank], "i8"))], joined(a, b), a.dtype)


def tiled(m):
    a = m.value(1)
    times = [m.rng.choice([1, 1, 2, 3]) for _ in range(a.rank)]
    dims = [d * t if isinstance(d, int) else d if t == 1 else None for d, t in zip(a.dims, times)]
    m.add("Tile", [a, m.ints(*times)], dims, a.dtype)


def concatenated(m):
    a = m.value(1, dtype="f4 i8")
    axis = m.rng.randrange(a.rank)
    rest = a.dims[:axis] + a.dims[axis + 1:]
    b = m.value(a.rank, a.rank, a.dtype, fits=lambda v: v.dims[:axis] + v.dims[axis + 1:] == rest)
    both = isinstance(a.dims[axis], int) and isinstance(b.dims[axis], int)
    size = a.dims[axis] + b.dims[axis] if both else None
    m.add("Concat", [a, b],
          a.dims[:axis] + [size] + a.dims[axis + 1:], a.dtype, axis=sign(m, axis, a.rank))


def sliced(m):
    a = m.value(1, dtype="f4 i8 ?")
    axes = axes_of(m, a)[:2]
    steps = [m.rng.choice([1, 1, 1, 2, -1, -2]) for _ in axes]
    starts = [m.rng.choice([0, 0, 1, -1, -2, 5]) if s > 0 else m.rng.choice([-1, -1, 99, 1])
              for s in steps]
    ends = [m.rng.choice([1, 2, -1, 2**40]) if s > 0 else m.rng.choice([0, -2**40, -3])
            for s in steps]
    dims = [None if i in axes else d for i, d in enumerate(a.dims)]
    m.add("Slice", [a, m.ints(*starts), m.ints(*ends), m.ints(*[sign(m, i, a.rank) for i in axes]),
                    m.ints(*steps)], dims, a.dtype)


def cut_by_size(m):
    """A slice whose end is half of another axis."""
    a, b = m.value(1), m.value(1)
    axis = m.rng.randrange(a.rank)
    end = m.use(m.add("Div", [m.size(b, m.rng.randrange(b.rank)), m.ints(2)], [1], "i8"))
    dims = a.dims[:axis] + [None] + a.dims[axis + 1:]
    m.add("Slice", [a, m.ints(0), end, m.ints(axis)], dims)


def split(m):
    a = m.value(1, dtype="f4 i8")
    axis = m.rng.randrange(a.rank)
    dims = a.dims[:axis] + [None] + a.dims[axis + 1:]
    m.add("Split", [a], dims, a.dtype, more=[(a.dtype, dims)], axis=axis, num_outputs=2)


def padded(m):
    a = m.value(1)
    mode = m.rng.choice(["constant", "constant", "edge", "reflect", "wrap"])
    mode = "edge" if mode == "wrap" and m.opset < 19 else mode
    pads = [m.rng.randint(0, 2) for _ in range(2 * a.rank)]
    if mode == "constant" and m.rng.random() < 0.3:
        pads[m.rng.randrange(len(pads))] = -1
    dims = [d if not p + q else d + p + q if isinstance(d, int) else None
            for d, p, q in zip(a.dims, pads, pads[a.rank:])]
    more = [m.constant("f4", 1.5)] if mode == "constant" and m.rng.random() < 0.5 else []
    m.add("Pad", [a, m.ints(*pads), *more], dims, mode=mode)


def filled(m):
    a = m.value(1)
    sizes = m.use(m.add("Shape", [a], [a.rank], "i8"))
    m.add("ConstantOfShape", [sizes], a.dims, value=o.tensor("t", "f4", [1],
                                                             struct.pack("<f", 1.5)))


def triangle(m):
    a = m.value(2)
    m.add("Trilu", [a] + ([m.constant("i8", m.rng.choice([-1, 0, 1]))]), a.dims,
          upper=m.rng.randint(0, 1))


def eye(m):
    a = m.value(2, 2)
    m.add("EyeLike", [a], a.dims, k=m.rng.choice([0, 1, -1]))


def depth(m):
    x = m.input("f4", [m.dim(), 8, m.dim(), m.dim()]) if len(m.inputs) < 4 else m.value(
        4, 4, fits=lambda v: v.dims[1] == 8)
    m.add("DepthToSpace", [m.use(x)], [x.dims[0], 2, None, None], blocksize=2,
          mode=m.rng.choice(["DCR", "CRD"]))


# ---- indices ----

def gathered(m):
    a = m.value(1, dtype="f4 i8")
    axis = m.rng.randrange(a.rank)
    count = m.rng.choice([0, 1, 2])
    index = m.constant("i8", 0) if not count else m.ints(*[m.rng.choice([0, -1])] * count)
    dims = a.dims[:axis] + [count][:bool(count)] + a.dims[axis + 1:]
    m.add("Gather", [a, index], dims, a.dtype, axis=sign(m, axis, a.rank))


def gathered_computed(m):
    """Rows by counting: the axis backwards."""
    a = m.value(1)
    axis = m.rng.randrange(a.rank)
    end = m.use(m.add("Squeeze", [m.size(a, axis)], [], "i8"))
    last = m.use(m.add("Sub", [end, m.constant("i8", 1)], [], "i8"))
    index = m.use(m.add("Range", [last, m.constant("i8", -1), m.constant("i8", -1)], [None], "i8"))
    if m.rng.random() < 0.5:
        m.add("Gather", [a, index], a.dims, axis=axis)
        return
    fit = index
    if a.rank > 1:
        others = m.ints(*[i for i in range(a.rank) if i != axis])
        fit = m.use(m.add("Unsqueeze", [index, others], a.dims, "i8"))
    whole = m.use(m.add("Expand", [fit, m.use(m.add("Shape", [a], [a.rank], "i8"))], a.dims, "i8"))
    m.add("GatherElements", [a, whole], a.dims, axis=axis)


def scattered(m):
    a = m.value(2, 3)
    kind = m.rng.choice(["none", "add", "max", "mul"])
    update = m.use(m.add("Slice", [a, m.ints(0), m.ints(1), m.ints(0)],
                         [None, *a.dims[1:]]))
    zero = m.use(m.add("Cast", [m.use(m.add("Mul", [update, m.constant("f4", 0)],
                                            update.dims))], update.dims, "i8", to=7))
    m.add("ScatterElements", [a, zero, update], a.dims, axis=0, reduction=kind)


def nonzero(m):
    a = m.value(1, 3, dtype="f4 ?", exact=True)
    m.add("NonZero", [a], [a.rank, None], "i8")


def compressed(m):
    a = m.value(1)
    m.add("Compress", [a, m.constant("?", [1, 0, 1][:m.rng.randint(1, 3)])],
          [None, *a.dims[1:]], axis=0)


def one_hot(m):
    a = m.value(1, 3, dtype="i8")
    m.add("OneHot", [a, m.ints(4), m.constant("f4", [0, 1])], [*a.dims, 4])


def top(m):
    a = m.value(1, exact=True)
    axis = m.rng.randrange(a.rank)
    k = m.ints(1) if m.rng.random() < 0.5 else m.use(m.size(a, axis))
    dims = a.dims[:axis] + [None] + a.dims[axis + 1:]
    m.add("TopK", [a, k], dims, more=[("i8", dims)], axis=sign(m, axis, a.rank),
          largest=m.rng.randint(0, 1))


def extreme_at(m):
    a = m.value(1, exact=True)
    axis, keep = m.rng.randrange(a.rank), m.rng.randint(0, 1)
    m.add(m.rng.choice(["ArgMax", "ArgMin"]), [a],
          a.dims[:axis] + [1][:keep] + a.dims[axis + 1:], "i8", axis=axis, keepdims=keep,
          select_last_index=m.rng.randint(0, 1))


def unique(m):
    m.add("Unique", [m.value(1, 2, exact=True)], [None], sorted=1)


# ---- reductions ----

def reduced(m):
    a = m.value(1)
    op = m.rng.choice("Sum Mean Max Min L1 L2 LogSumExp SumSquare Prod".split())
    axes, keep = axes_of(m, a), m.rng.randint(0, 1)
    dims = [1 if i in axes else d for i, d in enumerate(a.dims) if keep or i not in axes]
    exact = op in ("Max", "Min", "Sum")
    listed = [sign(m, i, a.rank) for i in axes]
    if op == "Prod":
        a = m.use(m.add("Clip", [a, m.constant("f4", -2), m.constant("f4", 2)], [0]))
    if op == "Sum" or m.opset >= 18:
        m.add(f"Reduce{op}", [a, m.ints(*listed)], dims, exact=exact, keepdims=keep)
    else:
        m.add(f"Reduce{op}", [a], dims, exact=exact, keepdims=keep, axes=listed)


def cumulated(m):
    a = m.value(1)
    axis = m.rng.randrange(a.rank)
    m.add("CumSum", [a, m.constant("i8", sign(m, axis, a.rank))], a.dims,
          exclusive=m.rng.randint(0, 1), reverse=m.rng.randint(0, 1))


def softmaxed(m):
    a = m.value(1)
    m.add(m.rng.choice(["Softmax", "LogSoftmax"]), [a], a.dims, exact=False,
          axis=sign(m, m.rng.randrange(a.rank), a.rank))


def normalized(m):
    a = m.value(1, fits=lambda v: v.rank and v.dims[-1] == 3)
    m.add("LayerNormalization", [a, m.weights(3), m.weights(3)], a.dims, exact=False, axis=-1)


def instance(m):
    a = m.value(3, 4, fits=lambda v: v.dims[1] == 3)
    m.add("InstanceNormalization", [a, m.weights(3), m.weights(3)], a.dims, exact=False,
          epsilon=0.25)


def batch_norm(m):
    a = m.value(2, 4, fits=lambda v: v.dims[1] == 3)
    m.add("BatchNormalization", [a, m.weights(3), m.weights(3), m.weights(3),
                                 m.constant("f4", [1, 0.5, 2])], a.dims, exact=False)


# ---- products ----

def product(m):
    a = m.value(2, 4, fits=lambda v: v.rank > 1 and isinstance(v.dims[-1], int))
    m.add("MatMul", [a, m.weights(a.dims[-1], 4)], [*a.dims[:-1], 4])


def gram(m):
    """A value times itself with the last axes exchanged."""
    a = m.value(2, 4)
    perm = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    other = m.use(m.add("Transpose", [a], [a.dims[p] for p in perm], perm=perm))
    m.add("MatMul", [a, other], [*a.dims[:-1], a.dims[-2]])


def gemm(m):
    a = m.value(2, 2, fits=lambda v: isinstance(v.dims[1], int))
    turned = m.rng.randint(0, 1)
    w = m.weights(4, a.dims[1]) if turned else m.weights(a.dims[1], 4)
    m.add("Gemm", [a, w, m.weights(4)], [a.dims[0], 4], transB=turned, alpha=0.5)


def einsum(m):
    a = m.value(2, 3)
    letters = "abc"[:a.rank]
    what = m.rng.choice([f"{letters},{letters}->{letters[:-1]}",
                         f"{letters[:-1]}i,{letters[:-1]}j->{letters[:-1]}ij",
                         f"{letters}->{letters[::-1]}"])
    dims = {0: a.dims[:-1], 1: [*a.dims, a.dims[-1]], 2: a.dims[::-1]}
    kind = 2 if "," not in what else int("i" in what)
    m.add("Einsum", [a, a][:1 + ("," in what)], dims[kind], equation=what)


def image(m, axes):
    """[batch, 3, ...] with open sizes."""
    try:
        return m.value(2 + axes, 2 + axes, fits=lambda v: v.dims[1] == 3)
    except LookupError:
        if len(m.inputs) > 4:
            raise
        return m.use(m.input("f4", [m.dim(), 3, *[m.rng.choice([*SYMBOLS, 3])
                                                  for _ in range(axes)]]))


def window_of(m, axes, kernel):
    kind = m.rng.randrange(4)
    out = {"strides": [m.rng.choice([1, 1, 2]) for _ in range(axes)]}
    if kind == 0:
        out["auto_pad"] = m.rng.choice(["SAME_UPPER", "SAME_LOWER"])
    elif kind < 3:
        out["pads"] = [m.rng.randint(0, k - 1) for k in [*kernel, *kernel]]
    return out


def convolved(m):
    axes = m.rng.choice([1, 2, 2])
    a = image(m, axes)
    kernel = [m.rng.choice([1, 2, 3]) for _ in range(axes)]
    group = m.rng.choice([1, 1, 3])
    out = 3 * m.rng.choice([1, 2])
    more = window_of(m, axes, kernel)
    if "auto_pad" not in more and m.rng.random() < 0.3:
        more["dilations"] = [2] * axes
    bias = [m.weights(out)][:m.rng.randint(0, 1)]
    m.add("Conv", [a, m.weights(out, 3 // group, *kernel), *bias],
          [a.dims[0], out, *[None] * axes], group=group, kernel_shape=kernel, **more)


def convolved_back(m):
    axes = m.rng.choice([1, 2])
    a = image(m, axes)
    kernel = [m.rng.choice([1, 2, 3]) for _ in range(axes)]
    more = {"strides": [m.rng.choice([1, 2]) for _ in range(axes)]}
    if m.rng.random() < 0.4:
        more["pads"] = [m.rng.randint(0, 1) if k > 1 else 0 for k in [*kernel, *kernel]]
    m.add("ConvTranspose", [a, m.weights(3, 2, *kernel)], [a.dims[0], 2, *[None] * axes], **more)


def pooled(m):
    axes = m.rng.choice([1, 2, 2])
    a = image(m, axes)
    kernel = [m.rng.choice([1, 2, 3]) for _ in range(axes)]
    more = window_of(m, axes, kernel)
    if "auto_pad" not in more:
        more["ceil_mode"] = m.rng.randint(0, 1)
    op = m.rng.choice(["MaxPool", "AveragePool"])
    if op == "AveragePool":
        more["count_include_pad"] = m.rng.randint(0, 1)
    m.add(op, [a], [a.dims[0], 3, *[None] * axes], exact=op == "MaxPool", kernel_shape=kernel,
          **more)


def pooled_whole(m):
    a = m.value(3, 4)
    op = m.rng.choice(["GlobalAveragePool", "GlobalMaxPool"])
    m.add(op, [a], [*a.dims[:2], *[1] * (a.rank - 2)], exact=op == "GlobalMaxPool")


def resized(m):
    a = image(m, 2)
    mode = m.rng.choice(["nearest", "linear", "cubic"])
    more = {"mode": mode, "coordinate_transformation_mode": m.rng.choice(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}
    if mode == "nearest":
        more["nearest_mode"] = m.rng.choice(["floor", "round_prefer_floor", "ceil"])
    if m.rng.random() < 0.5:
        # ONNX Runtime rounds the size before it aligns corners, ONNX's own data does not.
        parts = [1, 2] if "align" in more["coordinate_transformation_mode"] else [1, 2, 0.5, 1.5]
        scales = m.constant("f4", [1, 1, m.rng.choice(parts), m.rng.choice([2, 1])])
        inputs = [a, "", scales]
    else:
        sizes = m.use(m.add("Shape", [a], [4], "i8"))
        inputs = [a, "", "", m.use(m.add("Mul", [sizes, m.ints(1, 1, 2, 1)], [4], "i8"))]
    m.add("Resize", inputs, [a.dims[0], 3, None, None], exact=mode == "nearest", **more)


# ---- recurrent layers and bodies ----

def recurrent(m):
    try:
        a = m.value(3, 3, fits=lambda v: v.dims[2] == 3)
    except LookupError:
        if len(m.inputs) > 4:
            raise
        a = m.use(m.input("f4", [m.dim(), m.dim(), 3]))
    op, gates = m.rng.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    way = m.rng.choice(["forward", "reverse", "bidirectional"])
    n = 2 if way == "bidirectional" else 1
    more = {"linear_before_reset": m.rng.randint(0, 1)} if op == "GRU" else {}
    inputs = [a, m.weights(n, gates * 2, 3), m.weights(n, gates * 2, 2)]
    if m.rng.random() < 0.6:
        inputs.append(m.weights(n, gates * 4))
    m.add(op, inputs, [a.dims[0], n, a.dims[1], 2], exact=False,
          more=[("f4", [n, a.dims[1], 2])], hidden_size=2, direction=way, **more)


def branched(m):
    """If on a size."""
    a = m.value(1)
    axis = m.rng.randrange(a.rank)
    flag = m.use(m.add("Equal", [m.use(m.size(a, axis)), m.ints(m.rng.choice([1, 2, 3]))], [1],
                       "?"))
    parts = [o.graph([o.node(op, [a.name] * n, [f"{op}_out"])], outputs={
        f"{op}_out": o.field(1, o.field(1, 1))})
             for op, n in m.rng.sample([("Neg", 1), ("Add", 2), ("Relu", 1)], 2)]
    m.add("If", [flag], a.dims, exact=a.exact, then_branch=parts[0], else_branch=parts[1])


def looped(m):
    """A loop with a turn for each index of an axis, which adds; rows are stacked where `scans`."""
    a = m.value(1)
    b = m.value(1)
    trips = m.use(m.add("Squeeze", [m.size(b, m.rng.randrange(b.rank))], [], "i8"))
    scans = m.rng.randint(0, 1) if None not in b.dims else 0  # data may be what ends it
    body = [o.node("Identity", "go", "stay"), o.node("Mul", "state half", "less"),
            o.node("Add", ["less", a.name], "next"), o.node("Relu", "next", "row")]
    kind = o.field(1, o.field(1, 1))
    graph = o.graph(body, {"i": o.i64(), "go": o.boolean(), "state": kind},
                    {"stay": o.boolean(), "next": kind, **({"row": kind} if scans else {})},
                    [o.tensor("half", "f4", [], struct.pack("<f", 0.5))])
    m.add("Loop", [trips, "", a], a.dims, exact=False,
          more=[("f4", [None, *a.dims])][:scans], body=graph)


def scanned(m):
    """Running sums along the first axis."""
    a = m.value(2, 3)
    start = m.use(m.add("ReduceMax", [a, m.ints(0)], a.dims[1:], keepdims=0))
    kind = o.field(1, o.field(1, 1))
    body = o.graph([o.node("Add", "state item", "next"), o.node("Neg", "next", "row")],
                   {"state": kind, "item": kind}, {"next": kind, "row": kind})
    back = m.rng.randint(0, 1)
    m.add("Scan", [start, a], a.dims[1:], more=[("f4", a.dims)], body=body, num_scan_inputs=1,
          scan_input_directions=[back], scan_output_directions=[m.rng.randint(0, 1)])


def sequenced(m):
    a = m.value(1, fits=lambda v: None not in v.dims)  # of as many items as data says there are none
    axis = m.rng.randrange(a.rank)
    parts = m.fresh()
    m.nodes.append(o.node("SplitToSequence", [a.name], [parts], axis=axis, keepdims=1))
    m.ops.append("SplitToSequence")
    m.add("ConcatFromSequence", [parts], a.dims, exact=a.exact, axis=axis)


# ---- quantized ----

def quantized(m):
    a = m.value(exact=True)
    scale, zero = m.constant("f4", 0.25), m.constant("u1", 128)
    q = m.use(m.add("QuantizeLinear", [a, scale, zero], a.dims, "u1"))
    m.add("DequantizeLinear", [q, scale, zero], a.dims)


def dynamic(m):
    a = m.value(1, exact=True)
    n = a.dims
    m.nodes.append(o.node("DynamicQuantizeLinear", [a.name], [y := m.fresh(), s := m.fresh(),
                                                              z := m.fresh()]))
    m.ops.append("DynamicQuantizeLinear")
    m.add("DequantizeLinear", [y, s, z], n, exact=False)


MAKERS = [smooth, smooth, plain, rounded, binary, binary, divided, modulo, powered, compared,
          logical, chosen, cast, clipped, prelu, halved, squeezed, unsqueezed, transposed,
          transposed, flattened, reshaped, reshaped, expanded, tiled, concatenated, sliced, sliced,
          cut_by_size, split, padded, filled, triangle, eye, depth, gathered, gathered_computed,
          scattered, nonzero, compressed, one_hot, top, extreme_at, unique, reduced, reduced,
          cumulated, softmaxed, normalized, instance, batch_norm, product, gram, gemm, einsum,
          convolved, convolved, convolved_back, pooled, pooled, pooled_whole, resized, recurrent,
          branched, looped, scanned, sequenced, quantized, dynamic]
