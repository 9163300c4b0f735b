"""Which nodes Nereid computes, and in which segments.

A graph is a sequence of levels.  All nodes of a level that Nereid computes on one device are one
segment, which becomes one executable; the others run one by one, by PyTorch.  A node's level is
the least that its operands allow: a segment needs what PyTorch computed for it before it starts.
What PyTorch makes of nothing, as seeds of random numbers, is there before all segments.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._dtype_abbrs import dtype_abbrs

from nereid import _nereid
from nereid.torch_backend.layout import is_known, memory_order
from nereid.torch_backend.random_ops import draws, may_draw
from nereid.torch_backend.regions import is_region, region_reason
from nereid.torch_backend.settings import Settings
from nereid.torch_backend.text import NUMBERS, is_number, name_of

aten = torch.ops.aten
_FIRST = -1  # the level before those of segments
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


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _values(value: Any):
    return value if isinstance(value, (list, tuple)) else (value,)


def device_of(node) -> torch.device | None:
    for value in _values(node.meta.get("val")):
        if is_tensor(value):
            return value.device
    return None


def storage_of(node) -> int | None:
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if is_tensor(value) else None


def is_view(node) -> bool:
    """Is it another form of its first operand, and nothing else?"""
    if node.op != "call_function" or not node.args or node.kwargs:
        return False
    of = node.args[0]
    if not isinstance(of, torch.fx.Node) or not is_tensor(node.meta.get("val")):
        return False
    alone = all(is_number(other.meta.get("val")) for other in node.all_input_nodes[1:])
    return (alone and is_tensor(of.meta.get("val")) and storage_of(of) == storage_of(node)
            and isinstance(node.target, torch._ops.OpOverload)
            and not node.target._schema.is_mutable and places_reason(node) is None)


# Data decides the first size of the results of these, which a segment reads as it runs.
_COUNTED = {aten.nonzero.default, aten.argwhere.default, aten.masked_select.default,
            aten.index.Tensor}  # not bincount: there is no bound for its size


def is_counted(node) -> bool:
    """Does data decide a size that a segment can read?"""
    if not node.meta.get("unbacked_bindings") or node.target not in _COUNTED:
        return False
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    return all(value.dim() > 0 for value in values if is_tensor(value))


def _read_reason(node) -> str | None:
    """What the host reads of the data by a node that computes no element; None: it is no such."""
    if node.target is aten._local_scalar_dense.default:
        return "the host reads a number"
    if node.meta.get("unbacked_bindings") and is_view(node):
        return "the host makes a view at places that data decides"
    return None


def _tensor_reason(value) -> str | None:
    if value.layout is not torch.strided:
        return f"a tensor of layout {value.layout}"
    if value.dtype not in dtype_abbrs or value.is_quantized or value.dtype is torch.complex32:
        return f"elements of {value.dtype}"
    if value.device.type not in ("cuda", "cpu"):
        return f"a tensor on {value.device.type}"
    return None


_INDEXING = {aten.index.Tensor, aten.index_put.default, aten._unsafe_index.Tensor,
             aten._unsafe_index_put.default}


def _host_indices(node) -> tuple:
    """Operands that PyTorch takes from a CPU for a tensor on a GPU: the segment copies them."""
    return tuple(node.args[1]) if node.target in _INDEXING else ()


def _operand_reason(node, device) -> str | None:
    copied = _host_indices(node)
    for operand in node.all_input_nodes:
        for value in _values(operand.meta.get("val")):
            if isinstance(value, (torch.SymFloat, torch.SymBool)):
                return "a number as an operand that is neither an integer nor a constant"
            if not is_tensor(value):
                continue
            taken = value.device.type == "cpu" and (value.dim() == 0 or operand in copied)
            if value.device != device and not taken:
                return f"operands on {value.device} and {device}"
            reason = _tensor_reason(value)
            if reason:
                return reason
    return None


@functools.cache
def _has_operator(target) -> bool:
    return _nereid.has_operator(name_of(target))


def target_reason(node) -> str | None:
    """Why the operator is PyTorch's, whatever its operands are."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return "a higher-order operator"
    if draws(node):
        return "PyTorch's generator gives the numbers, or their seeds"
    if not _has_operator(target):
        return "there is no such operator"
    return None


def _update_reason(node) -> str | None:
    """Updates of inputs alone are left in a graph, at its end."""
    to = node.args[0]
    if to.op != "placeholder":
        return "a write to a tensor that is no input"
    value = to.meta["val"]
    if memory_order(value.shape, value.stride()) is None:
        return "a write to a tensor with gaps"
    if value.is_conj() or value.is_neg():
        return "a write to a tensor that is conjugate or negative by a bit of PyTorch's"
    return None


def places_reason(node) -> str | None:
    """as_strided counts elements of memory, which Nereid knows of a tensor without gaps alone."""
    if node.target is not aten.as_strided.default:
        return None
    of = node.args[0].meta["val"]
    if memory_order(of.shape, of.stride()) is None:
        return "places in a tensor with gaps"
    return None if is_known(of.storage_offset() == 0) else "places in a part of a tensor"


def _slower_reason(node, device) -> str | None:
    """Operators whose kernel in PyTorch was measured to be faster (decision 182)."""
    if node.target is aten.grid_sampler_2d.default and device.type == "cuda" and node.args[2] == 2:
        return "PyTorch's kernel for bicubic samples is faster"
    return None


def reason_against(node) -> str | None:
    """Why PyTorch runs the node; None: Nereid does."""
    device = device_of(node)
    if is_region(node) and device is not None:
        return _operand_reason(node, device) or region_reason(node, reason_against, is_host)
    if device is None:
        return "its value is no tensor"
    if node.target is torch.ops.prims.device_put.default:
        return f"a copy from {device_of(node.args[0])} to {device}"
    reason = target_reason(node) or _operand_reason(node, device)
    if reason:
        return reason
    reason = _slower_reason(node, device)
    if reason:
        return reason
    if node.target is aten.copy_.default:
        return _update_reason(node)
    if node.meta.get("unbacked_bindings") and not is_counted(node):
        return "its data decides a size"
    if places_reason(node):
        return places_reason(node)
    for value in _values(node.meta["val"]):
        if is_tensor(value) and _tensor_reason(value):
            return _tensor_reason(value)
    if node.target._schema.is_mutable:
        return "it writes to its operands"
    return None


def _asked(node, settings: Settings) -> str | None:
    asked = settings.by_pytorch and name_of(node.target) in settings.by_pytorch
    return "an option says so" if asked else None


def is_host(node) -> bool:
    """A number in Python: a size of a tensor, or arithmetic on such numbers."""
    if node.op != "call_function" or not is_number(node.meta.get("val")):
        return False
    return node.target in NUMBERS or name_of(node.target).startswith("aten.sym_")


def partition(graph: torch.fx.Graph, refused: dict, settings: Settings) -> Partition:
    """`refused` are nodes that turned out to be beyond the compiler, with the reason."""
    levels: dict = {}
    devices: dict = {}
    segments: dict = {}
    others: dict = {}
    reasons: dict = {}
    reads: dict = {}
    ours: set = set()
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
            read = None if node in refused else _read_reason(node)
            if mine and is_counted(node):
                reads[node] = "the host reads a size"
            elif reason and read:
                reads[node] = read
            elif reason and not _checks_number(node):
                reasons[node] = reason
        if node.target is aten._unique.default or not unsure.isdisjoint(operands):
            unsure.add(node)
        level = max([0, *(levels.get(operand, 0) + ((mine or host) and _crosses(
            node, operand, ours, devices)) for operand in operands)])
        if node.target is aten.copy_.default:
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
            first = node.args[0] if node.target is operator.getitem else node
            key = (level, devices[first])
            segments.setdefault(key, Segment(*key)).nodes.append(node)
        elif not host:
            others.setdefault(level, []).append(node)
    return Partition(_order(segments, others), reasons, reads)


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
