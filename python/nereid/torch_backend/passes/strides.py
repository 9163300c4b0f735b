"""Strides of what the forward pass leaves for the backward pass.

Users see PyTorch's strides; saved tensors may have others, of which AOTAutograd is told.  Images
between convolutions are channels-last in Nereid's kernels, and are saved so, without a copy.
"""

from __future__ import annotations

import operator
from collections import Counter

import torch

from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.base.nodes import is_tensor, is_view, storage_of

aten = torch.ops.aten


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


def _images(graph: torch.fx.Graph) -> set:
    """Results of convolutions, and what is computed from them without another order of axes."""
    found: set = set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is aten.convolution.default and _rank(node) in (4, 5):
            found.add(node)
        elif node.target is operator.getitem or not is_view(node) or _divides_channels(node):
            if any(operand in found for operand in node.all_input_nodes):
                found.add(node)
    return found


def _channels_last(sizes) -> tuple:
    strides, step = [0] * len(sizes), 1
    for axis in (1, *reversed(range(2, len(sizes))), 0):
        strides[axis] = step
        step = step * sizes[axis]
    return tuple(strides)


def _storages(graph) -> Counter:
    """How many nodes have each storage."""
    return Counter(storage_of(node) for node in graph.nodes)


def _results(module: torch.fx.GraphModule, metadata) -> list:
    """What the forward graph returns, as AOTAutograd counts: without the tokens of effects, which
    come first."""
    (output,) = [node for node in module.graph.nodes if node.op == "output"]
    return list(output.args[0])[len(metadata.tokens):]


def save_images_channels_last(module: torch.fx.GraphModule) -> None:
    """Gives saved images of the forward graph the strides of channels-last tensors."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return
    graph = module.graph
    images = _images(graph)
    if not images:
        return
    saved = _results(module, context.fw_metadata)[context.fw_metadata.num_forward_returns:]
    users = _storages(graph)
    for node in dict.fromkeys(saved):
        if node not in images or _rank(node) not in (4, 5) or users[storage_of(node)] > 1:
            continue
        value = node.meta["val"]
        if not value.is_contiguous():
            continue
        with value.fake_mode:
            node.meta["val"] = torch.empty_strided(
                value.shape, _channels_last(value.shape), dtype=value.dtype, device=value.device)


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
