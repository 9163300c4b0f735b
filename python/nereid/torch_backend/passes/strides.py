"""Strides of what the forward pass leaves for the backward pass.

Users see PyTorch's strides; saved tensors may have others, of which AOTAutograd is told.  Images
between convolutions are channels-last in Nereid's kernels, and are saved so, without a copy.
Elements computed from products and sums are in the order of their axes, though one operand, as the
residual of a convolution's transposed result, makes PyTorch's rules follow another order.
"""

from __future__ import annotations

import operator
from collections import Counter

import torch

from nereid.torch_backend.base.layout import is_known, memory_order
from nereid.torch_backend.base.nodes import is_pointwise, is_tensor, is_view, storage_of

aten = torch.ops.aten
_IMAGES = (3, 4, 5)  # ranks of a convolution's result
_SAME_ORDER = (aten.view.default, aten._unsafe_view.default, aten.unsqueeze.default,
               aten.squeeze.dims, aten.alias.default, aten.detach.default)


def _rank(node) -> int:
    value = node.meta.get("val")
    return value.dim() if is_tensor(value) else 0


def _divides_channels(node) -> bool:
    """Is it a view of an image whose channels are in groups, or one of such groups as an image?"""
    if node.target is not aten.view.default:
        return False
    value, of = node.meta["val"], node.args[0].meta["val"]
    more, fewer = sorted((value.shape, of.shape), key=len, reverse=True)
    if len(fewer) < 3 or len(more) != len(fewer) + 1:
        return False
    same = zip((more[0], *more[3:]), (fewer[0], *fewer[2:]), strict=True)
    return all(is_known(a == b) for a, b in same)  # other comparisons would fix open sizes


def _keeps_channels(node) -> bool:
    """Are the channels of an image the same axis in the result?  Of a signal products, sums and
    others may give something else."""
    if node.target is operator.getitem or is_pointwise(node) or _divides_channels(node):
        return True
    return not is_view(node) and _rank(node) != 3


def _images(graph: torch.fx.Graph) -> set:
    """Results of convolutions, and what is computed from them without another order of axes."""
    found: set = set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is aten.convolution.default and _rank(node) in _IMAGES:
            found.add(node)
        elif _keeps_channels(node):
            if any(operand in found for operand in node.all_input_nodes):
                found.add(node)
    return found


def _strides_of(sizes, axes) -> tuple:
    """Those of memory that has these axes from the innermost to the outermost."""
    strides, step = [0] * len(sizes), 1
    for axis in axes:
        strides[axis] = step
        step = step * sizes[axis]
    return tuple(strides)


def _channels_last(sizes) -> tuple:
    return _strides_of(sizes, (1, *reversed(range(2, len(sizes))), 0))


def _in_rows(sizes) -> tuple:
    return _strides_of(sizes, reversed(range(len(sizes))))


def _storages(graph) -> Counter:
    """How many nodes have each storage."""
    return Counter(storage_of(node) for node in graph.nodes)


def _results(module: torch.fx.GraphModule, metadata) -> list:
    """What the forward graph returns, as AOTAutograd counts: without the tokens of effects, which
    come first."""
    (output,) = [node for node in module.graph.nodes if node.op == "output"]
    return list(output.args[0])[len(metadata.tokens):]


def _is_in_order(node, others: set, images: set) -> bool:
    """Does Nereid compute it in the order of its axes, as it does `others` before it?"""
    value = node.meta.get("val")
    if not is_tensor(value):
        return False
    if node.target in _SAME_ORDER:
        return node.args[0] in others
    if node.target is aten.permute.default and node.args[0] in images:
        axes = [axis % value.dim() for axis in node.args[1]]
        return axes == [0, *range(2, value.dim()), 1]
    if node.op == "call_function" and not is_view(node) and is_pointwise(node):
        return any(operand in others and operand.meta["val"].shape == value.shape
                   for operand in node.all_input_nodes)
    return value.is_contiguous()


def _in_order(graph: torch.fx.Graph, images: set) -> set:
    found: set = set()
    for node in graph.nodes:
        if _is_in_order(node, found, images):
            found.add(node)
    return found


def _set_strides(node, strides: tuple) -> None:
    value = node.meta["val"]
    with value.fake_mode:
        node.meta["val"] = torch.empty_strided(value.shape, strides, dtype=value.dtype,
                                               device=value.device)


def choose_saved_strides(module: torch.fx.GraphModule) -> None:
    """Gives what the forward graph saves the strides in which Nereid computes it: channels-last of
    images, and those of the axes' order of elements that PyTorch would have in another one."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return
    results, count = _results(module, context.fw_metadata), context.fw_metadata.num_forward_returns
    images, users = _images(module.graph), _storages(module.graph)
    ordered = _in_order(module.graph, images)
    for node in dict.fromkeys(results[count:]):
        if node in results[:count] or not _rank(node) or users[storage_of(node)] > 1:
            continue
        value = node.meta["val"]
        if value.is_contiguous():
            if node in images and _rank(node) in _IMAGES:
                _set_strides(node, _channels_last(value.shape))
        elif node in ordered and is_pointwise(node) and memory_order(value.shape, value.stride()):
            _set_strides(node, _in_rows(value.shape))


def report_strides(module: torch.fx.GraphModule) -> None:
    """Tells AOTAutograd the strides of the forward graph's outputs."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.output_strides is None or context.fw_metadata is None:
        return
    for node in _results(module, context.fw_metadata):
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
        context.output_strides.append(tuple(value.stride()) if is_tensor(value) else None)


def take_strides(module: torch.fx.GraphModule, examples) -> None:
    """Gives the backward graph's inputs the strides that the forward graph's outputs have."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node, example in zip(inputs, examples):
        value = node.meta.get("val")
        if is_tensor(value) and is_tensor(example) and value.stride() != example.stride():
            node.meta["val"] = example
