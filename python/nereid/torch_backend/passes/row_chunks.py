"""Logits in chunks of rows: a loss and its gradients without the whole of them in memory.

A product [rows, words] that only a loss reads is larger than its operands and than its results:
cross_entropy(linear(x)) needs a number a row of it, and its gradients sum it up.  All nodes of that
size, and those between them, are row by row; they are computed once for each chunk of rows.  The
graph decides, not a name: soft caps, weights, smoothing and squared logarithms are such nodes, too.

A gradient is linear in that of the loss.  Where the loss is a number, the gradients are computed
for 1 in the forward pass, chunk by chunk as well, and multiplied in the backward pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch.utils.checkpoint import CheckpointPolicy

from nereid.torch_backend.base.log import log
from nereid.torch_backend.base.nodes import is_pointwise, is_tensor
from nereid.torch_backend.base.settings import Settings

aten, prims = torch.ops.aten, torch.ops.prims
_CHUNKS_MAX = 64
_ROUNDED_SUMS = 8  # as many chunks are added in the dtype of the result; more in float32
_ROWS = 128  # of which a chunk has a multiple
_SAME = {aten.alias.default, aten.detach.default, aten.clone.default}
_VIEWS = {aten.view.default, aten.reshape.default, aten._unsafe_view.default}
_REDUCTIONS = {aten.amax.default, aten.amin.default, aten.sum.dim_IntList, aten.mean.dim,
               aten.logsumexp.default, aten.argmax.default, aten.any.dim}
_AXES = {aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.gather.default,
         aten.scatter.value, aten.scatter.src, aten.scatter_add.default}


class _Unfit(Exception):
    """The nodes are not row by row."""


def _value(node):
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def _is_product(node) -> bool:
    return node.target in (aten.mm.default, aten.addmm.default)


def _factors(node) -> tuple:
    return node.args[-2:] if node.target is aten.addmm.default else node.args[:2]


def _is_fixed(value) -> bool:
    """Are all sizes numbers?  Others would be guarded where they are compared."""
    return all(isinstance(size, int) for size in value.shape)


def _is_one(size) -> bool:
    return isinstance(size, int) and size == 1


def _row_axes(value, rows: int, tail: int | None = None) -> int | None:
    """How many first axes the rows are; None: the tensor has no such rows."""
    count = 1
    if not _is_fixed(value):
        return None
    for axis, size in enumerate(value.shape):
        count *= size
        if count == rows and (tail is None or math.prod(value.shape[axis + 1:]) == tail):
            return axis + 1
        if count > rows:
            return None
    return None


def _reached(starts, near) -> set:
    """All nodes that lead from the starts, themselves included."""
    found, waiting = set(starts), list(starts)
    while waiting:
        for node in near(waiting.pop()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def _users(node):
    return [user for user in node.users if user.op == "call_function"]


def _operands(node):
    return node.all_input_nodes


@dataclass
class _Region:
    """Nodes that are computed chunk by chunk."""

    product: torch.fx.Node
    rows: int
    words: int
    nodes: list = field(default_factory=list)  # in the graph's order, those of `sums` among them
    axes: dict = field(default_factory=dict)  # {node: how many of its first axes are rows}
    turned: dict = field(default_factory=dict)  # transposes of row tensors, by what they are of
    sums: list = field(default_factory=list)  # results that are sums over rows
    leaves: set = field(default_factory=set)  # row tensors from outside
    whole: set = field(default_factory=set)  # what each chunk reads as it is

    # ---- which nodes ----

    def is_big(self, node) -> bool:
        value = _value(node)
        return (node.op == "call_function" and is_tensor(value) and _is_fixed(value)
                and value.numel() == self.rows * self.words
                and _row_axes(value, self.rows, self.words) is not None)

    def _big(self) -> set:
        """Those of the product's size that depend on each other."""
        found = {self.product}
        while True:
            inside = self._between(found)
            more = {near for node in inside for near in (*_users(node), *_operands(node))
                    if self.is_big(near)} - found
            if not more:
                return inside
            found |= more

    @staticmethod
    def _between(big: set) -> set:
        return _reached(big, _users) & _reached(big, _operands)

    def find(self) -> None:
        """Raises _Unfit if something is not row by row."""
        inside = self._big()
        for node in self.product.graph.nodes:
            if node in inside:
                self._take(node)
            elif any(operand in self.axes and self.is_big(operand) or operand in self.turned
                     for operand in _operands(node)):
                self._take_result(node)
        for node in self.nodes:
            if self.is_big(node) and any(user not in self.axes and user not in self.turned
                                         and user not in self.sums for user in node.users):
                raise _Unfit("something else reads the logits")
        if any(user not in self.sums for node in self.turned for user in node.users):
            raise _Unfit("something else reads transposed logits")
        if self.leaves & self.whole:
            raise _Unfit("an operand has rows for one node, and none for another")

    def _take(self, node) -> None:
        self.axes[node] = self._rule(node)
        self.nodes.append(node)

    def _take_result(self, node) -> None:
        """A node outside that reads a large one."""
        if node.op != "call_function":
            raise _Unfit("the graph returns the logits")
        if node.target is aten.permute.default and list(node.args[1]) == [1, 0]:
            self.turned[node] = node.args[0]
            return
        if self._is_sum(node):
            self.sums.append(node)
            self.nodes.append(node)
            return
        self._take(node)
        if self.is_big(node):
            raise _Unfit("another tensor of that size")

    # ---- rules: the number of axes that are rows ----

    def _given(self, node) -> int | None:
        """Of an operand that has rows: one of the region, or a leaf."""
        if node in self.axes:
            return self.axes[node]
        if node in self.turned or not is_tensor(_value(node)):
            return None
        return _row_axes(_value(node), self.rows)

    def _leaf(self, node, axes: int) -> None:
        if self._given(node) != axes:
            raise _Unfit(f"an operand {node} without the rows")
        if node not in self.axes:
            self.leaves.add(node)

    def _rule(self, node) -> int:
        value, target = _value(node), node.target
        axes = _row_axes(value, self.rows) if is_tensor(value) else None
        if axes is None:
            raise _Unfit(f"{node.target} mixes rows")
        if target in _VIEWS:
            return self._view_rule(node, axes)
        if _is_product(node):
            return self._product_rule(node)
        first = node.args[0] if node.args else None
        if target is aten.full.default:
            return axes
        if target is aten.expand.default:
            return self._expand_rule(node, axes)
        if target in _SAME:
            self._leaf(first, axes)
            return axes
        if target in _REDUCTIONS or target in _AXES:
            return self._axis_rule(node)
        if is_pointwise(node):
            return self._pointwise_rule(node)
        raise _Unfit(f"{target} is not row by row")

    def _view_rule(self, node, axes: int) -> int:
        of = self._given(node.args[0])
        if of is None:
            raise _Unfit("a view of something without rows")
        self._leaf(node.args[0], of)
        return axes

    def _product_rule(self, node) -> int:
        left, right = _factors(node)
        self._leaf(left, 1)
        if right in self.axes or right in self.turned:
            raise _Unfit("a product of two row tensors")
        if node.target is aten.addmm.default and (node.args[0] in self.axes or node.kwargs
                                                  or _value(node.args[0]).dim() != 1):
            raise _Unfit("a sum with a product")
        self.whole.update(operand for operand in _operands(node) if operand is not left)
        return 1

    def _expand_rule(self, node, axes: int) -> int:
        value = _value(node.args[0])
        missing = _value(node).dim() - value.dim()
        if all(_is_one(size) for size in value.shape[:max(axes - missing, 0)]):
            if node.args[0] in self.axes:
                raise _Unfit("rows become one")
            self.whole.add(node.args[0])
            return axes
        if missing:
            raise _Unfit("rows move")
        self._leaf(node.args[0], axes)
        return axes

    def _axis_rule(self, node) -> int:
        of, dims = self._given(node.args[0]), node.args[1]
        if of is None:
            raise _Unfit("a reduction of something without rows")
        self._leaf(node.args[0], of)
        count = _value(node.args[0]).dim() + (node.target is aten.unsqueeze.default)
        for dim in dims if isinstance(dims, (list, tuple)) else (dims,):
            if dim is None or dim % count < of:
                raise _Unfit("a reduction over rows")
        for operand in node.args[2:]:
            if isinstance(operand, torch.fx.Node) and is_tensor(_value(operand)):
                self._leaf(operand, of)
        return of

    def _pointwise_rule(self, node) -> int:
        """Operands have the result's rows in the same axes, or one element there."""
        value = _value(node)
        found = [self.axes[operand] for operand in _operands(node) if operand in self.axes]
        axes = found[0] if found else _row_axes(value, self.rows)
        for operand in _operands(node):
            of = _value(operand)
            if operand in self.turned or not is_tensor(of):
                raise _Unfit(f"an operand {operand} of another form")
            missing = value.dim() - of.dim()
            single = all(_is_one(size) for size in of.shape[:max(axes - missing, 0)])
            if not single or operand in self.axes:
                if missing:
                    raise _Unfit("rows are broadcast to another axis")
                self._leaf(operand, axes)
            else:
                self.whole.add(operand)
        return axes

    # ---- sums over rows ----

    def _is_sum(self, node) -> bool:
        if node.target is aten.mm.default:
            left, right = node.args
            if left in self.turned:
                self._leaf(right, 1)
                return True
            turned = left.target is aten.permute.default and list(left.args[1]) == [1, 0]
            if right in self.axes and turned:
                self._leaf(left.args[0], 1)
                return True
            return False
        if node.target is aten.sum.default:
            return node.args[0] in self.axes
        if node.target is aten.sum.dim_IntList and node.args[0] in self.axes:
            rank = _value(node.args[0]).dim()
            dims = [dim % rank for dim in node.args[1] or range(rank)]  # none: all
            return sorted(dims) == list(range(self.axes[node.args[0]]))
        return False


# ---- gradients are linear in that of the loss ----

_LINEAR = {*_SAME, *_VIEWS, aten.neg.default, aten.permute.default, aten.expand.default,
           aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.sum.default,
           aten.sum.dim_IntList,
           prims.convert_element_type.default, aten.slice.Tensor, aten.t.default}
_BILINEAR = {aten.mul.Tensor, aten.mul.Scalar, aten.mm.default}
_SUMS = {aten.add.Tensor, aten.sub.Tensor}


def _is_zero(node, depends: set) -> bool:
    if not isinstance(node, torch.fx.Node):
        return node == 0
    if node in depends:
        return True
    if node.target is aten.full.default:
        return node.args[1] == 0
    return node.target is aten.scalar_tensor.default and node.args[0] == 0


def _is_linear(node, depends: set) -> bool:
    """Is the node linear in those of its operands that depend on the gradient?"""
    mine = [isinstance(operand, torch.fx.Node) and operand in depends for operand in node.args]
    if node.target in _LINEAR:
        return mine[0] and sum(mine) == 1
    if node.target in _BILINEAR:
        return sum(mine) == 1
    if node.target in (aten.div.Tensor, aten.div.Scalar):
        return mine[0] and not mine[1] and "rounding_mode" not in node.kwargs
    if node.target in _SUMS:
        return all(_is_zero(operand, depends) for operand in node.args[:2])
    if node.target is aten.where.self:
        return not mine[0] and all(_is_zero(operand, depends) for operand in node.args[1:])
    if node.target is aten.gather.default:
        return mine[0] and not mine[2]
    if node.target in (aten.scatter_add.default, aten.scatter.src):
        return _is_zero(node.args[0], depends) and mine[3] and not mine[2]
    return False


def _tangents(graph) -> list:
    return [node for node in graph.nodes
            if node.op == "placeholder" and node.name.startswith("tangents")]


class _Units:
    """Values for a gradient of the loss that is 1."""

    def __init__(self, region: _Region, writer):
        graph = region.product.graph
        reach = {node: _reached([node], _users) for node in _tangents(graph)}
        mine = [node for node, found in reach.items() if not found.isdisjoint(region.nodes)]
        self.tangent, self.depends, self.writer = None, set(), writer
        if not mine:
            return
        value = _value(mine[0])
        if len(mine) > 1 or value.dim() or value.dtype is torch.float16:
            raise _Unfit("the gradient of the loss is no number, or may be scaled")
        (self.tangent,) = mine
        self.depends = reach[self.tangent]
        ancestors = _reached(region.nodes, _operands)
        for node in (self.depends & ancestors) - {self.tangent}:
            kinds = _value(node).dtype if is_tensor(_value(node)) else None
            if not _is_linear(node, self.depends) or kinds is torch.float16:
                raise _Unfit(f"{node.target} is not linear in the gradient")
        self.made: dict = {}

    def of(self, node):
        """A leaf's value for 1."""
        if node not in self.depends:
            return node
        if node not in self.made:
            if node is self.tangent:
                value = _value(node)
                self.made[node] = self.writer.call(aten.full.default, [], 1, dtype=value.dtype,
                                                   device=value.device)
            else:
                args = torch.fx.node.map_arg(node.args, self.of)
                kwargs = torch.fx.node.map_arg(node.kwargs, self.of)
                self.made[node] = self.writer.call(node.target, *args, **kwargs)
        return self.made[node]

    def scaled(self, node, result):
        """What a result is for the gradient that comes."""
        if node not in self.depends:
            return result
        result.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        made = self.writer.call(aten.mul.Tensor, result, self.tangent)
        return self.writer.cast(made, _value(node).dtype)


# ---- chunks ----


class _Writer:
    """New nodes, with the values that their targets give for fake tensors."""

    def __init__(self, region: _Region):
        self.graph = region.product.graph
        self.mode = _value(region.product).fake_mode
        self.trace = region.product.meta.get("stack_trace")

    def call(self, target, *args, **kwargs):
        node = self.graph.call_function(target, args, kwargs)
        args, kwargs = torch.fx.node.map_arg((args, kwargs), _value)
        with self.mode:
            node.meta["val"] = target(*args, **kwargs)
        if self.trace:
            node.meta["stack_trace"] = self.trace
        return node

    def cast(self, node, dtype):
        same = _value(node).dtype is dtype
        return node if same else self.call(prims.convert_element_type.default, node, dtype)


class _Chunk:
    """The region's nodes for some of its rows."""

    def __init__(self, region: _Region, writer: _Writer, leaves: dict, begin: int, end: int):
        self.region, self.writer = region, writer
        self.leaves, self.begin, self.end = leaves, begin, end
        self.made: dict = {}

    def row(self, node):
        if node not in self.made:
            self.made[node] = self.writer.call(aten.slice.Tensor, self.leaves[node], 0, self.begin,
                                               self.end)
        return self.made[node]

    def operand(self, node):
        if node in self.region.axes or node in self.region.leaves:
            return self.row(node)
        return self.leaves.get(node, node)

    def _tail(self, node) -> list:
        return [self.end - self.begin, *_value(node).shape[self.region.axes[node]:]]

    def make(self, node) -> None:
        target = node.target
        if target in _VIEWS:
            made = self.writer.call(aten.reshape.default, self.row(node.args[0]), self._tail(node))
        elif target is aten.full.default:
            made = self.writer.call(target, self._tail(node), *node.args[1:], **node.kwargs)
        elif target is aten.expand.default:
            made = self._expand(node)
        else:
            args = list(torch.fx.node.map_arg(tuple(node.args), self.operand))
            if target in _REDUCTIONS or target in _AXES:
                args[1] = self._dims(node)
            elif is_pointwise(node):
                args = [self._aligned(node, old, new) for old, new in zip(node.args, args)]
            kwargs = torch.fx.node.map_arg(node.kwargs, self.operand)
            made = self.writer.call(target, *args, **kwargs)
        self.made[node] = made

    def _expand(self, node):
        of = self.operand(node.args[0])
        if node.args[0] not in self.region.leaves and node.args[0] not in self.region.axes:
            of = self._aligned(node, node.args[0], of)
        return self.writer.call(aten.expand.default, of, self._tail(node))

    def _aligned(self, node, old, new):
        """An operand without rows has one element in their place, if it has axes there."""
        value = _value(old)
        if not is_tensor(value) or old in self.region.axes or old in self.region.leaves:
            return new
        axes = self.region.axes[node]
        tail = _value(node).dim() - axes
        if axes == 1 or value.dim() <= tail:
            return new
        return self.writer.call(aten.reshape.default, new, [1, *value.shape[value.dim() - tail:]])

    def _dims(self, node):
        of = self.region._given(node.args[0])
        count = _value(node.args[0]).dim() + (node.target is aten.unsqueeze.default)
        moved = [dim % count - of + 1 for dim in (
            node.args[1] if isinstance(node.args[1], (list, tuple)) else [node.args[1]])]
        return moved if isinstance(node.args[1], (list, tuple)) else moved[0]

    def sum(self, node, before):
        """The sum over the rows so far."""
        if node.target is aten.mm.default:
            return self._product(node, before)
        of = self.row(node.args[0])
        kind = _value(node).dtype
        if kind.is_floating_point:
            kind = torch.promote_types(kind, torch.float32)
        if node.target is aten.sum.default:
            made = self.writer.call(aten.sum.default, of, dtype=kind)
        else:
            made = self.writer.call(aten.sum.dim_IntList, of, [0], False, dtype=kind)
        return made if before is None else self.writer.call(aten.add.Tensor, before, made)

    def _product(self, node, before):
        left, right = node.args
        if left in self.region.turned:
            left, right = self.row(self.region.turned[left]), self.row(right)
        else:
            left, right = self.row(left.args[0]), self.row(right)
        left = self.writer.call(aten.permute.default, left, [1, 0])
        if before is not None and _value(before).dtype is _value(node).dtype:
            return self.writer.call(aten.addmm.default, before, left, right)
        made = self.writer.call(aten.mm.default, left, right)
        return made if before is None else self.writer.call(aten.add.Tensor, before, made)


def _bounds(rows: int, words: int, most: int) -> list:
    """Where chunks begin and end."""
    count = min(-(-rows * words * 4 // most), rows, _CHUNKS_MAX)
    size = -(-rows // count)
    if size > _ROWS:
        size = -(-size // _ROWS) * _ROWS
    return [(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


def _leaves_of(region: _Region, writer: _Writer, units: _Units) -> dict:
    """What the chunks read from outside: {node: it for a gradient of 1, rows as first axis}."""
    found: dict = {}
    outside = {operand for node in region.nodes for operand in _operands(node)}
    for node in sorted((outside | region.leaves) - set(region.nodes) - region.turned.keys()):
        if not is_tensor(_value(node)) and node not in units.depends:
            continue
        made = units.of(node)
        if node in region.leaves:
            value, axes = _value(node), region._given(node)
            if axes != 1:
                made = writer.call(aten.reshape.default, made,
                                   [region.rows, *value.shape[axes:]])
        found[node] = made
    return found


def _results(region: _Region) -> list:
    """Row tensors that nodes outside read."""
    inside = {*region.nodes, *region.turned}
    return [node for node in region.nodes if node not in region.sums
            and any(user not in inside for user in node.users)]


def _write_chunks(region: _Region, most: int, writer: _Writer, leaves: dict) -> dict:
    """{a node that others read: the same, made by chunks}"""
    bounds = _bounds(region.rows, region.words, most)
    sums: dict = dict.fromkeys(region.sums)
    parts: dict = {node: [] for node in _results(region)}
    for begin, end in bounds:
        chunk = _Chunk(region, writer, leaves, begin, end)
        for node in region.nodes:
            if node not in sums:
                chunk.make(node)
                continue
            total = chunk.sum(node, sums[node])
            kind = _value(node).dtype
            wide = len(bounds) > _ROUNDED_SUMS and kind.is_floating_point and kind.itemsize < 4
            sums[node] = writer.cast(total, torch.float32) if wide else total
        for node, made in parts.items():
            made.append(chunk.made[node])
    found = {node: writer.call(aten.cat.default, some, 0) for node, some in parts.items()}
    found.update({node: writer.cast(total, _value(node).dtype) for node, total in sums.items()})
    for node, one in found.items():
        if _value(one).shape != _value(node).shape:
            found[node] = writer.call(aten.reshape.default, one, list(_value(node).shape))
    return found


def _write(region: _Region, most: int) -> None:
    """The graph is as it was if it can't be written."""
    graph = region.product.graph
    before, moved = set(graph.nodes), []
    try:
        _write_all(region, most, before, moved)
    except Exception:
        for user, node, one in reversed(moved):
            user.replace_input_with(one, node)
        for node in reversed(list(graph.nodes)):
            if node not in before:
                graph.erase_node(node)
        raise
    graph.eliminate_dead_code()


def _write_all(region: _Region, most: int, before: set, moved: list) -> None:
    graph = region.product.graph
    (output,) = [node for node in graph.nodes if node.op == "output"]
    with graph.inserting_before(output):
        writer = _Writer(region)
        units = _Units(region, writer)
        made = _write_chunks(region, most, writer, _leaves_of(region, writer, units))
        chunks = [node for node in graph.nodes if node not in before]
        made = {node: units.scaled(node, one) for node, one in made.items()}
    inside = {*region.nodes, *region.turned}
    for node, one in made.items():
        for user in list(node.users):
            if user not in inside:
                user.replace_input_with(node, one)
                moved.append((user, node, one))
    _sort(graph, chunks)


def _sort(graph, chunks: list) -> None:
    """Each node after its operands, and the chunks as they are, before the first that reads one."""
    after = dict(zip(chunks[1:], chunks))  # a chunk's node follows the one before it
    done: set = set()
    entered: set = set()
    last = chunks[-1]
    inside = set(chunks)
    order: list = []
    for first in list(graph.nodes):
        waiting = [first]
        while waiting:
            node = waiting[-1]
            if node in done:
                waiting.pop()
                continue
            needed = [*node.all_input_nodes, *([after[node]] if node in after else [])]
            if node not in inside:
                needed += [last] if any(operand in inside for operand in needed) else []
            missing = [operand for operand in needed if operand not in done]
            if missing:
                entered.add(node)
                if not entered.isdisjoint(missing):  # each node entered and not done waits for it
                    raise _Unfit(f"chunks of rows need their own results at {node}")
                waiting += missing
                continue
            done.add(waiting.pop())
            order.append(node)
    (output,) = [node for node in order if node.op == "output"]
    for node in order:
        if node is not output:
            output.prepend(node)


def _candidates(graph, most: int) -> list:
    """Products that are larger than the option allows, and than their operands."""
    found = []
    for node in graph.nodes:
        value = _value(node)
        if node.op != "call_function" or not _is_product(node) or not all(
                isinstance(size, int) for size in value.shape):
            continue
        rows, words = value.shape
        if rows > 1 and rows * words * 4 > most and words > _value(_factors(node)[0]).shape[1]:
            found.append(node)
    return found


def chunk_logits(module: torch.fx.GraphModule, settings: Settings) -> None:
    """Computes products that only a loss reads chunk by chunk, if the option `loss_bytes` says that
    they are too large."""
    graph, changed = module.graph, False
    for product in _candidates(graph, settings.loss_bytes) if settings.loss_bytes else ():
        region = _Region(product, *_value(product).shape)
        try:
            region.find()
            if not any(is_tensor(_value(node)) and _value(node).numel() <= region.rows
                       for node in region.nodes):
                raise _Unfit("it has no loss")
            _write(region, settings.loss_bytes)
        except Exception as reason:  # the product as a whole is right as well
            log.info("%s is not computed in chunks: %s", product.name, reason)
            continue
        changed = True
    if changed:
        module.recompile()
