"""Sums of several sizes, which TorchDynamo makes of additions one after the other."""

from __future__ import annotations

import operator

import torch


def _value_of(operand):
    return operand.meta["val"] if isinstance(operand, torch.fx.Node) else operand


def expand_size_sums(module: torch.fx.GraphModule) -> None:
    """Adds the operands of each sum one by one, as graphs have additions."""
    graph, found = module.graph, False
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not torch.sym_sum:
            continue
        total, *others = node.args[0]
        with graph.inserting_before(node):
            for operand in others:
                made = graph.call_function(operator.add, (total, operand))
                made.meta = {**node.meta, "val": _value_of(total) + _value_of(operand)}
                total = made
        if isinstance(total, torch.fx.Node):
            node.replace_all_uses_with(total)
            graph.erase_node(node)
            found = True
    if found:
        module.recompile()
