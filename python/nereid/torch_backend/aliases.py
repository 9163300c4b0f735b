"""Calls whose inputs overlap in memory where those of the compiled call did not.

A graph that writes to an input is right for inputs that overlap as they did when it was compiled.
PyTorch guards this only for tensors that are the same object, and for open sizes; PyTorch's
operators run any other call, as eager mode does.  AOTAutograd also takes a view of an input that
overlaps a written one from another place in memory, so that such graphs are not compiled.
"""

from __future__ import annotations

import functools
from typing import Callable

import torch

from nereid.errors import NereidError
from nereid.torch_backend.base.failures import Original, Warnings
from nereid.torch_backend.base.overlaps import Overlaps, storage_of, tensors_of

_WHY = "inputs overlap in memory, and not as in the call that the graph was compiled for"


class ViewOfOverlap(NereidError):
    """A result is a view of an input that overlaps a written one."""


def _returns_views(graph: torch.fx.Graph, indices: set) -> bool:
    """Is a result of TorchDynamo's graph a view of one of these inputs?"""
    places = [node for node in graph.nodes if node.op == "placeholder"]
    storages = {storage_of(places[i].meta.get("example_value")) for i in indices}
    (output,) = [node for node in graph.nodes if node.op == "output"]
    return any(node not in places and storage_of(node.meta.get("example_value")) in storages
               for node in output.all_input_nodes)


def layout_of(graph: torch.fx.Graph, inputs, written: frozenset) -> Overlaps | None:
    """How the inputs of TorchDynamo's graph overlap, which writes to some; None: no call can have
    others."""
    tensors = tensors_of(inputs)
    if not written & tensors.keys() or len(tensors) < 2:
        return None
    layout = Overlaps(tensors, written)
    overlapping = {i for pair in layout.overlaps for i in pair}
    if overlapping and _returns_views(graph, overlapping):
        raise ViewOfOverlap("a result is a view of an input that overlaps another, which the graph "
                            "writes to")
    return layout


def overlaps_by_pytorch(function: Callable, original: Original, inputs, written: frozenset,
                        warnings: Warnings) -> Callable:
    """The function that a graph was compiled to, which writes to some inputs; calls whose inputs
    overlap otherwise are PyTorch's."""
    layout = layout_of(original.graphs[0][1], inputs, written)
    if layout is None:
        return function
    for _, graph in original.graphs:
        for node in graph.nodes:
            node.meta = {}
    eager: list = []

    @functools.wraps(function)
    def call(*args):
        if layout.holds(args):
            return function(*args)
        if not eager:
            eager.append(original.function())
        warnings.repeat(_WHY)
        return eager[0](*args)

    return call
