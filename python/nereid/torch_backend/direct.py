"""Calls of graphs without gradients, past what AOTAutograd puts around their functions.

Its wrappers do nothing for a graph whose inputs and results are as they are, in a fifth of a small
graph's call.  The first call takes that way all the same: AOTAutograd then checks what custom
operators return.
"""

from __future__ import annotations

from typing import Callable

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass


def _has_parts(module: torch.fx.GraphModule, inputs) -> bool:
    """Is an input or a result a tensor that is made of others, which AOTAutograd takes apart?"""
    (output,) = module.graph.find_nodes(op="output")
    results = [node.meta.get("example_value") for node in output.all_input_nodes]
    return any(map(is_traceable_wrapper_subclass, (*inputs, *results)))


def _may_be_direct(programs: list, module: torch.fx.GraphModule, inputs) -> bool:
    """Is the graph one program, of the same inputs and results, whose dtypes are not chosen by
    autocast?"""
    if len(programs) != 1 or programs[0].kind != "inference" or not programs[0].is_bare:
        return False
    if next(module.parameters(), None) is not None or next(module.buffers(), None) is not None:
        return False
    if torch._functorch.config.debug_assert or torch._dynamo.config.caching_precompile:
        return False
    if len(programs[0].writes) != len(inputs):
        return False
    plain = all(isinstance(value, (torch.Tensor, int, torch.SymInt)) for value in inputs)
    return plain and not (torch._C._is_any_autocast_enabled() or _has_parts(module, inputs))


def direct(function: Callable, programs: list, module: torch.fx.GraphModule, inputs) -> Callable:
    """The function that AOTAutograd made of a graph; where its wrappers do nothing, later calls are
    the program's alone."""
    try:
        if not _may_be_direct(programs, module, inputs):
            return function
    except AttributeError:  # of another PyTorch
        return function
    (program,), run = programs, None

    def call(*args):
        nonlocal run
        if run is None:
            results = function(*args)
            run = program.function
            return results
        if not torch.is_grad_enabled():
            return run([*args])
        torch._C._set_grad_enabled(False)
        try:
            return run([*args])
        finally:
            torch._C._set_grad_enabled(True)

    return call
