"""What the forward pass leaves for the backward pass, in fewer bytes.

A joint graph is changed before it is partitioned; the partitioner then chooses what to save.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter

import torch

from nereid.torch_backend.base.nodes import is_tensor, name_of, storage_of
from nereid.torch_backend.segments.segment import OWNED

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


def _call(graph, target, *args, **kwargs):
    made = graph.call_function(target, args, kwargs)
    values = torch.fx.node.map_arg(args, lambda node: node.meta["val"])
    made.meta = {"val": target(*values, **kwargs)}
    return made


def _cast(graph, node, dtype: torch.dtype):
    return _call(graph, torch.ops.prims.convert_element_type.default, node, dtype)


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


def _save_pool(graph, node) -> bool:
    image = node.args[1].meta["val"]
    if not is_tensor(image) or not all(isinstance(size, int) for size in image.shape):
        return False
    narrow = _narrow_indices(graph, node)
    return _forget_image(graph, node) or narrow


# ---- group norm ----
#
# The partitioner computes elements again rather than save them, but neither sums nor what a node
# reads of which it knows nothing.  A group norm that is one node is such: its operand was saved as
# it was widened, and its result too.


def _aliases(node) -> list:
    return [node, *(other for user in node.users
                    if user.target in (aten.alias.default, aten.detach.default)
                    for other in _aliases(user))]


def _to(graph, node, dtype: torch.dtype):
    same = node.meta["val"].dtype is dtype
    return node if same else _cast(graph, node, dtype)


def _of_channels(graph, node, like):
    """[channels] as [channels, 1, ...] of an image."""
    return _call(graph, aten.view.default, node, [-1] + [1] * (like.dim() - 2))


def _spell_out(graph, norm) -> bool:
    """The node becomes sums over groups of channels, and elements made of those."""
    x, weight, bias = norm.args[:3]
    groups, eps = norm.args[6:]
    value = x.meta["val"]
    known = all(isinstance(size, int) and size > 0 for size in value.shape)
    parts = {user.args[1]: user for user in norm.users}
    kinds = [value.dtype, *(given.meta["val"].dtype for given in (weight, bias) if given)]
    exact = functools.reduce(torch.promote_types, kinds)  # of mean and deviation, as in eager mode
    for i in parts.keys() & {1, 2}:  # PyTorch's rules name the image's
        for node in _aliases(parts[i]):
            node.meta["val"] = node.meta["val"].to(exact)
    if not known:
        return False
    images, channels, *sizes = value.shape
    axes = list(range(2, value.dim() + 1))
    wide = torch.promote_types(value.dtype, torch.float32)
    with graph.inserting_before(norm), value.fake_mode:
        x = _to(graph, x, wide)
        grouped = _call(graph, aten.view.default, x, [images, groups, channels // groups, *sizes])
        moments = _call(graph, aten.var_mean.correction, grouped, axes, correction=0, keepdim=True)
        variance, mean = (_call(graph, operator.getitem, moments, i) for i in range(2))
        rstd = _call(graph, aten.rsqrt.default, _call(graph, aten.add.Scalar, variance, eps))
        result = _call(graph, aten.mul.Tensor, _call(graph, aten.sub.Tensor, grouped, mean), rstd)
        result = _call(graph, aten.view.default, result, list(value.shape))
        if weight is not None:
            result = _call(graph, aten.mul.Tensor, result, _of_channels(graph, weight, value))
        if bias is not None:
            result = _call(graph, aten.add.Tensor, result, _of_channels(graph, bias, value))
        made = [_to(graph, result, value.dtype), *(
            _to(graph, _call(graph, aten.view.default, node, [images, groups]), exact)
            for node in (mean, rstd))]
    for i, part in parts.items():
        part.replace_all_uses_with(made[i])
        graph.erase_node(part)
    graph.erase_node(norm)
    return True


def _widen_again(graph, node) -> bool:
    """A gradient reads what was widened for the forward pass: it is widened again, by an operator
    of another name, so that the two are not taken for one."""
    x = node.args[1]
    if x.target is not torch.ops.prims.convert_element_type.default:
        return False
    narrow, value = x.args[0], x.meta["val"]
    if narrow.meta["val"].dtype.itemsize >= value.dtype.itemsize:
        return False
    with graph.inserting_before(node), value.fake_mode:
        node.update_arg(1, _call(graph, aten._to_copy.default, narrow, dtype=value.dtype))
    return True


_SAVES = {aten.native_group_norm.default: _spell_out,
          aten.native_group_norm_backward.default: _widen_again,
          **dict.fromkeys(_POOLS, _save_pool)}


def save_less(module: torch.fx.GraphModule, by_pytorch) -> None:
    """Operators whose names `by_pytorch` has stay as they are."""
    graph = module.graph
    changed = [_SAVES[node.target](graph, node) for node in list(graph.nodes)
               if node.target in _SAVES and name_of(node.target) not in by_pytorch]
    if any(changed):
        module.recompile()


# ---- after the partition ----


def mark_owned(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule, results: int) -> None:
    """Marks what the backward graph gets of the forward graph alone: tensors whose memory neither a
    result, nor an input, nor another saved tensor has.  The first outputs are `results`."""
    (output,) = [node for node in forward.graph.nodes if node.op == "output"]
    nodes = [node for node in output.args[0] if isinstance(node, torch.fx.Node)]
    given = {node for node in output.args[0][:results] if isinstance(node, torch.fx.Node)}
    held = {storage_of(node) for node in forward.graph.nodes
            if node.op in ("placeholder", "get_attr") or node in given}
    count = Counter(map(storage_of, dict.fromkeys(nodes)))
    own = {node.name for node in nodes
           if storage_of(node) not in held and count[storage_of(node)] == 1}
    for node in backward.graph.nodes:
        if node.op == "placeholder" and node.name in own:
            node.meta[OWNED] = True
