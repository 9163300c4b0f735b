"""FlexAttention's operators as lines of a segment's text.

`score_mod` and `mask_mod` are graphs of numbers without axes.  Here each number has all elements at
once: batches, heads, rows and keys are tensors that broadcast to the scores [B, H, T, S].  The
kernel of attention computes them within (nereid.flex_attention), and goes through the blocks that
the block mask has.
"""

from __future__ import annotations

import math
import operator

import torch

from nereid.torch_backend.base.heads import widths_most
from nereid.torch_backend.base.layout import size_hint

aten = torch.ops.aten
ops = torch.ops.higher_order
FORWARD = getattr(ops, "flex_attention", None)
BACKWARD = getattr(ops, "flex_attention_backward", None)
# A function of a module that is imported late: zeros, and a number that is added at some place.
_SCATTER = "flex_lib::zeros_and_scatter"

_NO_BLOCKS = 1 << 30  # the block size of a mask that PyTorch makes where there is none
_INDEXING = (aten.index.Tensor, aten._unsafe_index.Tensor)
_CASTS = (aten._to_copy.default, torch.ops.prims.convert_element_type.default)
_SAME = (aten.clone.default, aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default)
_ONES = (aten.new_ones.default, aten.ones.default)
_MADE = (aten.full.default, aten.scalar_tensor.default)


def is_flex(node) -> bool:
    return node.target in (FORWARD, BACKWARD)


def _module(node) -> torch.fx.GraphModule:
    return operator.attrgetter(node.target)(node.graph.owning_module)


def _number(node) -> torch.Tensor | None:
    """The tensor without axes that a graph has as a constant: `torch.tensor(2.0)` in its code."""
    if node.op != "get_attr":
        return None
    value = operator.attrgetter(node.target)(node.graph.owning_module)
    plain = type(value) is torch.Tensor and not value.dim() and not value.is_complex()
    return value if plain else None


class _Call:
    """The arguments of a node by name."""

    def __init__(self, node):
        args = list(node.args)
        self.query, self.key, self.value = args[:3]
        self.backward = node.target is BACKWARD
        if self.backward:
            self.out, self.sums, self.grad, self.grad_sums = args[3:7]
            self.chain = _module(args[8]).graph
            args = args[:3] + args[7:8] + args[9:]
        self.score = _module(args[3]).graph
        mask, self.scale = list(args[4]), args[5]
        self.score_buffers, self.mask_buffers = list(args[7]), list(args[8])
        self.mask = _module(mask[-1]).graph
        self.of_keys, self.of_rows = mask[2:6], mask[6:10]
        self.blocks = mask[10:12]

    @property
    def has_blocks(self) -> bool:
        return any(size != _NO_BLOCKS for size in self.blocks)


def _results(graph: torch.fx.Graph) -> list:
    (output,) = [node for node in graph.nodes if node.op == "output"]
    found = output.args[0]
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _result(graph: torch.fx.Graph):
    return _results(graph)[0]


def _needed(graph: torch.fx.Graph, results: list) -> list:
    """The nodes of which the results are made."""
    wanted, found = set(results), []
    for node in reversed(graph.nodes):
        if node in wanted:
            found.append(node)
            wanted.update(node.all_input_nodes)
    return found[::-1]


def _inputs(graph: torch.fx.Graph) -> list:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _is_tensor(value) -> bool:
    return isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor)


# ---- gradients of what a score_mod reads ----


class _Added:
    """A number for each score that is added to one of a tensor that the score_mod reads."""

    def __init__(self, number: int, scatter):
        self.number = number  # of the tensor
        self.shape, self.indices, self.value = scatter.args

    def nodes(self) -> list:
        found = [self.value, *self.indices]
        return [value for value in found if isinstance(value, torch.fx.Node)]


def _scatters(value) -> list | None:
    """The scatters that a gradient is the sum of; None: it is something else."""
    if not isinstance(value, torch.fx.Node) or value.op != "call_function":
        return None
    if getattr(value.target, "namespace", "") == "flex_lib" and value.target.name() == _SCATTER:
        return [value]
    if value.target is aten.add.Tensor and not value.kwargs:
        parts = [_scatters(part) for part in value.args]
        return None if None in parts else sum(parts, [])
    return None


def _wanted(node) -> list[int]:
    """The tensors whose gradients are used."""
    lists = [user for user in node.users if user.args[1] == 3]
    return sorted({user.args[1] for found in lists for user in found.users
                   if user.target is operator.getitem and user.users})


def _added(node, call: _Call) -> list[_Added]:
    if not call.backward:
        return []
    gradients = _results(call.chain)[5:]
    return [_Added(number, scatter) for number in _wanted(node)
            for scatter in _scatters(gradients[number]) or []]


def _read_reason(node, call: _Call) -> str | None:
    if not call.backward or not _wanted(node):
        return None
    if torch.are_deterministic_algorithms_enabled():
        return "gradients of what a score_mod reads, whose numbers are added in any order"
    gradients = _results(call.chain)[5:]
    for number in _wanted(node):
        scatters = _scatters(gradients[number])
        whole = scatters and all(len(part.args[1]) == len(part.args[0])
                                 and not part.args[2].meta["val"].dim() for part in scatters)
        if not whole or not _is_tensor(call.score_buffers[number]):
            return "the gradient of a tensor that a score_mod reads otherwise than at an index"
    return None


# ---- what there is a kernel for ----


def _size_reason(node, call: _Call) -> str | None:
    sums = call.sums.meta["val"] if call.backward else node.meta["val"][1]
    values = [x.meta["val"] for x in (call.query, call.key, call.value)]
    query, key, value = values
    if any(x.dtype != query.dtype for x in values) or query.dtype not in (
            torch.float64, torch.float32, torch.float16, torch.bfloat16):
        return f"attention of {query.dtype}"
    if query.dtype == torch.float64 and sums.dtype != query.dtype:
        return "attention of float64, whose sums this PyTorch has as float32"
    if any(isinstance(size, int) and size == 0 for x in values for size in x.shape):
        return "attention of no elements"
    most = widths_most(query, True)[0]
    if any(not isinstance(x.shape[3], int) or x.shape[3] > most for x in values):
        return f"heads of more than {most} columns, or an open number of them"
    if not isinstance(key.shape[1], int):
        return "an open number of heads"
    if not isinstance(call.scale, (int, float)):
        return "a scale that is no constant"
    return None


def _block_reason(call: _Call) -> str | None:
    if not call.has_blocks:
        return None
    if any(not isinstance(size, int) for size in call.blocks):
        return "blocks of an open size"
    tables = call.of_keys[:2] + (call.of_rows[:2] if call.backward else [])
    return None if all(map(_is_tensor, tables)) else "a block mask without its tables"


def _use_reason(node) -> str | None:
    for user in node.users:
        if user.target is not operator.getitem:
            return "its results are used as a list"
    return None


def _graph_reason(graph: torch.fx.Graph, scalars: int, added: list, reason) -> str | None:
    """Why a graph can't go element by element; its first inputs are numbers of one score."""
    batched = set(_inputs(graph)[:scalars])
    for node in _needed(graph, [_result(graph), *(n for part in added for n in part.nodes())]):
        if node.op == "placeholder" or _number(node) is not None:
            continue
        if node.op != "call_function" or not _is_tensor(node):
            return "a constant within its graph" if node.op == "get_attr" else str(node.target)
        found = reason(node)
        if found:
            return f"{node.target} in its graph: {found}"
        if batched.isdisjoint(node.all_input_nodes):
            continue
        batched.add(node)
        if not _goes_by_elements(node) or node.meta["val"].dim():
            return f"{node.target} in its graph is no operator of single elements"
    return None


def _goes_by_elements(node) -> bool:
    if node.target in _INDEXING:
        of, indices = node.args[0].meta["val"], node.args[1]
        return len(indices) == of.dim() and None not in indices
    return torch.Tag.pointwise in node.target.tags or node.target in _CASTS + _SAME


def flex_reason(node, reason) -> str | None:
    """Why PyTorch runs the operator; `reason` says that of a node in its graphs."""
    call = _Call(node)
    found = (_size_reason(node, call) or _block_reason(call) or _use_reason(node)
             or _read_reason(node, call))
    if found:
        return found
    graphs = [(call.score, 5, []), (call.mask, 4, [])]
    graphs += [(call.chain, 6, _added(node, call))] if call.backward else []
    return next(filter(None, (_graph_reason(*graph, reason) for graph in graphs)), None)


def count_scores(node) -> int:
    """The scores of a call; of an open size those of its example."""
    query, key = (value.meta["val"] for value in node.args[:2])
    sizes = (*query.shape[:3], key.shape[2])
    return math.prod(map(size_hint, sizes))


def _is_true(node) -> bool:
    """Does the mask hide nothing, whatever the score is?"""
    if node.target in _ONES:
        return True
    value = {aten.full.default: 1, aten.scalar_tensor.default: 0}.get(node.target)
    return value is not None and node.args[value] is True


# ---- lines ----


def _heads_first(value) -> bool:
    """Is it in memory as its shape has it, and not with heads after rows?"""
    return value.is_contiguous() and not value.transpose(1, 2).is_contiguous()


class FlexWriter:
    """The lines of one operator; `writer` makes names and lines."""

    def __init__(self, writer, node):
        self.writer, self.text, self.node, self.call = writer, writer.text, node, _Call(node)

    def results(self) -> list[str]:
        call, text = self.call, self.text
        operands = [text.argument(x) for x in (call.query, call.key, call.value)]
        query, key, value = operands
        score = self._make(f"nereid.attention_scores.default({query}, {key}, "
                           f"scale = {float(call.scale)!r})")
        at = self._indices()
        buffers = [self._buffer(x) for x in call.score_buffers]
        scores = self._element(call.score, [score, *at, *buffers], score)
        mask = self._mask([*at, *map(self._buffer, call.mask_buffers)])
        tables = self._tables(call.of_keys)
        blocks = call.blocks if call.has_blocks else [0, 0]
        sizes = f"{blocks[0]}, {blocks[1]}"
        if not call.backward:
            sizes += (f", scale = {float(call.scale)!r}, "
                      f"heads_first = {_heads_first(self.node.meta['val'][0])}")
            made = self._make(f"nereid.flex_attention.default({query}, {key}, {value}, {scores}, "
                              f"{mask}, {tables}, {sizes})")
            return [self._make(f"{made}[{i}]") for i in range(3)]
        added = _added(self.node, call)
        chain, read = "None", "[], [], []"
        if scores != "None":
            chain, read = self._chain(score, at, buffers, added)
        given = [text.argument(x) for x in (call.grad, call.grad_sums)]
        if not _is_tensor(call.grad):
            given[0] = self._make(f"torch.ops.aten.zeros_like.default({text.argument(call.out)})")
        of_forward = [text.argument(x) for x in (call.out, call.sums)]
        arguments = ", ".join([*given, *operands, *of_forward, scores, mask, chain, tables,
                               self._tables(call.of_rows)])
        first = [_heads_first(x) for x in self.node.meta["val"][:3]]
        more = f"heads_first = {first[0]}, keys_heads_first = {first[1] and first[2]}"
        made = self._make(f"nereid.flex_attention_backward.default({arguments}, {sizes}, {read}, "
                          f"scale = {float(call.scale)!r}, {more})")
        results = [self._make(f"{made}[{i}]") for i in range(3 + len(added))]
        return results[:3] + [self._gradients(added, results[3:])]

    def _gradients(self, added: list[_Added], names: list[str]) -> list[str]:
        """By tensor that the score_mod reads; "None" where nobody wants it."""
        found = ["None"] * len(self.call.score_buffers)
        for part, name in zip(added, names, strict=True):
            last = found[part.number]
            found[part.number] = name if last == "None" else self._make(
                f"torch.ops.aten.add.Tensor({last}, {name})")
        return found

    def _make(self, call: str) -> str:
        name = self.text.new_name(self.node)
        self.text.line(f"{name} = {call}")
        return name

    def _tables(self, tables: list) -> str:
        if not self.call.has_blocks:
            tables = [None] * 4
        return ", ".join("None" if x is None else self.text.argument(x) for x in tables)

    def _indices(self) -> list[str]:
        """Batch, head, row and key of each score."""
        query, key = self.call.query.meta["val"], self.call.key.meta["val"]
        found = []
        for axis, size in enumerate((*query.shape[:3], key.shape[2])):
            size = self.text.argument(size)
            place = self._make(f"torch.ops.aten.arange.default({size}, dtype = torch.int32)")
            shape = ", ".join([size] + ["1"] * (3 - axis))
            found.append(self._make(f"torch.ops.aten.view.default({place}, [{shape}])"))
        return found

    def _buffer(self, buffer) -> str:
        """Numbers without axes would not take part in the choice of a dtype beside others."""
        name = self.text.argument(buffer)
        if _is_tensor(buffer) and not buffer.meta["val"].dim():
            return self._make(f"torch.ops.aten.view.default({name}, [1])")
        return name

    def _chain(self, score: str, at: list[str], buffers: list[str], added: list[_Added]):
        """The gradient of the scores, and what is added to those of tensors that are read."""
        grad = self._make(f"nereid.attention_scores_grad.default({score})")
        wanted = [node for part in added for node in part.nodes()]
        chain = self._element(self.call.chain, [score, *at, grad, *buffers], grad, wanted)
        if _result(self.call.chain) is None:  # the function is one of places alone
            chain = self._constant(torch.tensor(0.0))
        of = [self.text.argument(self.call.score_buffers[part.number]) for part in added]
        places = [self._place(part) for part in added]
        values = [self.text.argument(part.value) for part in added]
        return chain, ", ".join(f"[{', '.join(names)}]" for names in (of, places, values))

    def _place(self, part: _Added) -> str:
        """The place of the number among the tensor's elements, -1 for none; indices may count from
        the end."""
        aten_ops, place, inside = "torch.ops.aten", None, None
        for index, size in zip(part.indices, part.shape, strict=True):
            index, size = self.text.argument(index), self.text.argument(size)
            wide = self._make(f"{aten_ops}.to.dtype({index}, torch.int64)")
            ends = self._make(f"{aten_ops}.lt.Scalar({wide}, 0)")
            other = self._make(f"{aten_ops}.add.Tensor({wide}, {size})")
            index = self._make(f"{aten_ops}.where.self({ends}, {other}, {wide})")
            least = self._make(f"{aten_ops}.ge.Scalar({index}, 0)")
            below = self._make(f"{aten_ops}.lt.Scalar({index}, {size})")
            within = self._make(f"{aten_ops}.logical_and.default({least}, {below})")
            if place:
                row = self._make(f"{aten_ops}.mul.Tensor({place}, {size})")
                index = self._make(f"{aten_ops}.add.Tensor({row}, {index})")
                within = self._make(f"{aten_ops}.logical_and.default({inside}, {within})")
            place, inside = index, within
        return self._make(f"{aten_ops}.where.ScalarOther({inside}, {place}, -1)")

    def _mask(self, operands: list[str]) -> str:
        if _is_true(_result(self.call.mask)):
            return "None"
        return self._element(self.call.mask, operands, "")

    def _constant(self, value: torch.Tensor) -> str:
        with torch.utils._python_dispatch._disable_current_modes():
            number = self.text.argument(value.item())
        return self._make(f"torch.ops.aten.full.default([1], {number}, dtype = {value.dtype})")

    def _element(self, graph: torch.fx.Graph, operands: list[str], same: str, more=()) -> str:
        """The lines of a graph for all scores at once, and its result; "None": it is `same`.
        `more`: further nodes that get lines and names."""
        names, text = self.text.names, self.text
        names.update(zip(_inputs(graph), operands, strict=True))
        for node in _needed(graph, [_result(graph), *more]):
            if node.op == "get_attr":
                names[node] = self._constant(_number(node))
            if node.op != "call_function":
                continue
            call = text.call_text(node)
            if node.target is aten.index.Tensor:  # no index is checked for each score
                call = call.replace("aten.index.Tensor", "aten._unsafe_index.Tensor", 1)
            names[node] = self._make(call)
            if node.target in _MADE and not node.meta["val"].dim():
                names[node] = self._make(f"torch.ops.aten.view.default({names[node]}, [1])")
        found = text.argument(_result(graph))
        return "None" if found == same else found
