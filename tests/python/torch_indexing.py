#!/usr/bin/env python3
"""Random programs of indexing operators through torch.compile(backend="nereid") against eager
PyTorch: shapes, dtypes, strides and values.  With the argument cuda on a GPU.

    torch_indexing.py [cuda] [COUNT] [SEED]    COUNT programs, forty of them compiled at once
"""
import os, pathlib, random, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
import tally

try:
    import torch
except ImportError:
    torch = None

NUMBERS = [int(word) for word in sys.argv[1:] if word.isdigit()]
DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
COUNT, SEED = (NUMBERS + [120, 3][len(NUMBERS):])[:2]
BATCH = 40


class Maker:
    """A random program: `call` takes the tensors `inputs`; `text` says what it is."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.inputs = []
        torch.manual_seed(seed)
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("of_")]
        self.call, self.text = self.r.choice(kinds)()

    # ---- operands ----

    def sizes(self, least=1, most=4):
        return [self.r.choice((1, 2, 3, 4, 5)) for _ in range(self.r.randint(least, most))]

    def add(self, tensor):
        # PyTorch's fake tensors have wrong strides for indices that are not contiguous.
        mixed = tensor.dim() > 1 and tensor.dtype not in (torch.int32, torch.int64)
        if mixed and self.r.random() < 0.3:
            tensor = tensor.transpose(0, -1).contiguous().transpose(0, -1)
        self.inputs.append(tensor.to(DEVICE))
        return len(self.inputs) - 1

    def values(self, shape):
        """Whole numbers, whose sums are exact in any order."""
        dtype = self.r.choice((torch.float32, torch.float32, torch.int64, torch.float16))
        return self.add(torch.randint(-9, 10, shape).to(dtype))

    def like(self, of, shape):
        return self.add(torch.randint(-9, 10, shape).to(self.inputs[of].dtype))

    def index(self, shape, size, negative=True, dtype=None):
        dtype = dtype or self.r.choice((torch.int64, torch.int64, torch.int32))
        low = -size if negative else 0
        return self.add(torch.randint(low, size, shape).to(dtype))

    def mask(self, shape):
        return self.add(torch.rand(shape) < 0.5)

    def broadcast(self, shape):
        """A shape that can be broadcast to that one."""
        shape = [1 if self.r.random() < 0.25 else n for n in shape]
        return shape[self.r.choice((0, 0, len(shape) // 2)):]

    def indices(self, x, negative=True):
        """A list with None in any place, and the tensors of the others."""
        shape, wanted = self.inputs[x].shape, self.sizes(0, 2)
        count = self.r.randint(1, len(shape))
        places = [None if self.r.random() < 0.4 else
                  self.index(self.broadcast(wanted), shape[axis], negative)
                  for axis in range(count)]
        if all(place is None for place in places):
            places[self.r.randrange(count)] = self.index(wanted, min(shape), negative)
        return places

    @staticmethod
    def at(tensors, places):
        return [None if place is None else tensors[place] for place in places]

    # ---- operators ----

    def of_index(self):
        x = self.values(self.sizes())
        places = self.indices(x)
        return lambda t: torch.ops.aten.index.Tensor(t[x], self.at(t, places)), f"index {places}"

    def of_masked_index(self):
        x = self.values(self.sizes())
        places = self.indices(x)
        shape = torch.ops.aten.index.Tensor(self.inputs[x], self.at(self.inputs, places)).shape
        mask = self.mask(self.broadcast(shape))
        values = self.like(x, shape)
        if self.r.random() < 0.5:
            return lambda t: torch.ops.aten._unsafe_masked_index(
                t[x], t[mask], self.at(t, places), 7), f"_unsafe_masked_index {places}"
        return lambda t: torch.ops.aten._unsafe_masked_index_put_accumulate(
            t[x], t[mask], self.at(t, places), t[values]), f"its gradient {places}"

    def of_index_put(self):
        x = self.values(self.sizes())
        places = self.indices(x)
        shape = torch.ops.aten.index.Tensor(self.inputs[x], self.at(self.inputs, places)).shape
        adds = self.r.random() < 0.6
        # Elements that are written twice get the same value.
        values = self.like(x, self.broadcast(shape) if adds else [])
        return lambda t: torch.ops.aten.index_put(
            t[x], self.at(t, places), t[values], adds), f"index_put {places} {adds}"

    def subscript(self, x):
        """What is between brackets: numbers are tensors' places, as ("tensor", place)."""
        shape, wanted, items, axis = self.inputs[x].shape, self.sizes(1, 2), [], 0
        ellipsis = self.r.random() < 0.3
        while axis < len(shape):
            kind = self.r.choice(("slice", "number", "tensor", "none", "none" if ellipsis else
                                  "slice", "tensor"))
            if kind == "none":
                items.append(None)
                if len(items) > 6:
                    break
                continue
            size = shape[axis]
            if kind == "slice":
                low, step = self.r.randint(-size, size), self.r.choice((1, 1, 2))
                items.append(slice(self.r.choice((None, low)), self.r.choice((None, size)), step))
            elif kind == "number":
                items.append(self.r.randrange(-size, size))
            else:
                items.append(("tensor", self.index(self.broadcast(wanted), size)))
            axis += 1
            if self.r.random() < 0.2:
                break
        if ellipsis and axis < len(shape):
            items.append(Ellipsis)
        return items

    @staticmethod
    def brackets(tensors, items):
        return tuple(tensors[item[1]] if isinstance(item, tuple) else item for item in items)

    def of_getitem(self):
        x = self.values(self.sizes())
        items = self.subscript(x)
        return lambda t: t[x][self.brackets(t, items)] + 1, f"x[{items}]"

    def of_setitem(self):
        x = self.values(self.sizes())
        items = self.subscript(x)
        shape = self.inputs[x][self.brackets(self.inputs, items)].shape
        plain = not any(isinstance(item, tuple) for item in items)
        value = self.like(x, self.broadcast(shape) if plain else [])

        def call(t):
            y = t[x].clone()
            y[self.brackets(t, items)] = t[value]
            return y

        return call, f"x[{items}] = y"

    def of_axis(self):
        x = self.values(self.sizes())
        shape = self.inputs[x].shape
        dim = self.r.randrange(-len(shape), len(shape))
        size, n = shape[dim], self.r.randint(1, 4)
        rows = list(shape)
        rows[dim] = n
        i, source = self.index([n], size, False), self.like(x, rows)
        order = self.add(torch.randperm(size))
        whole = self.like(x, shape)
        name = self.r.choice(("select", "add", "copy", "fill", "along"))
        return {
            "select": lambda t: t[x].index_select(dim, t[i]),
            "add": lambda t: t[x].index_add(dim, t[i], t[source], alpha=2),
            "copy": lambda t: t[x].index_copy(dim, t[order], t[whole]),
            "fill": lambda t: t[x].index_fill(dim, t[i].long(), 5),
            "along": lambda t: torch.take_along_dim(t[x], t[order].view(
                [-1 if k == dim % len(shape) else 1 for k in range(len(shape))]), dim),
        }[name], f"index_{name} {dim}"

    def of_gather(self):
        x = self.values(self.sizes())
        shape = self.inputs[x].shape
        dim = self.r.randrange(-len(shape), len(shape))
        rows = [self.r.randint(1, n) for n in shape]
        rows[dim] = self.r.randint(1, shape[dim])
        i = self.index(rows, shape[dim], False, torch.int64)
        source, one = self.like(x, rows), self.r.randint(1, 5)
        name = self.r.choice(("gather", "scatter", "scatter_add", "amax", "take", "put"))
        flat = self.index(self.sizes(0, 2), self.inputs[x].numel(), True, torch.int64)
        added = self.like(x, self.inputs[flat].shape)
        return {
            "gather": lambda t: t[x].gather(dim, t[i]),
            "scatter": lambda t: t[x].scatter(dim, t[i], one),
            "scatter_add": lambda t: t[x].scatter_add(dim, t[i], t[source]),
            "amax": lambda t: t[x].scatter_reduce(dim, t[i], t[source], "amax"),
            "take": lambda t: t[x].take(t[flat]),
            "put": lambda t: t[x].put(t[flat], t[added], accumulate=True),
        }[name], f"{name} {dim} {rows}"

    def of_masked(self):
        x = self.values(self.sizes())
        shape = self.inputs[x].shape
        mask = self.mask(self.broadcast(shape))
        source, number = self.like(x, shape), self.like(x, [])
        name = self.r.choice(("fill", "fill_tensor", "scatter", "where"))
        return {
            "fill": lambda t: t[x].masked_fill(t[mask], 3),
            "fill_tensor": lambda t: t[x].masked_fill(t[mask], t[number]),
            "scatter": lambda t: t[x].masked_scatter(t[mask], t[source]),
            "where": lambda t: torch.where(t[mask], t[x], t[number]),
        }[name], f"masked_{name}"

    def of_part(self):
        x = self.values(self.sizes(2, 4))
        shape = self.inputs[x].shape
        dim = self.r.randrange(-len(shape), len(shape))
        at = self.r.randrange(-shape[dim], shape[dim])
        low, step = self.r.randint(0, shape[dim] - 1), self.r.choice((1, 2))
        inner = [n for k, n in enumerate(shape) if k != dim % len(shape)]
        rows = list(shape)
        rows[dim] = len(range(low, shape[dim], step))
        one, some = self.like(x, inner), self.like(x, rows)
        diagonal = self.like(x, torch.diagonal(self.inputs[x], 0, 0, 1).shape)
        name = self.r.choice(("select", "slice", "diagonal"))
        return {
            "select": lambda t: t[x].select_scatter(t[one], dim, at),
            "slice": lambda t: t[x].slice_scatter(t[some], dim, low, None, step),
            "diagonal": lambda t: t[x].diagonal_scatter(t[diagonal], 0, 0, 1),
        }[name], f"{name}_scatter {dim} {at} {low} {step}"

    def of_counted(self):
        """A size that data decides: a mask among the indices."""
        x = self.values(self.sizes(1, 3))
        shape = self.inputs[x].shape
        first = self.r.randint(0, len(shape) - 1)
        count = self.r.randint(1, len(shape) - first)
        mask = self.mask(shape[first:first + count])
        places = [None] * first + [mask]
        name = self.r.choice(("index", "masked_select", "nonzero"))
        return {
            "index": lambda t: torch.ops.aten.index.Tensor(t[x], self.at(t, places)),
            "masked_select": lambda t: t[x].masked_select(t[mask].view(
                [1] * first + list(t[mask].shape) + [1] * (len(shape) - first - count))),
            "nonzero": lambda t: t[mask].nonzero(),
        }[name], f"{name} of a mask {places}"


def difference(got, want):
    for what in ("shape", "dtype"):
        if getattr(got, what) != getattr(want, what):
            return f"{what} {getattr(got, what)}, not {getattr(want, what)}"
    steps = [[step for step, n in zip(x.stride(), x.shape) if n > 1] for x in (got, want)]
    if steps[0] != steps[1] and want.numel():
        return f"strides {got.stride()}, not {want.stride()}"
    return None if torch.equal(got, want) else f"{got}, not {want}"


def check_batch(first):
    made = [Maker(SEED * 1000003 + i) for i in range(first, min(first + BATCH, COUNT))]

    def every(inputs):
        return [program.call(tensors) for program, tensors in zip(made, inputs)]

    torch._dynamo.reset()
    inputs = [program.inputs for program in made]
    kept = [[tensor.clone() for tensor in tensors] for tensors in inputs]
    wanted = every(inputs)
    got = torch.compile(every, backend="nereid", fullgraph=True, dynamic=False)(inputs)
    for i, (program, a, b) in enumerate(zip(made, got, wanted)):
        problem = difference(a, b)
        shapes = [tuple(tensor.shape) for tensor in program.inputs]
        tally.check(problem is None, f"{first + i}: {program.text} of {shapes}: {problem}")
    same = all(torch.equal(a, b) for x, y in zip(inputs, kept) for a, b in zip(x, y))
    tally.check(same, f"{first}: inputs are as they were")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    for first in range(0, COUNT, BATCH):
        check_batch(first)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
