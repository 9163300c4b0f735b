"""Graphs that a program calls: regions of `torch.compiler.nested_compile_region`.

PyTorch traces such a region once, and the graph around it has a call of the region's graph
(invoke_subgraph) for each use.  The region is a program of its own, which is compiled once.
"""

from __future__ import annotations

import operator
from typing import Callable

import torch

from nereid.torch_backend.segments.regions import is_graph, module_of

_CALL = getattr(torch.ops.higher_order, "invoke_subgraph", None)


def is_call(node) -> bool:
    return node.op == "call_function" and node.target is _CALL and is_graph(node.args[0])


def is_called_graph(node) -> bool:
    """Is the node a graph that is called, and used in no other way?"""
    return is_graph(node) and bool(node.users) and all(map(is_call, node.users))


def operands_of(node) -> tuple:
    """The operands of a call, behind the graph and its name."""
    return tuple(node.args[2:])


def called_modules(module: torch.fx.GraphModule) -> list:
    """The modules of all graphs that a graph calls, each once, those within them first."""
    found: dict = {}
    for node in module.graph.nodes:
        if is_call(node):
            inner = module_of(node.args[0])
            found.update(dict.fromkeys([*called_modules(inner), inner]))
    return list(found)


class Called:
    """A program with the arguments of a call."""

    def __init__(self, program):
        self.program = program

    def __call__(self, args: list):
        return self.program.call(args)


class CalledPrograms:
    """The programs of the regions that one program calls, each made at the first call."""

    def __init__(self, make: Callable):
        self._make, self._made = make, {}

    def of(self, node) -> Called:
        name = node.args[0].target
        module = operator.attrgetter(name)(node.graph.owning_module)
        if module not in self._made:
            self._made[module] = Called(self._make(module, name))
        return self._made[module]

    def __iter__(self):
        return iter([called.program for called in self._made.values()])
