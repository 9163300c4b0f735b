"""What the forward pass leaves for the backward pass, in fewer bytes.

A joint graph is changed before it is partitioned; the partitioner then chooses what to save.
"""

from __future__ import annotations

import math
import operator

import torch

from nereid.torch_backend.partition import is_tensor

aten = torch.ops.aten
# Gradients of maxima over windows: what gives their indices, and how many axes a window has.
_POOLS = {
    aten.max_pool2d_with_indices_backward.default: (aten.max_pool2d_with_indices.default, 2),
    aten.max_pool3d_with_indices_backward.default: (aten.max_pool3d_with_indices.default, 3),
}


def _smallest_integer(count: int) -> torch.dtype:
    """That has all numbers below `count`; the partitioner does not save 32 bits instead of 64."""
    for dtype in (torch.int8, torch.int16):
        if count <= torch.iinfo(dtype).max + 1:
            return dtype
    return torch.int64


def _cast(graph, node, dtype: torch.dtype):
    made = graph.call_function(torch.ops.prims.convert_element_type.default, (node, dtype))
    made.meta = {"val": node.meta["val"].to(dtype)}
    return made


def _narrow_indices(graph, node) -> bool:
    """Indices number the elements of a plane: they are saved in a dtype that just has them."""
    image, indices = node.args[1].meta["val"], node.args[-1]
    maximum, axes = _POOLS[node.target]
    made = indices.target is operator.getitem and indices.args[0].target is maximum
    if not made or any(user.target not in _POOLS for user in indices.users):
        return False
    value = indices.meta["val"]
    dtype = _smallest_integer(math.prod(image.shape[-axes:]))
    if dtype is value.dtype:
        return False
    with value.fake_mode:
        with graph.inserting_after(indices):
            narrow = _cast(graph, indices, dtype)
        with graph.inserting_before(node):
            node.update_arg(len(node.args) - 1, _cast(graph, narrow, value.dtype))
    return True


def _forget_image(graph, node) -> bool:
    """The gradient needs the sizes of the image alone."""
    image = node.args[1]
    value = image.meta["val"]
    if not value.is_contiguous():
        return False
    with graph.inserting_before(node), value.fake_mode:
        options = {"dtype": value.dtype, "device": value.device, "pin_memory": False}
        like = graph.call_function(aten.full.default, (list(value.shape), 0), options)
        like.meta = {"val": torch.empty_like(value)}
    node.update_arg(1, like)
    return True


def save_less(module: torch.fx.GraphModule) -> None:
    graph, changed = module.graph, False
    for node in list(graph.nodes):
        if node.target not in _POOLS:
            continue
        image = node.args[1].meta["val"]
        if is_tensor(image) and all(isinstance(size, int) for size in image.shape):
            changed |= _narrow_indices(graph, node)
            changed |= _forget_image(graph, node)
    if changed:
        module.recompile()
