"""Random programs of PyTorch's operators, for tests that compare a compiler with eager mode."""
import copy, random

import torch

from torch_program_kinds import DtypeKinds, MemoryKinds, OrderKinds

DEVICE = "cpu"  # where inputs are
SIZES = (1, 2, 3, 4, 5)
WRITERS = ("of_update", "of_shared", "of_overlap")  # kinds that write to inputs


class Maker(MemoryKinds, DtypeKinds, OrderKinds):
    """A random program: `call` takes the tensors `inputs`; `text` says what it is.

    Its result is a tensor or several.  `writes`: it writes to its inputs.  `law`: what holds for a
    result that is random.  A program that is `wrong` has an index out of range, or operands whose
    sizes contradict, and eager mode decides whether that matters.
    """

    def __init__(self, seed, writes=True, wrong=False):
        self.r = random.Random(seed)
        self.inputs, self.writes, self.law = [], False, None
        torch.manual_seed(seed)
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("of_")]
        if not writes:
            kinds = [kind for kind in kinds if kind.__name__ not in WRITERS]
        self.based = self.r.random() < 0.75
        self.call, self.text = self.r.choice(kinds)()
        if wrong:
            self.spoil()

    def spoil(self):
        """Makes an index one that is out of range, or a tensor longer."""
        places = [i for i, x in enumerate(self.inputs) if x.numel() and x.dtype in (
            torch.int32, torch.int64)] if self.r.random() < 0.7 else []
        if DEVICE != "cpu":
            places = []  # a GPU ends the process
        if places:
            i = self.r.choice(places)
            x = self.inputs[i].clone(memory_format=torch.contiguous_format)
            x.view(-1)[self.r.randrange(x.numel())] = self.r.choice((6, 100, -100))
            what = f"an index of {tuple(x.shape)} is out of range"
        else:
            i = self.r.randrange(len(self.inputs))
            x = self.inputs[i]
            axis = self.r.randrange(x.dim()) if x.dim() else 0
            x = torch.cat([x, x], axis) if x.dim() else x.expand(2).clone()
            what = f"input {i} has shape {tuple(x.shape)}"
        self.inputs[i] = x
        self.text += f", {what}"

    def device(self):
        return DEVICE

    def copies(self):
        """The inputs as other tensors, which share memory where the inputs do, mostly as views of
        one tensor."""
        places = [x.untyped_storage().data_ptr() for x in self.inputs]
        if not self.based or len(set(places)) == len(places):
            return copy.deepcopy(self.inputs)
        bases = {place: x.new_empty(0).set_(x.untyped_storage()).clone()
                 for place, x in zip(places, self.inputs)}
        return [bases[place].as_strided(x.shape, x.stride(), x.storage_offset())
                if places.count(place) > 1 else copy.deepcopy(x)
                for place, x in zip(places, self.inputs)]

    # ---- operands ----

    def sizes(self, least=1, most=4):
        return [self.r.choice(SIZES) for _ in range(self.r.randint(least, most))]

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

    # ---- random numbers ----

    def draw(self, shape):
        """(a function of tensors that draws numbers of that shape, its name, what holds)."""
        like = self.add(torch.ones(shape))
        rates = self.add(torch.rand(shape))
        high = self.r.choice((2, 7, 1000, 1 << 40))
        name = self.r.choice(("rand", "randn_like", "randint", "bernoulli", "dropout", "normal",
                              "uniform_", "exponential_", "bernoulli_", "randint_like",
                              "randperm"))
        n = self.r.choice(SIZES)
        call = {
            "rand": lambda t: torch.rand(shape, device=t[like].device),
            "randn_like": lambda t: torch.randn_like(t[like]),
            "randint": lambda t: torch.randint(3, 3 + high, shape, device=t[like].device),
            "bernoulli": lambda t: torch.bernoulli(t[rates]),
            "dropout": lambda t: torch.nn.functional.dropout(t[like], 0.5),
            "normal": lambda t: torch.normal(t[rates], 0.5),
            "uniform_": lambda t: t[like].clone().uniform_(2, 3),
            "exponential_": lambda t: t[like].clone().exponential_(2.0),
            "bernoulli_": lambda t: t[like].clone().bernoulli_(0.25),
            "randint_like": lambda t: torch.randint_like(t[like].long(), 3, 3 + high),
            "randperm": lambda t: torch.randperm(n, device=t[like].device),
        }[name]
        law = {
            "rand": lambda x: (x >= 0) & (x < 1),
            "randint": lambda x: (x >= 3) & (x < 3 + high),
            "randint_like": lambda x: (x >= 3) & (x < 3 + high),
            "bernoulli": lambda x: (x == 0) | (x == 1),
            "bernoulli_": lambda x: (x == 0) | (x == 1),
            "dropout": lambda x: (x == 0) | (x == 2),
            "uniform_": lambda x: (x >= 2) & (x <= 3),
            "exponential_": lambda x: x > 0,
            "randperm": lambda x: x.sort()[0] == torch.arange(n, device=x.device),
        }.get(name, lambda x: x.isfinite())
        return call, name, law

    def of_random(self):
        call, name, self.law = self.draw(self.sizes(0, 3))
        return call, f"draw by {name}"

    def of_random_index(self):
        """Elements at places that are drawn."""
        x = self.values(self.sizes())
        n, dim = self.r.choice(SIZES), self.r.randrange(self.inputs[x].dim())
        size = self.inputs[x].shape[dim]
        self.law = lambda found: torch.isin(found, self.inputs[x].contiguous())
        if self.r.random() < 0.5:
            return lambda t: t[x].index_select(
                dim, torch.randint(size, (n,), device=t[x].device)), f"drawn rows {dim}"
        return lambda t: t[x].index_select(
            dim, torch.randperm(size, device=t[x].device)), f"rows in drawn order {dim}"

    # ---- views and updates ----

    def view(self, shape):
        """(a function that makes a view of a tensor of that shape, its text)."""
        dim = self.r.randrange(len(shape))
        n = shape[dim]
        low, step = self.r.randrange(n), self.r.choice((1, 1, 2))
        other = self.r.randrange(len(shape))
        name = self.r.choice(("narrow", "slice", "transpose", "select", "unsqueeze", "flat",
                              "diagonal", "whole", "strided", "detach", "split"))
        if name == "diagonal" and len(shape) < 2 or name == "select" and len(shape) < 2:
            name = "narrow"
        return {
            "narrow": lambda x: x.narrow(dim, low, n - low),
            "slice": lambda x: x[(slice(None),) * dim + (slice(low, None, step),)],
            "transpose": lambda x: x.transpose(dim, other),
            "select": lambda x: x.select(dim, low),
            "unsqueeze": lambda x: x.unsqueeze(dim),
            "flat": lambda x: x.view(-1) if x.is_contiguous() else x.mT if x.dim() > 1 else x,
            "diagonal": lambda x: x.diagonal(0, 0, 1),
            "whole": lambda x: x.view(x.shape),
            # AOTAutograd makes other tensors plain that are written at such places.
            "strided": lambda x: (x.as_strided((1, 2), (1, 1)) if x.numel() > 1
                                  and x.is_contiguous() else x.view(x.shape)),
            "detach": lambda x: x.detach(),
            "split": lambda x: x.split(1 + low, dim)[0],
        }[name], f"{name}({dim}, {low}, {step}, {other})"

    def update(self):
        """(a function that writes to a tensor of any shape, its text)."""
        number = self.r.randint(1, 5)
        name = self.r.choice(("add_", "mul_", "fill_", "zero_", "neg_", "row", "mask", "copy_",
                              "clamp_"))

        def row(x):
            if x.dim():
                x[0] = number

        return {
            "add_": lambda x: x.add_(number), "mul_": lambda x: x.mul_(number),
            "fill_": lambda x: x.fill_(number), "zero_": lambda x: x.zero_(),
            "neg_": lambda x: x.neg_(), "row": row,
            "mask": lambda x: x.masked_fill_(x > 0, number),
            "copy_": lambda x: x.copy_(x.flip(0) if x.dim() else x),
            "clamp_": lambda x: x.clamp_(-number, number),
        }[name], f"{name}({number})"

    def steps(self, shape):
        """Views of views, and writes to them."""
        made, texts, shapes = [], [], [torch.zeros(shape)]
        for _ in range(self.r.randint(1, 5)):
            of = self.r.randrange(len(shapes))
            if self.r.random() < 0.5 and shapes[of].dim():
                call, text = self.view(shapes[of].shape)
                try:
                    shapes.append(call(shapes[of]))
                except RuntimeError:
                    continue
                if not shapes[-1].numel():
                    shapes.pop()
                    continue
                made.append((of, call, True))
            else:
                call, text = self.update()
                made.append((of, call, False))
            texts.append(f"{of}.{text}")
        return made, texts

    def program_of_views(self, x, start, made):
        kept = self.r.sample(range(8), 3)

        def call(t):
            values = [start(t[x])]
            for of, step, views in made:
                found = step(values[of])
                if views:
                    values.append(found)
            return [values[i] for i in kept if i < len(values)] + [values[0] + 1]

        return call

    def of_update(self):
        """Writes to an input or a part of it, and results that are views of it."""
        x = self.values(self.sizes(1, 3))
        made, texts = self.steps(self.inputs[x].shape)
        self.writes = True
        return self.program_of_views(x, lambda value: value, made), f"in place {texts}"

    def of_views(self):
        """The same of a tensor of the program's own."""
        x = self.values(self.sizes(1, 3))
        made, texts = self.steps(self.inputs[x].shape)
        return self.program_of_views(x, lambda value: value * 2, made), f"views {texts}"

    def of_input_views(self):
        """Results that are inputs, or views of them."""
        x = self.values(self.sizes(1, 3))
        made, texts = self.steps(self.inputs[x].shape)
        made = [step for step in made if step[2]]
        return self.program_of_views(x, lambda value: value, made), f"views of inputs {texts}"

    def of_shared(self):
        """Inputs that share memory, one of which is written."""
        x = self.values(self.sizes(1, 2))
        call, text = self.view(self.inputs[x].shape)
        try:
            view = call(self.inputs[x])
        except RuntimeError:
            view = self.inputs[x]
        self.inputs.append(view)
        y, (write, told) = len(self.inputs) - 1, self.update()
        self.writes, to = True, self.r.choice((x, y))
        both = self.r.random() < 0.3

        def program(t):
            before = t[y] + 1
            write(t[to])
            if both:
                t[x].add_(1)
            return [before, t[x] * 2, t[y] - 1]

        return program, f"inputs {x} and {text}, {told} of {to}, {both}"
