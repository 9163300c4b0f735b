"""Floats of sizes, as n / (n - 1) of a batch that is open, computed where they are used.

They are numbers of Python, which kernels do not take.  Here they become tensors without axes, in
float64 as Python has them; such a tensor leaves the dtype of what it is combined with as it is.
"""

from __future__ import annotations

import operator

import torch

aten = torch.ops.aten
_TENSORS = {operator.truediv: aten.div.Tensor, operator.mul: aten.mul.Tensor,
            operator.add: aten.add.Tensor, operator.sub: aten.sub.Tensor,
            operator.neg: aten.neg.default}
_SAME = (torch.sym_float,)
# Operators whose last operand may be a number or a tensor.
_USERS = {form: getattr(aten, form._schema.name.split("::")[1]).Tensor
          for name in ("add", "sub", "mul", "div")
          for form in (getattr(aten, name).Tensor, getattr(aten, name).Scalar)}


def _is_float(value) -> bool:
    return isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.SymFloat)


class _Tensors:
    """The tensors of a graph's floats, each made once for a device, in front of its first use."""

    def __init__(self, graph, fake_mode):
        self.graph, self.fake_mode, self.made = graph, fake_mode, {}

    def _call(self, target, *args, **kwargs):
        made = self.graph.call_function(target, args, kwargs)
        values = torch.fx.node.map_arg(args, lambda node: node.meta["val"])
        with self.fake_mode:
            made.meta["val"] = target(*values, **kwargs)
        return made

    def of(self, value, device):
        """None: it is made of other things than sizes."""
        if isinstance(value, (int, float)):
            return self._call(aten.full.default, [], value, dtype=torch.float64, device=device)
        if not isinstance(value, torch.fx.Node):
            return None
        if (value, device) not in self.made:
            self.made[value, device] = self._make(value, device)
        return self.made[value, device]

    def _make(self, node, device):
        if isinstance(node.meta.get("val"), (int, torch.SymInt)):
            return self._call(aten.full.default, [], node, dtype=torch.float64, device=device)
        if node.target in _SAME:
            return self.of(node.args[0], device)
        if node.target not in _TENSORS:
            return None
        operands = [self.of(operand, device) for operand in node.args]
        return None if None in operands else self._call(_TENSORS[node.target], *operands)


def _drop_unused(graph) -> None:
    for node in reversed(graph.nodes):
        if node.target in (*_TENSORS, *_SAME) and _is_float(node) and not node.users:
            graph.erase_node(node)


def replace_size_floats(module: torch.fx.GraphModule) -> None:
    """Gives sums and products of tensors such floats as tensors."""
    graph, tensors = module.graph, None
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in _USERS or not _is_float(node.args[1]):
            continue
        value = node.meta["val"]
        same = node.args[0].meta["val"]
        if not same.dim() or not value.dtype.is_floating_point or same.dtype != value.dtype:
            continue  # the dtype would become that of the float
        tensors = tensors or _Tensors(graph, value.fake_mode)
        with graph.inserting_before(node):
            made = tensors.of(node.args[1], value.device)
        if made is not None:
            node.target = _USERS[node.target]
            node.update_arg(1, made)
    if tensors is not None:
        _drop_unused(graph)
        module.recompile()
