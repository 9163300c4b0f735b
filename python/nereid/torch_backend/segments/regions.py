"""Higher-order operators, whose graphs become lines of the caller's text.

A while_loop, and a graph of cond, are loops that data ends: a graph of cond runs at most once, and
is not computed where the condition is false.  A scan and a map are unrolled.  An associative_scan
whose graph is a sum, a product or an extreme is cumsum, cumprod, cummax or cummin.  Another one
combines all elements with those 1, 2, 4, ... before them, where its graph goes element by element,
in a loop if their number is open; other graphs are unrolled, too.
"""

from __future__ import annotations

import functools
import operator
from typing import Callable

import torch

from nereid.torch_backend.segments.flex import FlexWriter, flex_reason, is_flex

ops = torch.ops.higher_order
_STEPS_MAX = 256  # of a scan that is unrolled
_NAMES = ("while_loop", "cond", "scan", "map_impl", "associative_scan", "flex_attention",
          "flex_attention_backward")
_KNOWN = {getattr(ops, name) for name in _NAMES if hasattr(ops, name)}


def is_region(node) -> bool:
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target in _KNOWN


def is_graph(node) -> bool:
    """Is it a graph that a higher-order operator takes?"""
    if node.op != "get_attr":
        return False
    owner = node.graph.owning_module
    found = operator.attrgetter(node.target)(owner) if owner is not None else None
    return isinstance(found, torch.nn.Module)


def module_of(node) -> torch.fx.GraphModule:
    return operator.attrgetter(node.target)(node.graph.owning_module)


def waits(node) -> bool:
    """Does the host wait for a condition?"""
    if not is_region(node):
        return False
    if node.target is ops.associative_scan:
        return _steps(node) is None and _known_scans(node) is None
    return node.target in (ops.while_loop, ops.cond)


def _split(node) -> tuple[list, list[list]]:
    """The graphs, and the lists of operands."""
    graphs = [module_of(arg).graph for arg in node.args
              if isinstance(arg, torch.fx.Node) and is_graph(arg)]
    return graphs, [list(arg) for arg in node.args if isinstance(arg, (list, tuple))]


def _results(graph: torch.fx.Graph) -> list:
    (output,) = [node for node in graph.nodes if node.op == "output"]
    found = output.args[0]
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _is_tensor(value) -> bool:
    return isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor)


def _is_fixed(value) -> bool:
    return all(isinstance(size, int) for size in value.meta["val"].shape)


def _own_reason(node) -> str | None:
    """Why not, of the operator itself."""
    graphs, lists = _split(node)
    if node.target is ops.cond:
        if not _is_tensor(node.args[0]):
            return "its condition is a number"
        results = [value for graph in graphs for value in _results(graph)]
        if not all(_is_tensor(value) and _is_fixed(value) for value in results):
            return "its graphs give something else than tensors whose sizes are known"
        return None
    if not lists or not all(map(_is_tensor, lists[0])):
        return "its values are not all tensors"
    if node.target is ops.while_loop:
        return None if all(_is_tensor(value) for value in _results(graphs[1])) else (
            "its values are not all tensors")
    if node.target is ops.associative_scan and _is_pointwise(node):
        return None
    steps = _steps(node)
    return None if steps is not None and 0 < steps <= _STEPS_MAX else (
        f"it has more than {_STEPS_MAX} steps, or an open number of them")


def _size(node):
    """The elements that a scan or a map goes through, a number or a symbol of one."""
    _, lists = _split(node)
    xs = lists[1] if node.target is ops.scan else lists[0]
    return xs[0].meta["val"].shape[0] if xs and _is_tensor(xs[0]) else None


def _steps(node) -> int | None:
    size = _size(node)
    return size if isinstance(size, int) else None


_CASTS = (torch.ops.aten._to_copy.default, torch.ops.prims.convert_element_type.default)


def _is_pointwise(node) -> bool:
    """Does the graph of an associative_scan go element by element, and depend on all operands?"""
    (graph,), (xs, *_) = _split(node)
    batched: set = set()
    for i, inner in enumerate(graph.nodes):
        if inner.op == "placeholder":
            batched.update([inner] if i < 2 * len(xs) else [])
        elif inner.op == "call_function":
            target = inner.target
            known = isinstance(target, torch._ops.OpOverload) and (
                torch.Tag.pointwise in target.tags or target in _CASTS)
            if not known or not _is_tensor(inner):
                return False
            batched.update([] if batched.isdisjoint(inner.all_input_nodes) else [inner])
        elif inner.op != "output":
            return False
    return all(result in batched for result in _results(graph))


_SCANS = {torch.ops.aten.add.Tensor: "cumsum", torch.ops.aten.mul.Tensor: "cumprod",
          torch.ops.aten.maximum.default: "cummax", torch.ops.aten.minimum.default: "cummin",
          torch.ops.aten.logaddexp.default: "logcumsumexp"}


def _known_scans(node) -> list[str] | None:
    """The operator of each tensor, if the graph does nothing else than combine two of its elements
    by the function that the operator is of."""
    (graph,), (xs, *_) = _split(node)
    inputs = [inner for inner in graph.nodes if inner.op == "placeholder"]
    found = []
    for i, result in enumerate(_results(graph)):
        name = _SCANS.get(result.target)
        combined = {inputs[i], inputs[len(xs) + i]}
        if name is None or result.kwargs or len(result.args) != 2 or set(result.args) != combined:
            return None
        kind = xs[i].meta["val"].dtype
        extreme = name in ("cummax", "cummin")
        if kind is torch.bool and not extreme or kind.is_complex and name != "cumsum":
            return None
        found.append(name)
    return found


def region_reason(node, reason: Callable, is_host: Callable) -> str | None:
    """Why PyTorch runs the operator; `reason` says that of a node in its graphs."""
    if is_flex(node):
        return flex_reason(node, reason)
    own = _own_reason(node)
    if own:
        return own
    for graph in _split(node)[0]:
        for inner in graph.nodes:
            if inner.op == "get_attr" and not is_graph(inner):
                return "a constant within its graph"
            if inner.op != "call_function" or inner.target is operator.getitem or is_host(inner):
                continue
            found = reason(inner)
            if found or inner.target is torch.ops.aten.copy_.default:
                return f"{inner.target} in its graph: {found or 'it writes to its operands'}"
    return None


class Writer:
    """The lines of a region; `text` is the caller's."""

    def __init__(self, text, node):
        self.text, self.node = text, node

    def results(self) -> list[str]:
        """Writes all lines; the names of the results."""
        if is_flex(self.node):
            return FlexWriter(self, self.node).results()
        graphs, lists = _split(self.node)
        if self.node.target is ops.cond:
            return self._cond(graphs, lists[0])
        if self.node.target is ops.while_loop:
            return self._while(graphs, lists)
        if self.node.target is ops.associative_scan:
            return self._associative(graphs[0], lists[0], sum(lists[1:], []))
        if self.node.target is ops.scan:
            return self._unrolled(graphs[0], lists[0], lists[1], sum(lists[2:], []))
        return self._unrolled(graphs[0], [], lists[0], sum(lists[1:], []))

    def _make(self, call: str) -> str:
        name = self.text.new_name(self.node)
        self.text.line(f"{name} = {call}")
        return name

    def _run(self, graph, operands: list[str]) -> list[str]:
        return self.text.inline(self.node, graph, operands, _results(graph))

    def _names(self, values: list) -> list[str]:
        return [self.text.argument(value) for value in values]

    # ---- loops ----

    def _carried(self, values: list[str]) -> list[str]:
        return [self._make(f"nereid.carried.default({value}, {self.text.new_number()})")
                for value in values]

    def _test(self, condition: str) -> str:
        return self._make(f"nereid.loop_test.default({condition}, {self.text.new_number()})")

    def _end(self, test: str, carried: list[str], following: list[str]) -> list[str]:
        end = self._make(f"nereid.loop_end.default({test}, [{', '.join(carried)}], "
                         f"[{', '.join(following)}])")
        return [self._make(f"nereid.loop_result.default({value}, {end})") for value in carried]

    def _while(self, graphs: list, lists: list) -> list[str]:
        carried = self._carried(self._names(lists[0]))
        more = self._names(sum(lists[1:], []))
        (condition,) = self._run(graphs[0], carried + more)
        test = self._test(condition)
        return self._end(test, carried, self._run(graphs[1], carried + more))

    # ---- conditions ----

    def _once(self, flag: str, values: list[str], graph, operands: list[str]) -> list[str]:
        """The graph's results if the flag is true, else `values`."""
        first, *carried = self._carried([flag, *values])
        test = self._test(first)
        made = self._run(graph, operands)
        never = self._make("torch.ops.aten.full.default([], False, dtype = torch.bool)")
        return self._end(test, [first, *carried], [never, *made])[1:]

    def _cond(self, graphs: list, operands: list) -> list[str]:
        condition = self.text.argument(self.node.args[0])
        flag = self._make(f"torch.ops.aten.reshape.default({condition}, [])")
        names = self._names(operands)
        values = []
        for value in _results(graphs[0]):
            kind = value.meta["val"]
            values.append(self._make(f"torch.ops.aten.zeros.default({list(kind.shape)}, "
                                     f"dtype = {kind.dtype})"))
        values = self._once(flag, values, graphs[0], names)
        other = self._make(f"torch.ops.aten.logical_not.default({flag})")
        return self._once(other, values, graphs[1], names)

    # ---- associative scans ----

    def _slice(self, x: str, first: int, end: int) -> str:
        return self._make(f"torch.ops.aten.slice.Tensor({x}, 0, {first}, {end})")

    def _associative(self, graph, xs: list, more: list) -> list[str]:
        size, values, rest = _steps(self.node), self._names(xs), self._names(more)
        known = _known_scans(self.node)
        if known:
            return [self._known_scan(name, x, value) for name, x, value in zip(known, xs, values)]
        if not _is_pointwise(self.node):
            return self._one_by_one(graph, values, rest)
        if size is None:
            return self._in_loop(graph, xs, values, rest)
        step = 1
        while step < size:
            early = [self._slice(x, 0, size - step) for x in values]
            late = [self._slice(x, step, size) for x in values]
            made = self._batched(graph, early + late, rest, size - step)
            first = [self._slice(x, 0, step) for x in values]
            values = [self._make(f"torch.ops.aten.cat.default([{a}, {b}], 0)")
                      for a, b in zip(first, made, strict=True)]
            step *= 2
        return values

    def _known_scan(self, name: str, x, value: str) -> str:
        if name in ("cummax", "cummin"):
            return self._make(f"{self._make(f'torch.ops.aten.{name}.default({value}, 0)')}[0]")
        keep = f", dtype = {x.meta['val'].dtype}" if name in ("cumsum", "cumprod") else ""
        return self._make(f"torch.ops.aten.{name}.default({value}, 0{keep})")

    def _in_loop(self, graph, xs: list, values: list[str], more: list[str]) -> list[str]:
        """The same of an open number of elements; the step is carried, too."""
        size = self.text.argument(_size(self.node))
        place = self._make(f"torch.ops.aten.arange.default({size}, dtype = torch.int64)")
        end = self._make(f"torch.ops.aten.full.default([], {size}, dtype = torch.int64)")
        one = self._make("torch.ops.aten.full.default([], 1, dtype = torch.int64)")
        carried = self._carried([one, *values])
        step, *late = carried
        test = self._test(self._make(f"torch.ops.aten.lt.Tensor({step}, {end})"))
        before = self._make(f"torch.ops.aten.sub.Tensor({place}, {step})")
        has_one = self._make(f"torch.ops.aten.ge.Scalar({before}, 0)")
        index = self._make(f"torch.ops.aten.clamp_min.default({before}, 0)")
        early = [self._make(f"torch.ops.aten.index_select.default({x}, 0, {index})") for x in late]
        made = self._batched(graph, early + late, more, size)
        following = [self._make(f"torch.ops.aten.mul.Tensor({step}, 2)")]
        for x, old, new in zip(xs, late, made, strict=True):
            axes = ", ".join([size, *["1"] * (x.meta["val"].dim() - 1)])
            chosen = self._make(f"torch.ops.aten.view.default({has_one}, [{axes}])")
            following.append(
                self._make(f"torch.ops.aten.where.self({chosen}, {new}, {old})"))
        return self._end(test, carried, following)[1:]

    def _batched(self, graph, operands: list[str], more: list[str], size) -> list[str]:
        """The graph's results for `size` elements at once, which are a first axis."""
        names, batched = self.text.names, set()
        for i, inner in enumerate(graph.nodes):
            if inner.op == "placeholder":
                names[inner] = (operands + more)[i]
                batched.update([inner] if i < len(operands) else [])
            elif inner.op == "call_function":
                kept = dict(names)
                for operand in batched.intersection(inner.all_input_nodes):
                    names[operand] = self._aligned(operand, inner, size)
                call = self.text.call_text(inner)
                names.clear()
                names.update(kept)
                names[inner] = self._make(call)
                batched.update([] if batched.isdisjoint(inner.all_input_nodes) else [inner])
        return [names[result] for result in _results(graph)]

    def _aligned(self, operand, user, size) -> str:
        """Its axes but the first are the user's last ones, as broadcasting has it."""
        shape, name = list(operand.meta["val"].shape), self.text.names[operand]
        name = self._promoted(operand, user, name)
        missing = user.meta["val"].dim() - len(shape)
        if not missing:
            return name
        axes = ", ".join(map(str, [size, *[1] * missing, *shape]))
        return self._make(f"torch.ops.aten.view.default({name}, [{axes}])")

    def _promoted(self, operand, user, name: str) -> str:
        """A tensor without axes gives its dtype up to one with axes, which it would not as one of
        several elements."""
        value = operand.meta["val"]
        others = [other.meta["val"] for other in user.all_input_nodes if _is_tensor(other)]
        others = [other for other in others if other.dim() and other.dtype != torch.bool]
        if value.dim() or value.dtype == torch.bool or not others:
            return name
        dtype = functools.reduce(torch.promote_types, [other.dtype for other in others])
        dtype = torch.result_type(value, torch.empty(1, dtype=dtype, device="meta"))
        if dtype == value.dtype:
            return name
        return self._make(f"torch.ops.aten._to_copy.default({name}, dtype = {dtype})")

    def _one_by_one(self, graph, xs: list[str], more: list[str]) -> list[str]:
        rows: list[list[str]] = []
        for i in range(_steps(self.node)):
            items = [self._make(f"torch.ops.aten.select.int({x}, 0, {i})") for x in xs]
            rows.append(self._run(graph, rows[-1] + items + more) if rows else items)
        return [self._make(f"torch.ops.aten.stack.default([{', '.join(column)}])")
                for column in zip(*rows)]

    # ---- unrolled ----

    def _unrolled(self, graph, carried: list, xs: list, more: list) -> list[str]:
        state, given, rest = self._names(carried), self._names(xs), self._names(more)
        rows: list[list[str]] = []
        for i in range(_steps(self.node)):
            items = [self._make(f"torch.ops.aten.select.int({x}, 0, {i})") for x in given]
            made = self._run(graph, state + items + rest)
            state = made[:len(state)]
            rows.append(made[len(state):])
        return state + [self._make(f"torch.ops.aten.stack.default([{', '.join(column)}])")
                        for column in zip(*rows)]
