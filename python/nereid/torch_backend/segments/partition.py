"""Which nodes Nereid computes, and in which segments.

A graph is a sequence of levels.  All nodes of a level that Nereid computes on one device are one
segment, which becomes one executable; the others run one by one, by PyTorch.  A node's level is
the least that its operands allow: a segment needs what PyTorch computed for it before it starts.
Where memory matters, it is then raised to the least of its users, so that what a backward pass
computes again is in memory only where it is used.
What PyTorch makes of nothing, as seeds of random numbers, is there before all segments.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

import torch

from nereid.torch_backend.base.draws import may_draw
from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.base.nodes import device_of, is_host, is_tensor, name_of
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.segments.called import is_call
from nereid.torch_backend.segments.numbers import computed_numbers, sources_of, unread_items
from nereid.torch_backend.segments.reasons import is_counted, read_reason, reason_against

aten = torch.ops.aten
_FIRST = -1  # the level before those of segments
# Operators that free the memory of an operand, after all nodes before them have read it.
_FREEING = {"ao.wait_tensor.default"}
_FEW = 4096  # elements that may be in memory for the whole run


@dataclass
class Segment:
    """Nodes that one executable computes, in their order."""

    level: int
    device: torch.device
    nodes: list = field(default_factory=list)


@dataclass
class Partition:
    """The order in which things run: segments, and nodes that PyTorch runs."""

    steps: list
    reasons: dict
    """Why PyTorch runs a node: of those that compute something."""
    reads: dict
    """What the host reads by a node: of those that compute nothing, and of sizes."""

    @property
    def apart(self) -> dict:
        """Nodes of which a segment takes no copy, though they be views of its operands."""
        return {**self.reasons, **self.reads}


def _asked(node, settings: Settings) -> str | None:
    asked = settings.by_pytorch and name_of(node.target) in settings.by_pytorch
    return "an option says so" if asked else None


def partition(graph: torch.fx.Graph, refused: dict, settings: Settings,
              saves_memory: bool = False) -> Partition:
    """`refused` are nodes that turned out to be beyond the compiler, with the reason."""
    levels: dict = {}
    devices: dict = {}
    others: dict = {}
    reasons: dict = {}
    reads: dict = {}
    ours: set = set()
    computed: dict = {}  # numbers that segments compute, by the node that takes them
    unsure: set = set()  # depend on how many elements are different, which has no symbol
    calls = [node for node in graph.nodes if node.op == "call_function"]
    last, drawn = 0, _FIRST
    for node in calls:
        host, operands = is_host(node), node.all_input_nodes
        devices[node] = device_of(node)
        if host or (node.target is operator.getitem and node.args[0] not in ours):
            mine = False
        elif node.target is operator.getitem:
            mine = True
        else:
            reason = refused.get(node) or _asked(node, settings) or reason_against(node)
            if not unsure.isdisjoint(operands):
                reason = reason or "data decides a size of its operands"
            mine = reason is None
            read = None if node in refused else read_reason(node)
            if mine and is_counted(node):
                reads[node] = "the host reads a size"
            elif reason and read:
                reads[node] = read
            elif reason and not _checks_number(node) and not is_call(node):
                reasons[node] = reason
        if node.target is aten._unique.default or not unsure.isdisjoint(operands):
            unsure.add(node)
        if mine:
            computed[node] = computed_numbers(node, devices[node])
            operands = _before(operands, computed[node])
        level = max([0, *(levels.get(operand, 0) + ((mine or host) and _crosses(
            node, operand, ours, devices)) for operand in operands)])
        if node.target is aten.copy_.default or name_of(node.target) in _FREEING:
            level = max(level, last)
        ordered = not mine and not host and may_draw(node)
        earliest = drawn if ordered else _FIRST
        if level == 0 and not mine and not host and _is_made_of_nothing(node):
            level = earliest
        if ordered:
            level = drawn = max(level, drawn)
        levels[node] = level
        last = max(last, level)
        if mine:
            ours.add(node)
        elif not host:
            others.setdefault(level, []).append(node)
    unread = unread_items(graph, computed)
    others = {level: [node for node in nodes if node not in unread]
              for level, nodes in others.items()}
    reads = {node: read for node, read in reads.items() if node not in unread}
    if saves_memory and not any(map(_writes, calls)):
        _raise_levels(calls, levels, ours, devices)
    segments = _segments_of([node for node in calls if node in ours], levels, devices)
    return Partition(_order(segments, others), reasons, reads)


def _segments_of(nodes: list, levels: dict, devices: dict) -> dict:
    segments: dict = {}
    for node in nodes:
        first = node.args[0] if node.target is operator.getitem else node
        key = (levels[node], devices[first])
        segments.setdefault(key, Segment(*key)).nodes.append(node)
    return segments


def _writes(node) -> bool:
    """May what the node reads, or what it gives, be another after a later node?"""
    return (isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
            or name_of(node.target) in _FREEING)


def _raise_levels(calls: list, levels: dict, ours: set, devices: dict) -> None:
    """Raises each level to the least of the node's users, if nothing stays in memory for it that
    would be free: no saved tensor, which others read before, and no result of PyTorch's."""
    for node in reversed(calls):
        if node not in ours or node.target is operator.getitem or is_counted(node):
            continue
        parts = [user for user in node.users if user.target is operator.getitem]
        users = [user for one in (node, *parts) for user in one.users if user not in parts]
        if not users or any(user not in levels or is_host(user) for user in users):
            continue  # a result of the graph, or what the host reads
        level = min(levels[user] - (user in ours and devices[user] != devices[node])
                    for user in users)
        if level > levels[node] and not any(_is_freed(operand, node, level, levels, ours)
                                            for operand in node.all_input_nodes):
            for one in (node, *parts):
                levels[one] = level


def _is_freed(operand, node, level: int, levels: dict, ours: set) -> bool:
    """Would the operand's memory be free before that level, if the node did not read it there?
    Parameters stay, and a node of ours goes where its users are."""
    if operand in ours or operand.name.startswith("primals") or not is_tensor(
            operand.meta.get("val")):
        return False
    return all(levels.get(user, level) < level for user in operand.users if user is not node)


def _before(operands: list, computed: set) -> list:
    """The operands, and in the place of numbers that the segment computes what these are made
    of."""
    return [source for operand in operands
            for source in (sources_of(operand) if operand in computed else [operand])]


def _is_made_of_nothing(node) -> bool:
    """Does the node give few elements, and read none?"""
    value = node.meta.get("val")
    return (not node.all_input_nodes and is_tensor(value)
            and is_known(value.numel() <= _FEW))


def _checks_number(node) -> bool:
    """Is it a check of a number, or a comparison for one?"""
    return (node.target in (aten._assert_scalar.default, aten._assert_async.msg)
            or isinstance(node.meta.get("val"), torch.SymBool))


def _is_counted_size(node) -> bool:
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return bool(free_unbacked_symbols(node.meta["val"]))


def _crosses(node, operand, ours: set, devices: dict) -> bool:
    """Must what PyTorch computes, or another device, be there before the node?"""
    if operand in ours:
        if is_host(node):  # a size that data decides is known once its segment has run
            return _is_counted_size(node)
        return devices[operand] != devices[node]
    return operand.op == "call_function" and not is_host(operand)


def _order(segments: dict, others: dict) -> list:
    steps: list = []
    for level in range(_FIRST, 1 + max([0, *others, *(key[0] for key in segments)])):
        steps += [segment for key, segment in segments.items() if key[0] == level]
        steps += others.get(level, [])
    return steps
