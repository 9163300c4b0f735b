"""Numbers of Python that data decides, as .item() reads them, in segments.

A segment that takes such a number as an operand computes it itself, from the tensor that has it:
the host need not read it, and it may have any sign, where Nereid's symbols are sizes.  Numbers that
are sizes, or views' places, are read by the host before the segment runs.
"""

from __future__ import annotations

import torch

from nereid.torch_backend.base.nodes import (NUMBERS, is_host, is_number, is_tensor, values_of)

aten, prims = torch.ops.aten, torch.ops.prims
_ITEMS = (aten._local_scalar_dense.default, aten.item.default)
_DTYPES = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
           torch.float16, torch.bfloat16, torch.float32, torch.float64}
# Parameters of operators that are integers for PyTorch, and take such numbers.
_INTEGERS = {prims.iota.default: {"start", "step"}}


def is_item(node) -> bool:
    return node.op == "call_function" and node.target in _ITEMS


def items_of(node, device: torch.device) -> set | None:
    """The nodes of .item() that a number is computed from on a device; None: it can't be."""
    if is_item(node):
        of = node.args[0].meta["val"]
        here = of.device == device or (of.device.type == "cpu" and of.dim() == 0)
        return {node} if of.dtype in _DTYPES and here else None
    if not is_number(node.meta.get("val")):
        return None
    if not is_host(node) or node.target not in NUMBERS:
        return set() if _is_size(node) else None
    parts = [items_of(operand, device) for operand in node.all_input_nodes]
    return None if None in parts else set().union(*parts)


def _is_size(node) -> bool:
    """Is it an integer of sizes alone?"""
    value = node.meta.get("val")
    return isinstance(value, int) or (isinstance(value, torch.SymInt)
                                      and not unbacked_symbols(value))


def unbacked_symbols(value) -> set:
    """The symbols, of numbers that data decides, of a number, or of a tensor's places."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    if not is_tensor(value):
        return set(free_unbacked_symbols(value)) if not isinstance(value, (bool, int, float)) \
            and is_number(value) else set()
    if value.layout is not torch.strided or not value._has_symbolic_sizes_strides:
        return set()
    numbers = (*value.shape, *value.stride(), value.storage_offset())
    return set().union(*(unbacked_symbols(number) for number in numbers))


def _given(node) -> list:
    """(parameter, argument) of an operator."""
    parameters = node.target._schema.arguments
    positional = [p for p in parameters if not p.kwarg_only]
    by_name = {p.name: p for p in parameters}
    return [*zip(positional, node.args),
            *((by_name[name], value) for name, value in node.kwargs.items() if name in by_name)]


def _is_operand(parameter, target) -> bool:
    kind = str(parameter.type).removeprefix("Optional[").removesuffix("]")
    return (kind in ("number", "Tensor", "float")
            or parameter.name in _INTEGERS.get(target, ()))


def computed_numbers(node, device: torch.device) -> set:
    """The operands of a node that are numbers which its segment computes: those that are nothing
    but operands, and decide no size or place of its tensors."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return set()
    numbers = {operand for operand in node.all_input_nodes
               if is_number(operand.meta.get("val")) and items_of(operand, device)}
    if not numbers:
        return numbers
    alone = {value for parameter, value in _given(node)
             if isinstance(value, torch.fx.Node) and _is_operand(parameter, node.target)}
    others: set = set()
    for parameter, value in _given(node):
        if not isinstance(value, torch.fx.Node) or not _is_operand(parameter, node.target):
            torch.fx.node.map_arg(value, others.add)
    tensors = [value for n in (node, *node.all_input_nodes)
               for value in values_of(n.meta.get("val")) if is_tensor(value)]
    places = set().union(*map(unbacked_symbols, tensors))
    return {number for number in (numbers & alone) - others
            if not unbacked_symbols(number.meta["val"]) & places}


def sources_of(number) -> list:
    """What a number that a segment computes is made of: tensors, and numbers of sizes."""
    if is_item(number):
        return [number.args[0]]
    if number.op != "call_function" or _is_size(number):
        return [number]
    return [source for operand in number.all_input_nodes for source in sources_of(operand)]


def unread_items(graph: torch.fx.Graph, computed: dict) -> set:
    """The nodes of .item() that the host need not run; `computed` are the numbers that nodes of
    segments compute, by node."""
    read: set = set()
    places: set = set()
    for node in reversed(graph.nodes):
        value = node.meta.get("val")
        for tensor in values_of(value):
            places |= unbacked_symbols(tensor) if is_tensor(tensor) else set()
        if is_number(value) and node.op == "call_function" and node not in read:
            continue
        read.update(operand for operand in node.all_input_nodes
                    if is_number(operand.meta.get("val"))
                    and operand not in computed.get(node, ()))
    return {node for node in graph.nodes if is_item(node) and node not in read
            and not unbacked_symbols(node.meta["val"]) & places}


def with_numbers(nodes: list, device: torch.device) -> list:
    """The nodes, and in front of those the numbers that they compute.  A number that another of
    them needs from the host, or whose symbol a size has, is an input."""
    inside = set(nodes)
    computed = {node: computed_numbers(node, device) for node in nodes}
    host = {operand for node in nodes for operand in node.all_input_nodes
            if is_number(operand.meta.get("val")) and operand not in computed[node]}
    tensors = [value for node in nodes for n in (node, *node.all_input_nodes)
               for value in values_of(n.meta.get("val")) if is_tensor(value)]
    places = set().union(*map(unbacked_symbols, tensors),
                         *(unbacked_symbols(number.meta["val"]) for number in host))
    found: set = set()
    waiting = [number for numbers in computed.values() for number in numbers]
    while waiting:
        number = waiting.pop()
        of_places = is_item(number) and unbacked_symbols(number.meta["val"]) & places
        if number in found or number in inside or number in host or of_places or (
                not is_item(number) and (number.op != "call_function" or _is_size(number))):
            continue
        found.add(number)
        waiting += [] if is_item(number) else number.all_input_nodes
    if not found:
        return nodes
    place = {node: i for i, node in enumerate(nodes[0].graph.nodes)}
    return sorted([*found, *nodes], key=place.__getitem__)
