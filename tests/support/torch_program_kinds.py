"""Kinds of random programs for torch_programs.Maker: memory that arguments share, results in given
tensors, sizes of 0, mixed dtypes, masks, places that occur twice, ties and counts of data."""
import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# As Maker's sizes, and 0.
SIZES_WITH_ZERO = (0, 1, 2, 3, 4, 5)


class MemoryKinds:
    """Programs about memory: views, arguments that share it, and tensors that are given for
    results."""

    def of_overlap(self):
        """Arguments that are overlapping parts of one tensor, which need not be one."""
        n, dtype = self.r.randint(6, 12), self.r.choice((torch.float32, torch.int64))
        base = torch.randint(-9, 10, (n,)).to(dtype).to(self.device())
        size = self.r.randint(2, 5)
        starts = [self.r.randint(0, n - size) for _ in range(self.r.randint(2, 3))]
        parts, overlaps = [base[start:start + size] for start in starts], None
        if self.r.random() < 0.3:
            parts[-1] = base.as_strided((2, 2), (1, self.r.randint(1, 2)), self.r.randint(0, 2))
            overlaps = len(parts) - 1
        if self.r.random() < 0.4:
            parts.append(base)
        places = [len(self.inputs) + i for i in range(len(parts))]
        self.inputs += parts
        writes = [(self.r.choice(places[:2]), *self.update())
                  for _ in range(self.r.randint(0, 2))]
        # AOTAutograd writes the other rows of a tensor that overlaps itself, too.
        if overlaps is not None:
            writes = [write for write in writes if write[0] != places[overlaps]
                      or not write[2].startswith("row")]
        self.writes = bool(writes)

        def call(t):
            found = [t[place] + 1 for place in places]
            for place, write, _ in writes:
                write(t[place])
                found.append(t[places[-1]] * 2)
            return [*found, t[places[0]].reshape(-1)[:2] - t[places[1]].reshape(-1)[:2]]

        told = [(place, text) for place, _, text in writes]
        return call, f"parts of {n} at {starts}, {told}"

    def of_given(self):
        """Results in a tensor that is given: of the right size and dtype or of another, or a view.
        Dynamo takes none of another size."""
        shape = self.sizes(1, 3)
        x, y = self.values(shape), None
        y = self.like(x, self.broadcast(shape))
        dtype = self.inputs[x].dtype
        form = self.r.choice(("right", "double", "row", "input"))
        place = None
        if form == "input":
            place = self.add(torch.zeros(shape, dtype=dtype))
            self.writes = True
        axis = self.r.randrange(len(shape))
        name = self.r.choice(("add", "mul", "cumsum", "index_select", "cat", "maximum", "sum"))
        given = {
            "right": lambda t, want: torch.empty_like(want),
            "double": lambda t, want: want.new_empty(want.shape, dtype=torch.float64),
            "row": lambda t, want: want.new_zeros([3] + list(want.shape))[1],
            "input": lambda t, want: t[place],
        }[form]
        operation = {
            "add": lambda t, **out: torch.add(t[x], t[y], **out),
            "mul": lambda t, **out: torch.mul(t[x], t[y], **out),
            "maximum": lambda t, **out: torch.maximum(t[x], t[y], **out),
            "cumsum": lambda t, **out: torch.cumsum(t[x], axis, dtype=dtype, **out),
            "index_select": lambda t, **out: torch.index_select(
                t[x], axis, torch.arange(t[x].shape[axis], device=t[x].device).flip(0), **out),
            "cat": lambda t, **out: torch.cat([t[x][..., :1], t[x][..., 1:]], -1, **out),
            "sum": lambda t, **out: torch.sum(t[x], (axis,), True, dtype=dtype, **out),
        }[name]
        if name == "sum" and form == "input":
            name, operation = "neg", lambda t, **out: torch.neg(t[x], **out)

        def call(t):
            if form == "input" and t[place].requires_grad:
                return [operation(t)]
            source = [v.detach() for v in t]
            out = given(source, operation(source))
            found = operation(source, out=out)
            return [found * 1, out + 1]

        return call, f"{name} into {form} of axis {axis}"

    def of_windows(self):
        """Views whose elements share memory: expanded, unfolded and strided ones."""
        shape = self.sizes(1, 3)
        x = self.values(shape)
        axis = self.r.randrange(len(shape))
        size = self.r.randint(1, shape[axis])
        step, more = self.r.randint(1, 2), self.r.randint(1, 3)
        numel = self.inputs[x].numel()
        inner = self.r.randint(1, numel)
        outer, offset = self.r.randint(1, 3), self.r.randint(0, numel - inner)
        name = self.r.choice(("unfold", "expand", "strided", "strided_scatter", "movedim",
                              "diagonal"))
        stride = self.r.choice((0, 1))
        if offset + (outer - 1) * stride + inner > numel:
            offset, stride = 0, 0
        source, edge = self.like(x, [inner]), self.r.randint(-2, 2)
        view = {
            "unfold": lambda v: v.unfold(axis, size, step),
            "expand": lambda v: v.unsqueeze(axis).expand(
                *v.shape[:axis], more, *v.shape[axis:]),
            "strided": lambda v: v.contiguous().as_strided((outer, inner), (stride, 1), offset),
            "strided_scatter": lambda v: v.contiguous().as_strided_scatter(
                v.new_ones(inner), (inner,), (1,), offset),
            "movedim": lambda v: v.movedim(axis, 0).unflatten(0, (-1, 1)),
            "diagonal": lambda v: v.diag_embed(edge, 0, -1),
        }[name]
        end = self.r.choice(("sum", "copy", "add", "view"))

        def call(t):
            v = view(t[x] * 1)
            return {"sum": lambda: v.sum(0), "copy": lambda: v.clone(), "view": lambda: v,
                    "add": lambda: v + t[source].sum()}[end]()

        return call, f"{name} {axis} {size} {step} {more} {outer} {inner} {stride} {offset}, {end}"


class DtypeKinds:
    """Programs about dtypes: operands of several, numbers, regions of autocast."""

    def in_dtype(self, dtype, shape):
        low = 0 if dtype == torch.uint8 else -5
        if dtype == torch.bool:
            return self.add(torch.rand(shape) < 0.5)
        return self.add(torch.randint(low, 6, shape).to(dtype))

    def of_mixture(self):
        """Two operands of any dtypes, one of which may be a number or of rank 0."""
        shape = self.sizes(1, 3)
        kinds = [self.r.choice((torch.bool, *INTEGERS, *FLOATS)) for _ in range(2)]
        rank = self.r.choice(("same", "broadcast", "zero", "number"))
        x = self.in_dtype(kinds[0], shape)
        y = self.in_dtype(kinds[1], {"broadcast": self.broadcast(shape), "zero": []}.get(
            rank, shape))
        number = self.r.choice((2, 3, 2.5, -1, True, 1e3))
        other = (lambda t: number) if rank == "number" else lambda t: t[y]
        name = self.r.choice(("add", "sub", "mul", "div", "floor", "remainder", "maximum", "eq",
                              "lt", "and", "where", "add_", "mul_", "clamp", "shift", "copysign",
                              "rsub", "addcmul", "fmod", "atan"))
        call = {
            "add": lambda a, b: a + b, "mul": lambda a, b: a * b,
            # The gradient by b has roundings in between.
            "div": lambda a, b: a / (b.detach() if rank != "number" else b),
            "sub": lambda a, b: a - b, "floor": lambda a, b: a // (b * b + 1),
            "remainder": lambda a, b: a % (b * b + 1), "eq": lambda a, b: a == b,
            "fmod": lambda a, b: torch.fmod(a, b * b + 1),
            "maximum": lambda a, b: torch.maximum(a, torch.as_tensor(b, device=a.device)),
            "lt": lambda a, b: a < b, "and": lambda a, b: a & b,
            "where": lambda a, b: torch.where(a > 0, a, b),
            "add_": lambda a, b: (a * 1).add_(b), "mul_": lambda a, b: (a * 1).mul_(b),
            "clamp": lambda a, b: torch.clamp(a, b), "shift": lambda a, b: a << 2,
            "copysign": lambda a, b: torch.copysign(a, b), "rsub": lambda a, b: 1 - a * b,
            "addcmul": lambda a, b: torch.addcmul(a, a, a, value=2),
            "atan": lambda a, b: (a > b).to(a.dtype) + b,
        }[name]
        return lambda t: call(t[x], other(t)), f"{name} of {kinds}, {rank} {number}"

    def of_casts(self):
        """Chains of casts, and reductions with a dtype."""
        shape = self.sizes(1, 3)
        kinds = [self.r.choice((torch.bool, *INTEGERS, *FLOATS)) for _ in range(3)]
        x = self.in_dtype(kinds[0], shape)
        axis = self.r.randrange(len(shape))
        name = self.r.choice(("sum", "prod", "cumsum", "mean", "amax", "any", "plain", "view",
                              "argmax", "count"))
        end = {
            "sum": lambda v: v.sum(axis), "prod": lambda v: v.clamp(0, 1).prod(axis),
            "cumsum": lambda v: v.cumsum(axis, dtype=kinds[2] if kinds[2] != torch.bool
                                         else torch.int64),
            "mean": lambda v: v.double().mean(axis, dtype=torch.float64),
            "amax": lambda v: v.amax(axis), "any": lambda v: v.any(axis),
            "plain": lambda v: v.to(kinds[2]), "view": lambda v: v.view(torch.uint8),
            "argmax": lambda v: v.int().argmax(axis),
            "count": lambda v: torch.count_nonzero(v, axis),
        }[name]
        return lambda t: end(t[x].to(kinds[1])), f"{name} {axis} of {kinds}"

    def of_autocast(self):
        """A region of autocast: products, sums, and operators of either list."""
        m, n, k = (self.r.choice((1, 2, 3, 4)) for _ in range(3))
        dtype = self.r.choice((torch.bfloat16, torch.float16))
        kinds = [self.r.choice((torch.float32, dtype)) for _ in range(2)]
        x = self.add(torch.randint(-4, 5, (m, k)).to(kinds[0]))
        y = self.add(torch.randint(-4, 5, (k, n)).to(kinds[1]))
        name = self.r.choice(("mm", "linear", "cat", "sum", "stack", "bmm", "add", "nested",
                              "disabled", "cumsum"))
        device = torch.device(self.device()).type

        def call(t):
            a, b = t[x], t[y]
            with torch.autocast(device, dtype=dtype):
                p = a @ b.to(a.dtype) if name != "mm" else torch.mm(a, b)
                if name == "linear":
                    p = torch.nn.functional.linear(a, b.t())
                elif name == "cat":
                    p = torch.cat([p, p.float()])
                elif name == "stack":
                    p = torch.stack([p, p.float()])
                elif name == "sum":
                    p = p.sum()
                elif name == "bmm":
                    p = torch.bmm(a[None], b[None])
                elif name == "add":
                    p = p + a.sum(1, True)
                elif name == "cumsum":
                    p = p.cumsum(0)
                elif name in ("nested", "disabled"):
                    with torch.autocast(device, enabled=name == "nested", dtype=dtype):
                        p = p + a.float() @ b.float()
            return [p, p + a.sum()]

        return call, f"autocast {dtype} {name} of {kinds}, {m} {n} {k}"


class OrderKinds:
    """Programs about order and counts: masks, repeated places, ties, tensors with no element."""

    def of_mask_writes(self):
        """Boolean masks that choose what is written."""
        x = self.values(self.sizes(1, 3))
        shape = self.inputs[x].shape
        count = self.r.randint(1, len(shape))
        mask, one = self.mask(shape[:count]), self.like(x, [])
        row = self.like(x, shape[count:])
        axis = self.r.randrange(len(shape))
        number = self.r.randint(-4, 4)
        line = self.mask([shape[axis]])
        name = self.r.choice(("fill", "tensor", "add", "row", "line", "where", "not", "both",
                              "sum"))

        def call(t):
            v, m = t[x].clone(), t[mask]
            if name in ("fill", "tensor", "row"):
                v[m] = {"fill": number, "tensor": t[one], "row": t[row]}[name]
            elif name == "add":
                v[m] += number
            elif name == "line":
                v[(slice(None),) * axis + (t[line],)] = number
            elif name == "where":
                return list(torch.where(m))
            elif name == "not":
                v[~m] = v[m].sum().to(v.dtype)
            elif name == "both":
                v[m & (m == m)] *= 2
            else:
                return v[m].sum(0)
            return v

        return call, f"mask {name} {number} of {count} axes, {axis}"

    def of_repeated(self):
        """Places that occur more than once, and every way to put their values together."""
        x = self.values(self.sizes(1, 3))
        shape = list(self.inputs[x].shape)
        axis = self.r.randrange(len(shape))
        rows = list(shape)
        rows[axis] = self.r.randint(1, 7)
        i = self.index(rows, shape[axis], False, torch.int64)
        line = self.index([rows[axis]], shape[axis], False, torch.int64)
        source, own = self.like(x, rows), self.r.random() < 0.5
        way = self.r.choice(("sum", "prod", "amax", "amin", "mean"))
        name = self.r.choice(("scatter_reduce", "index_reduce", "put", "scatter_", "add_", "bins"))
        if way == "prod":
            self.inputs[source] = self.inputs[source].clamp(-1, 2)
        if name == "index_reduce" and way == "sum":
            way = "amax"
        places = [slice(None)] * axis

        def call(t):
            v = t[x] * 1
            if name == "scatter_reduce":
                return v.scatter_reduce(axis, t[i], t[source], way, include_self=own)
            if name == "index_reduce":
                return v.index_reduce(axis, t[line], t[source], way, include_self=own)
            if name == "put":
                return torch.ops.aten.index_put(v, [None] * axis + [t[line]], v.new_ones(()), True)
            if name == "scatter_":
                return v.scatter_(axis, t[i], 3)
            if name == "bins":
                return torch.bincount(t[line], minlength=3)
            v[(*places, t[line])] += 2
            return v

        return call, f"{name} {way} {axis} {rows} {own}"

    def of_ties(self):
        """Elements that are equal: values in order, and places that lead to them."""
        shape = self.sizes(1, 3)
        dtype = self.r.choice((torch.float32, torch.int64, torch.int32, torch.float16))
        x = self.add(torch.randint(-2, 3, shape).to(dtype))
        axis, down = self.r.randrange(len(shape)), self.r.random() < 0.5
        k = self.r.randint(1, shape[axis])
        bounds = self.add(torch.randint(-2, 3, (4,)).sort()[0].to(dtype))
        name = self.r.choice(("sort", "stable", "topk", "kth", "max", "min", "argmax", "median",
                              "cummax", "search", "msort", "argsort", "aminmax"))

        def led(v, found):
            """Values, and what is at their places: which of equal ones is left open, so that a
            gradient says nothing."""
            return [found[0].detach(), v.detach().gather(axis, found[1])]

        call = {
            "sort": lambda v, b: led(v, v.sort(axis, down)),
            "stable": lambda v, b: list(torch.sort(v, dim=axis, descending=down, stable=True)),
            "argsort": lambda v, b: torch.argsort(v, dim=axis, descending=down, stable=True),
            "topk": lambda v, b: led(v, v.topk(k, axis, down)),
            "kth": lambda v, b: led(v, v.kthvalue(k, axis, True)),
            "max": lambda v, b: led(v, v.max(axis, True)),
            "min": lambda v, b: led(v, v.min(axis, True)),
            "argmax": lambda v, b: v.argmax(axis), "msort": lambda v, b: torch.msort(v),
            "median": lambda v, b: led(v, v.median(axis, True)),
            "cummax": lambda v, b: list(v.cummax(axis)),
            "search": lambda v, b: torch.searchsorted(b, v, right=down),
            "aminmax": lambda v, b: list(torch.aminmax(v, dim=axis)),
        }[name]
        return lambda t: call(t[x], t[bounds]), f"{name} {axis} {down} {k} of {dtype}"

    def of_unique(self):
        """Elements without their repetitions, and how many there were."""
        shape = self.sizes(1, 2)
        x = self.add(torch.randint(-2, 3, shape).to(self.r.choice((torch.float32, torch.int64))))
        inverse, counts = self.r.random() < 0.5, self.r.random() < 0.5
        name = self.r.choice(("unique", "consecutive", "sum", "rows"))

        def call(t):
            v = t[x].detach()
            if name == "consecutive":
                found = torch.unique_consecutive(v, return_inverse=inverse, return_counts=counts)
            elif name == "rows":
                found = torch.unique(v, True, inverse, counts, dim=0)
            else:
                found = torch.unique(v, True, inverse, counts)
            found = list(found) if isinstance(found, tuple) else [found]
            return [part.sum() for part in found] if name == "sum" else found

        return call, f"{name} {inverse} {counts} of {shape}"

    def of_nothing(self):
        """Tensors of which a size is 0."""
        shape = [self.r.choice(SIZES_WITH_ZERO) for _ in range(self.r.randint(1, 3))]
        axis = self.r.randrange(len(shape))
        shape[self.r.randrange(len(shape))] = 0
        x = self.values(shape)
        rows = [n for n in shape]
        rows[axis] = self.r.choice((0, 2))
        y = self.like(x, rows)
        i = self.index([self.r.choice((0, 0, 2))], max(1, shape[axis]), False, torch.int64)
        name = self.r.choice(("sum", "prod", "amax", "mean", "cat", "select", "cumsum", "sort",
                              "mm", "any", "view", "put", "topk", "argmax", "stack", "softmax",
                              "flip", "repeat", "pad", "norm"))
        return {
            "sum": lambda t: t[x].sum(axis), "prod": lambda t: t[x].prod(axis),
            "amax": lambda t: t[x].amax(axis), "mean": lambda t: t[x].float().mean(axis),
            "cat": lambda t: torch.cat([t[x], t[y], t[x]], axis),
            "select": lambda t: t[x].index_select(axis, t[i]),
            "cumsum": lambda t: t[x].cumsum(axis), "any": lambda t: (t[x] > 0).any(axis),
            "sort": lambda t: list(t[x].sort(axis)), "flip": lambda t: t[x].flip(axis),
            "mm": lambda t: t[x].float().flatten(1) @ t[x].float().flatten(1).t()
            if len(shape) > 1 else t[x].float() @ t[x].float(),
            "view": lambda t: t[x].reshape(-1) + 1,
            "put": lambda t: t[x].index_add(axis, t[i][:0], t[y].narrow(axis, 0, 0)),
            "topk": lambda t: list(t[x].topk(0, axis)), "argmax": lambda t: t[x].argmax(axis),
            "stack": lambda t: torch.stack([t[x], t[x]], axis),
            "softmax": lambda t: t[x].float().softmax(axis),
            "repeat": lambda t: t[x].repeat_interleave(2, axis),
            "pad": lambda t: torch.nn.functional.pad(t[x], (1, 1), value=3),
            "norm": lambda t: t[x].float().norm(dim=axis),
        }[name], f"{name} {axis} of {shape}"

    def of_scalars(self):
        """Tensors of rank 0, and operators that take them as tensors of one element."""
        x, y = self.values([]), self.values(self.sizes(0, 2))
        zero = self.add(torch.zeros((), dtype=torch.int64))
        name = self.r.choice(("gather", "scatter", "sort", "cumsum", "sum", "index", "select",
                              "mask", "expand", "add", "topk", "softmax", "fill", "stack",
                              "put", "max", "flip", "one"))
        return {
            "gather": lambda t: t[x].gather(0, t[zero]),
            "scatter": lambda t: t[x].scatter(0, t[zero], 3),
            "sort": lambda t: list(t[x].sort()), "cumsum": lambda t: t[x].cumsum(0),
            "sum": lambda t: t[x].sum(-1), "index": lambda t: t[y].reshape(-1)[t[zero]],
            "select": lambda t: t[x].index_select(0, t[zero]),
            "mask": lambda t: t[x][t[x] > 0], "expand": lambda t: t[x].expand(2, 3) * 2,
            "add": lambda t: t[y] + t[x], "topk": lambda t: list(t[x].topk(1)),
            "softmax": lambda t: t[x].float().softmax(0),
            "fill": lambda t: t[y].masked_fill(t[y] > 0, t[x].detach()),
            "stack": lambda t: torch.stack([t[x], t[x] + 1]), "flip": lambda t: t[x].flip([]),
            "put": lambda t: torch.where(t[x] > 0, t[x] * 0 - 1, t[x]),
            "max": lambda t: list(t[x].max(0)), "one": lambda t: t[x][None][t[zero]],
        }[name], f"{name} of rank 0 and {tuple(self.inputs[y].shape)}"
