"""The text of a part of an FX graph, as Nereid's graph layer reads it."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterable

import torch
from torch.utils._dtype_abbrs import dtype_abbrs

from nereid.torch_backend.base.layout import extent, inverse, is_plain, memory_order
from nereid.torch_backend.base.nodes import NUMBERS, is_number, name_of
from nereid.torch_backend.segments.regions import Writer, is_region


def type_of(value: Any, order=None) -> str:
    """ "f32[8, s0]", with the axes in that order; "Sym(s0)" of a number."""
    if is_number(value):
        return f"Sym({value})"
    sizes = value.shape if order is None else [value.shape[axis] for axis in order]
    return f"{dtype_abbrs[value.dtype]}[{', '.join(map(str, sizes))}]"


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _argument(value: Any, names: dict) -> str:
    if isinstance(value, torch.fx.Node):
        return names[value]
    if isinstance(value, (list, tuple, torch.Size)):
        items = ", ".join(_argument(item, names) for item in value)
        return f"[{items}]"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, complex):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return str(value)
    if isinstance(value, torch.device):
        index = "" if value.index is None else f", index={value.index}"
        return f"device(type='{value.type}'{index})"
    if value is None or isinstance(value, (bool, int, torch.dtype, torch.layout,
                                           torch.memory_format)):
        return str(value)
    if isinstance(value, str):
        return repr(value)
    raise TypeError(f"a {type(value).__name__} as an argument")


def held_name(node) -> str:
    """The name of an input that a segment may have as a weight."""
    return f"p_{node.name}"


class Text:
    """The text of a graph, line by line; which node made a line is known.

    Nodes have names of their own: FX's may be words that the text gives another meaning, and
    `p_` or `b_` in front would make an input a parameter.
    """

    def __init__(self):
        self.lines: list[str] = []
        self.nodes: list[torch.fx.Node | None] = []
        self.names: dict[torch.fx.Node, str] = {}
        self.parameters: list[str] = []
        self.results: dict[torch.fx.Node, list[str]] = {}  # of higher-order operators
        self.numbers = 0
        self.regions: list[str] = []  # names of those in which lines are, which all names have
        self.owner: torch.fx.Node | None = None  # the one of the graph itself

    def _name(self, node) -> str:
        name = f"v_{'__'.join([*self.regions, node.name])}"
        self.names[node] = name
        return name

    def _line(self, text: str, node=None) -> None:
        self.lines.append(f"    {text}")
        self.nodes.append(self.owner or node)

    # ---- regions (regions.py) ----

    def new_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def new_name(self, node) -> str:
        return f"r{self.new_number()}_{node.name}"

    def line(self, text: str) -> None:
        self._line(text)

    def argument(self, value) -> str:
        return _argument(value, self.names)

    def inline(self, node, graph, operands: list[str], results: list) -> list[str]:
        """The lines of a graph of the higher-order operator `node`, and the names of `results`."""
        self.regions.append(f"{node.name}__{self.new_number()}")
        inputs = [inner for inner in graph.nodes if inner.op == "placeholder"]
        self.names.update(zip(inputs, operands, strict=True))
        for inner in graph.nodes:
            if inner.op == "call_function":
                self.call(inner)
        self.regions.pop()
        return [self.argument(result) for result in results]

    def _region(self, node) -> None:
        outer, self.owner = self.owner, self.owner or node
        self.results[node] = Writer(self, node).results()
        self.owner = outer

    def input(self, node, order, held: bool = False) -> None:
        """A tensor whose axes are in memory in that order, or a number.  One that is `held` is a
        parameter of the text."""
        value, name = node.meta["val"], self._name(node)
        if order is None or is_plain(order):
            if held:
                name = self.names[node] = held_name(node)
            self.parameters.append(f'{name}: "{type_of(value)}"')
            return
        given = held_name(node) if held else f"m_{node.name}"
        self.parameters.append(f'{given}: "{type_of(value, order)}"')
        axes = list(inverse(order))
        self._line(f'{name}: "{type_of(value)}" = '
                   f"torch.ops.aten.permute.default({given}, {axes})", node)

    def input_with_gaps(self, node) -> None:
        """A tensor that is a view of more memory than its elements take."""
        value, name = node.meta["val"], self._name(node)
        self.parameters.append(
            f'g_{node.name}: "{dtype_abbrs[value.dtype]}[{extent(value.shape, value.stride())}]"')
        places = f"{list(value.shape)}, {list(value.stride())}, 0"
        self._line(f'{name}: "{type_of(value)}" = '
                   f"torch.ops.aten.as_strided.default(g_{node.name}, {places})", node)

    def _in_memory_order(self, operand, node) -> str:
        """The operand with its axes as memory has them, of which as_strided counts elements."""
        order = order_of(operand.meta["val"])
        if order is None or is_plain(order):
            return self.names[operand]
        permuted = f"torch.ops.aten.permute.default({self.names[operand]}, {list(order)})"
        self._line(f"q_{node.name} = {permuted}", node)
        return f"q_{node.name}"

    def call(self, node) -> None:
        if is_region(node):
            self._region(node)
            return
        if node.target is operator.getitem and node.args[0] in self.results:
            found = self.results[node.args[0]][node.args[1]]
            (self.results if isinstance(found, list) else self.names)[node] = found
            return
        value, name = node.meta.get("val"), self._name(node)
        if node.target is operator.getitem:
            self._line(f"{name} = {self.names[node.args[0]]}[{node.args[1]}]", node)
            return
        known = isinstance(value, torch.Tensor) or is_number(value)
        kind = f': "{type_of(value)}"' if known else ""
        self._line(f"{name}{kind} = {self.call_text(node)}", node)

    def number(self, node) -> None:
        """A number that the segment computes (numbers.py), which has no symbol in the text."""
        self._line(f"{self._name(node)} = {self.call_text(node)}", node)

    def call_text(self, node) -> str:
        args = [_argument(arg, self.names) for arg in node.args]
        if node.target is torch.ops.aten.as_strided.default:
            args[0] = self._in_memory_order(node.args[0], node)
        args += [f"{key} = {_argument(arg, self.names)}" for key, arg in node.kwargs.items()
                 if key != "pin_memory"]
        target = NUMBERS.get(node.target) or f"torch.ops.{name_of(node.target)}"
        return f"{target}({', '.join(args)})"

    def update(self, node, order) -> None:
        """A copy to an input, whose axes are in memory in that order."""
        to, source = node.args[:2]
        name, text = self._name(node), self.names[source]
        if is_plain(order):
            self._line(f"{name} = torch.ops.aten.copy_.default({self.names[to]}, {text})", node)
            return
        shape = [_argument(size, self.names) for size in to.meta["val"].shape]
        expanded = f"torch.ops.aten.expand.default({text}, [{', '.join(shape)}])"
        self._line(f"e_{node.name} = {expanded}", node)
        permuted = f"torch.ops.aten.permute.default(e_{node.name}, {list(order)})"
        self._line(f"q_{node.name} = {permuted}", node)
        self._line(f"{name} = torch.ops.aten.copy_.default(m_{to.name}, q_{node.name})", node)

    def output(self, node, order) -> str:
        """What to return, so that the axes are in memory in that order."""
        name = self.names[node]
        if order is None or is_plain(order):
            return name
        self._line(f"o_{node.name} = torch.ops.aten.permute.default({name}, {list(order)})", node)
        return f"o_{node.name}"

    def finish(self, outputs: Iterable[str]) -> str:
        self._line(f"return ({', '.join([*outputs, ''])})")
        return "\n".join([self._head(), *self.lines, ""])

    def _head(self) -> str:
        return f"def forward(self, {', '.join(self.parameters)}):"

    def with_lines(self, line_of: Callable[[torch.fx.Node], str]) -> str:
        """The finished text, with the line of the model in a comment before the nodes of each.  A
        node of no line, as autograd makes some, has that of a node that uses it, or that it
        uses."""
        nodes = [n for graph in {n.graph: 0 for n in self.nodes if n is not None}
                 for n in graph.nodes]
        places = {node: line_of(node) for node in nodes}
        for order, near in ((reversed(nodes), "users"), (nodes, "all_input_nodes")):
            for node in order:
                around = [places[n] for n in getattr(node, near)]
                places[node] = places[node] or next(filter(None, around), "")
        lines, last = [self._head()], ""
        for text, node in zip(self.lines, self.nodes, strict=True):
            place = places.get(node, "")
            if place != last:
                lines.append(f"    # {place or 'No stacktrace found for following nodes'}")
            lines.append(text)
            last = place
        return "\n".join([*lines, ""])

    def node_at(self, line: int):
        """The node that made that line of finish(), which counts from 1; None: no node did."""
        return self.nodes[line - 2] if 2 <= line < len(self.nodes) + 2 else None


def order_of(value) -> tuple[int, ...] | None:
    return memory_order(value.shape, value.stride())
