#!/usr/bin/env python3
"""Random models of ONNX's with open sizes, run with 0, 1 and equal ones among them.

    random_sizes.py [--seed N] [--count N] [--device interp] [--onnxruntime] [--keep DIR]

Each model is made together with what NumPy says of it.  One executable runs all sizes in turn: it
gives the same shapes and values, or an error where NumPy has one.  --onnxruntime asks ONNX Runtime
as well, where it is installed, and says where it differs from NumPy.
"""
import argparse, os, pathlib, random, sys, tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path += [str(ROOT / "tests/support"), str(BUILD / "python")]
import onnx_text as o  # noqa: E402
from tally import check, report  # noqa: E402

import nereid  # noqa: E402

OPSET = 18


class Refused(Exception):
    """An operator that takes no such sizes."""


class Unclear(Exception):
    """What ONNX leaves open: nobody is asked."""


def need(holds):
    if not holds:
        raise Refused


# ---- what operators mean ----

def squeeze(x, axes=None):
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axes is None else axes
    need(all(-x.ndim <= a < x.ndim and x.shape[a] == 1 for a in axes))
    return np.squeeze(x, tuple(axes))


def reshape(x, sizes):
    sizes = [int(n) for n in sizes]
    for i, n in enumerate(sizes):
        if n == 0:
            need(i < x.ndim)
            sizes[i] = x.shape[i]
    rest = int(np.prod([n for n in sizes if n != -1], dtype=int))
    if -1 in sizes:
        if rest == 0:
            raise Unclear
        need(x.size % rest == 0)
    else:
        need(rest == x.size)
    return x.reshape(sizes)


def broadcast(f):
    def run(*x):
        need(all(hasattr(a, "shape") for a in x))
        try:
            np.broadcast_shapes(*[a.shape for a in x])
        except ValueError:
            raise Refused from None
        return f(*x)
    return run


def expand(x, sizes):
    try:
        shape = np.broadcast_shapes(x.shape, tuple(int(n) for n in sizes))
    except ValueError:
        raise Refused from None
    return np.broadcast_to(x, shape)


def concat(axis):
    def run(*x):
        need(all(a.ndim == x[0].ndim > axis for a in x))
        need(len({a.shape[:axis] + a.shape[axis + 1:] for a in x}) == 1)
        return np.concatenate(x, axis)
    return run


def matmul(a, b):
    need(a.ndim and b.ndim)
    try:
        return np.matmul(a, b)
    except ValueError:
        raise Refused from None


def on_axis(axis, f):
    def run(x):
        need(axis < x.ndim)
        return f(x, axis)
    return run


def cut(axis, start, end, step):
    def run(x):
        need(axis < x.ndim)
        stop = None if step < 0 and end < -1000 else end
        return x[(slice(None),) * axis + (slice(start, stop, step),)]
    return run


def take(axis, i):
    def run(x):
        need(axis < x.ndim and -x.shape[axis] <= i < x.shape[axis])
        return np.take(x, [i], axis)
    return run


def permute(perm):
    def run(x):
        need(x.ndim == len(perm))
        return x.transpose(perm)
    return run


def flatten(axis):
    def run(x):
        need(axis <= x.ndim)
        return x.reshape(int(np.prod(x.shape[:axis], dtype=int)), -1 if x.size else
                         int(np.prod(x.shape[axis:], dtype=int)))
    return run


def tile(times):
    def run(x):
        need(x.ndim == len(times))
        return np.tile(x, times)
    return run


def pad(pairs):
    def run(x):
        need(x.ndim == len(pairs))
        return np.pad(x, pairs)
    return run


def unsqueeze(axis):
    def run(x):
        need(axis <= x.ndim)
        return np.expand_dims(x, axis)
    return run


def size_of(axis):
    def run(x):
        if axis >= x.ndim:
            raise Unclear
        return np.array([x.shape[axis]], "i8")
    return run


# ---- random models ----

class Model:
    """Nodes as ONNX and as functions of NumPy's, in order."""

    def __init__(self, rng):
        self.rng, self.nodes, self.steps, self.initializers = rng, [], [], []
        self.ranks, self.used, self.names, self.types = {}, set(), 0, {}
        self.sizes = rng.sample("abcd", 3)
        for i in range(rng.randint(1, 3)):
            rank = rng.randint(1, 3)
            dims = [rng.choice([*self.sizes, *self.sizes, 1, 3]) for _ in range(rank)]
            self.types[f"x{i}"] = dims
            self.ranks[f"x{i}"] = rank
        for _ in range(rng.randint(2, 7)):
            try:
                rng.choice(MAKERS)(self)
            except LookupError:  # no value has so many axes
                pass
        self.outputs = [n for n in self.ranks if n not in self.used and n not in self.types]

    def fresh(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def value(self, least=0, most=4):
        """A value of a rank in the range, later ones rather."""
        fit = [n for n, rank in self.ranks.items() if least <= rank <= most]
        if not fit:
            raise LookupError
        name = fit[-1 - min(int(self.rng.expovariate(0.5)), len(fit) - 1)]
        self.used.add(name)
        return name

    def ints(self, *values):
        name = self.fresh("c")
        self.initializers.append(o.ints(name, *values))
        return name

    def add(self, op, inputs, f, rank, values=None, attributes=None):
        """A node: `values` are the inputs that NumPy's function takes, all by default."""
        name = self.fresh()
        self.nodes.append(o.node(op, inputs, [name], **(attributes or {})))
        self.steps.append((name, f, inputs if values is None else values))
        if rank is not None:
            self.ranks[name] = rank
        return name

    def shape_of(self, x):
        self.used.discard(x)  # whose own errors count only if somebody wants it
        return self.add("Shape", [x], lambda a: np.array(a.shape, "i8"), None)

    def size(self, x, axis):
        self.used.discard(x)
        return self.add("Shape", [x], size_of(axis), None, None, {"start": axis, "end": axis + 1})

    def run(self, inputs):
        values = dict(inputs)
        for name, f, needs in self.steps:
            values[name] = f(*[values[n] for n in needs])
        return [np.asarray(values[n]) for n in self.outputs]

    def onnx(self):
        types = {n: o.f32(*dims) for n, dims in self.types.items()}
        return o.model(self.nodes, types, {n: o.field(1, o.field(1, 1)) for n in self.outputs},
                       self.initializers, OPSET)


def pointwise(m):
    op, f = m.rng.choice([("Add", np.add), ("Mul", np.multiply), ("Max", np.maximum),
                          ("Sub", np.subtract)])
    a, b = m.value(), m.value()
    m.add(op, [a, b], broadcast(f), max(m.ranks[a], m.ranks[b]))


def unary(m):
    op, f = m.rng.choice([("Neg", np.negative), ("Relu", lambda a: np.maximum(a, 0)),
                          ("Abs", np.abs)])
    a = m.value()
    m.add(op, [a], f, m.ranks[a])


def choose(m):
    a, b = m.value(), m.value()
    zero = m.fresh("z")
    m.initializers.append(o.tensor(zero, "f4", [], bytes(4)))
    positive = m.add("Greater", [a, zero], lambda x: x > 0, None, [a])
    m.add("Where", [positive, b, a], broadcast(np.where), max(m.ranks[a], m.ranks[b]))


def squeezed(m):
    a = m.value(1)
    if m.rng.random() < 0.5:
        m.add("Squeeze", [a], squeeze, m.ranks[a])
        return
    axis = m.rng.randrange(m.ranks[a])
    m.add("Squeeze", [a, m.ints(axis)], lambda x: squeeze(x, [axis]), m.ranks[a] - 1, [a])


def unsqueezed(m):
    a = m.value(0, 3)
    axis = m.rng.randint(0, m.ranks[a])
    m.add("Unsqueeze", [a, m.ints(axis)], unsqueeze(axis), m.ranks[a] + 1, [a])


def expanded(m):
    a, b = m.value(), m.value()
    m.add("Expand", [a, m.shape_of(b)], expand, max(m.ranks[a], m.ranks[b]))


def reshaped(m):
    a, b = m.value(1), m.value(1)
    kind = m.rng.randrange(4)
    if kind == 0:
        m.add("Reshape", [a, m.shape_of(b)], reshape, m.ranks[b])
        return
    if kind == 1:
        sizes = [-1, m.rng.choice([1, 2, 3])]
        m.add("Reshape", [a, m.ints(*sizes)], lambda x: reshape(x, sizes), 2, [a])
        return
    if kind == 2:
        sizes = [0, -1]
        m.add("Reshape", [a, m.ints(*sizes)], lambda x: reshape(x, sizes), 2, [a])
        return
    axis = m.rng.randrange(m.ranks[a])
    size = m.add("Concat", [m.size(a, axis), m.ints(-1)], lambda n: [int(n[0]), -1], None,
                 [m.steps[-1][0]], {"axis": 0})
    m.add("Reshape", [a, size], reshape, 2)


def joined(m):
    a = m.value(1)
    same = [n for n, rank in m.ranks.items() if rank == m.ranks[a]]
    b = m.rng.choice(same)
    m.used.add(b)
    axis = m.rng.randrange(m.ranks[a])
    m.add("Concat", [a, b], concat(axis), m.ranks[a], None, {"axis": axis})


def sliced(m):
    a = m.value(1)
    axis, step = m.rng.randrange(m.ranks[a]), m.rng.choice([1, 1, 2, -1])
    start, end = m.rng.choice([0, 1, -2]), m.rng.choice([1, -1, 2**40])
    if step < 0:
        start, end = -1, -2**40
    m.add("Slice", [a, m.ints(start), m.ints(end), m.ints(axis), m.ints(step)],
          cut(axis, start, end, step), m.ranks[a], [a])


def gathered(m):
    a = m.value(1)
    axis, i = m.rng.randrange(m.ranks[a]), m.rng.choice([0, -1, 1])
    m.add("Gather", [a, m.ints(i)], take(axis, i), m.ranks[a], [a], {"axis": axis})


def reduced(m):
    a = m.value(1)
    axis, keep = m.rng.randrange(m.ranks[a]), m.rng.randint(0, 1)
    m.add("ReduceSum", [a, m.ints(axis)],
          on_axis(axis, lambda x, i: np.sum(x, i, keepdims=bool(keep), dtype="f4")),
          m.ranks[a] - (not keep), [a], {"keepdims": keep})


def summed(m):
    a = m.value(1)
    axis = m.rng.randrange(m.ranks[a])
    at = m.fresh("c")
    m.initializers.append(o.tensor(at, "i8", [], int.to_bytes(axis, 8, "little")))
    m.add("CumSum", [a, at], on_axis(axis, lambda x, i: np.cumsum(x, i, dtype="f4")), m.ranks[a],
          [a])


def product(m):
    a, b = m.value(1, 3), m.value(1, 3)
    ranks = m.ranks[a], m.ranks[b]
    rank = max(*ranks) if min(ranks) > 1 else max(ranks) - 1
    m.add("MatMul", [a, b], matmul, rank)


def transposed(m):
    a = m.value(2)
    perm = m.rng.sample(range(m.ranks[a]), m.ranks[a])
    m.add("Transpose", [a], permute(perm), m.ranks[a], None, {"perm": perm})


def flattened(m):
    a = m.value(1)
    axis = m.rng.randint(0, m.ranks[a])
    m.add("Flatten", [a], flatten(axis), 2, None, {"axis": axis})


def tiled(m):
    a = m.value(1)
    times = [m.rng.choice([1, 1, 2]) for _ in range(m.ranks[a])]
    m.add("Tile", [a, m.ints(*times)], tile(times), m.ranks[a], [a])


def padded(m):
    a = m.value(1)
    pairs = [(m.rng.randint(0, 1), m.rng.randint(0, 2)) for _ in range(m.ranks[a])]
    m.add("Pad", [a, m.ints(*[p[0] for p in pairs], *[p[1] for p in pairs])], pad(pairs),
          m.ranks[a], [a])


def filled(m):
    a = m.value()
    m.add("ConstantOfShape", [m.shape_of(a)],
          lambda n: np.zeros([int(i) for i in n], "f4"), m.ranks[a])


def branched(m):
    """If on a size: what is squeezed, or what is added."""
    a = m.value(1)
    axis, size = m.rng.randrange(m.ranks[a]), m.rng.choice([0, 1, 1, 2])
    at = m.ints(axis)
    flag = m.add("Equal", [m.size(a, axis), m.ints(size)], lambda n: np.array(n == size), None,
                 [m.steps[-1][0]])
    yes = o.node("Squeeze", [a, at], "y") if size == 1 else o.node("Add", [a, a], "y")
    parts = {"then_branch": o.graph([yes], outputs="y"),
             "else_branch": o.graph([o.node("Neg", [a], "n")], outputs="n")}

    def run(is_so, x):
        if not is_so[0]:
            return -x
        return squeeze(x, [axis]) if size == 1 else x + x
    m.add("If", [flag], run, m.ranks[a], [flag, a], parts)


def halved(m):
    """Two parts, of which the second may be smaller."""
    a = m.value(1)
    axis = m.rng.randrange(m.ranks[a])
    first, second = m.fresh(), m.fresh()

    def part(i):
        def run(x):
            need(axis < x.ndim)
            size = -(-x.shape[axis] // 2)
            return np.split(x, [size], axis)[i]
        return run
    m.nodes.append(o.node("Split", [a], [first, second], axis=axis, num_outputs=2))
    for i, name in enumerate((first, second)):
        m.steps.append((name, part(i), [a]))
        m.ranks[name] = m.ranks[a]


def softmax(x, axis):
    if not x.shape[axis]:
        return x
    e = np.exp(x - x.max(axis, keepdims=True))
    return (e / e.sum(axis, keepdims=True)).astype("f4")


def softmaxed(m):
    a = m.value(1)
    axis = m.rng.randrange(m.ranks[a])
    m.add("Softmax", [a], on_axis(axis, softmax), m.ranks[a], None, {"axis": axis})


def largest(m):
    a = m.value(1)
    axis = m.rng.randrange(m.ranks[a])

    def run(x, i):
        if not x.shape[i]:
            raise Unclear
        return x.max(i)
    m.add("ReduceMax", [a, m.ints(axis)], on_axis(axis, run), m.ranks[a] - 1, [a], {"keepdims": 0})


def counted(m):
    """0, 1, 2 ... up to a size, added along the last axis."""
    a = m.value(1)
    axis = m.rng.randrange(m.ranks[a])
    scalars = {"start": 0, "step": 1}
    names = {n: m.fresh("c") for n in scalars}
    for n, v in scalars.items():
        m.initializers.append(o.tensor(names[n], "i8", [], int.to_bytes(v, 8, "little")))
    end = m.add("Squeeze", [m.size(a, axis)], lambda n: n[0], None)
    counts = m.add("Range", [names["start"], end, names["step"]], np.arange, None, [end])
    floats = m.add("Cast", [counts], lambda n: n.astype("f4"), 1, None, {"to": 1})
    m.used.add(floats)
    m.add("Add", [a, floats], broadcast(np.add), m.ranks[a])


def convolved(m):
    """Along the last axis, with one weight for two neighbours."""
    a = m.value(3, 3)
    w = m.fresh("w")
    m.initializers.append(o.tensor(w, "f4", [1, 1, 2], np.array([1, 2], "f4").tobytes()))

    def run(x):
        need(x.ndim == 3 and x.shape[1] == 1)
        if x.shape[2] < 2 or not x.shape[0]:
            raise Unclear
        return x[:, :, :-1] + 2 * x[:, :, 1:]
    m.add("Conv", [a, w], run, 3, [a])


MAKERS = [halved, softmaxed, largest, counted, convolved, pointwise, pointwise, unary, choose,
          squeezed, squeezed, unsqueezed, expanded, expanded, reshaped, reshaped, joined, sliced,
          gathered, reduced, summed, product, transposed, flattened, tiled, padded, filled,
          branched]


# ---- runs ----

def draw_inputs(m, rng, sizes):
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    shapes = {n: [sizes.get(d, d) for d in dims] for n, dims in m.types.items()}
    return {n: numbers.integers(-3, 4, shape).astype("f4") for n, shape in shapes.items()}


def expected(m, inputs):
    """None: an error is due."""
    try:
        return m.run(inputs)
    except Refused:
        return None


def same(a, b):
    return a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-4)


def runtime_of(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return error


def ask_runtime(session, name, inputs, wanted):
    """Where ONNX Runtime differs from NumPy the case says nothing."""
    if isinstance(session, Exception):
        return wanted is None
    try:
        got = session.run(None, inputs)
    except Exception:
        got = None
    agree = (got is None) == (wanted is None) and (got is None or all(map(same, got, wanted)))
    if not agree:
        print(f"{name}: ONNX Runtime gives {got and [g.shape for g in got]}, NumPy "
              f"{wanted and [w.shape for w in wanted]}")
    return agree


def try_run(model, name, inputs, wanted):
    try:
        got = [np.asarray(y) for y in model.run(inputs)]
    except nereid.NereidError as error:
        check(wanted is None, f"{name}: {error}")
        return
    if wanted is None:
        check(False, f"{name}: shapes {[y.shape for y in got]} where an error is due")
        return
    check(len(got) == len(wanted) and all(map(same, got, wanted)),
          f"{name}: {[(y.shape, y.tolist()) for y in got]}, not "
          f"{[(y.shape, y.tolist()) for y in wanted]}")


def try_model(seed, path, args):
    rng = random.Random(seed)
    m = Model(rng)
    if not m.outputs:
        return
    path.write_bytes(m.onnx())
    runs = []
    for _ in range(5):
        sizes = {s: rng.choice([0, 1, 1, 2, 3, 3]) for s in m.sizes}
        inputs = draw_inputs(m, rng, sizes)
        try:
            runs.append((sizes, inputs, expected(m, inputs)))
        except Unclear:
            pass
    session = runtime_of(path) if args.onnxruntime else None
    if args.onnxruntime:
        runs = [r for r in runs if ask_runtime(session, f"seed {seed} {r[0]}", r[1], r[2])]
    try:
        model = nereid.load(str(path), device=args.device)
    except nereid.NereidError as error:
        check(all(wanted is None for _, _, wanted in runs), f"seed {seed}: {error}")
        return
    for sizes, inputs, wanted in runs:
        try_run(model, f"seed {seed} {sizes}", inputs, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--device", default="interp")
    parser.add_argument("--onnxruntime", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + args.count):
            name = args.keep / f"{seed}.onnx" if args.keep else pathlib.Path(folder, "m.onnx")
            try_model(seed, name, args)
    return report()


sys.exit(main())
