"""Facts about the nodes of an FX graph and their values."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import torch

from nereid.torch_backend.base.layout import is_known, memory_order

aten = torch.ops.aten

# Functions of Python's numbers that graphs have, by the name that their text has.
NUMBERS = {
    operator.add: "_operator.add", operator.sub: "_operator.sub", operator.mul: "_operator.mul",
    operator.floordiv: "_operator.floordiv", operator.truediv: "_operator.truediv",
    operator.mod: "_operator.mod", operator.pow: "_operator.pow", operator.neg: "_operator.neg",
    math.ceil: "math.ceil", math.floor: "math.floor", math.trunc: "math.trunc",
    torch.sym_int: "torch.sym_int", torch.sym_float: "torch.sym_float",
    torch.sym_max: "torch.sym_max", torch.sym_min: "torch.sym_min",
}


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


@functools.cache
def name_of(target) -> str:
    """ "aten.add.Tensor" of an operator."""
    return str(target)


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def values_of(value: Any):
    return value if isinstance(value, (list, tuple)) else (value,)


def device_of(node) -> torch.device | None:
    for value in values_of(node.meta.get("val")):
        if is_tensor(value):
            return value.device
    return None


def storage_of(node) -> int | None:
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if is_tensor(value) else None


def is_pointwise(node) -> bool:
    """Does it compute each element from those at the same place?"""
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and (
        torch.Tag.pointwise in target.tags
        or target is torch.ops.prims.convert_element_type.default)


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


def places_reason(node) -> str | None:
    """as_strided counts elements of memory, which Nereid knows of a tensor without gaps alone."""
    if node.target not in (aten.as_strided.default, aten.as_strided_scatter.default):
        return None
    of = node.args[0].meta["val"]
    if node.target is aten.as_strided_scatter.default and not of.is_contiguous():
        return "places in a tensor that is not in the order of its rows"
    if memory_order(of.shape, of.stride()) is None:
        return "places in a tensor with gaps"
    return None if is_known(of.storage_offset() == 0) else "places in a part of a tensor"


def is_host(node) -> bool:
    """A number in Python: a size of a tensor, or arithmetic on such numbers."""
    if node.op != "call_function" or not is_number(node.meta.get("val")):
        return False
    return node.target in NUMBERS or name_of(node.target).startswith("aten.sym_")


def is_detached(node) -> bool:
    """Is it a view, by `detach` or of what `detach` gave?"""
    while isinstance(node, torch.fx.Node) and is_view(node):
        if node.target in (aten.alias.default, aten.detach.default):
            return True
        node = node.args[0]
    return False
