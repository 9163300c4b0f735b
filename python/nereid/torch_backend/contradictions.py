"""Calls in which sizes that data decides contradict what their graph was compiled for.

PyTorch runs such a call by the operators of the program.  They raise what eager mode raises, or
give what it gives: TorchDynamo takes two counts that are added to be equal, where eager mode also
broadcasts a count of 1.
"""

from __future__ import annotations

import functools
from typing import Callable

import torch

from nereid.errors import IndexOutOfRange, InternalError
from nereid.torch_backend.base.failures import Original, Warnings
from nereid.torch_backend.segments.verify import WrongResult

_OTHERS = (IndexOutOfRange, InternalError, WrongResult, torch.OutOfMemoryError)
_ASSERTED = "Runtime assertion failed for expression "


def _is_number(node) -> bool:
    return isinstance(node.meta.get("example_value"), (bool, int, torch.SymInt, torch.SymBool))


def _shape_env_of(graph: torch.fx.Graph):
    for node in graph.nodes:
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and getattr(value, "fake_mode", None) is not None:
            return value.fake_mode.shape_env
    return None


def _is_of_operator(check) -> bool:
    """Did an operator assert it, and not the program?"""
    frames = check.stack.summary() if hasattr(check.stack, "summary") else ()
    return any(frame.name == "__torch_dispatch__" for frame in frames)


def _broadcasts(graph: torch.fx.Graph) -> list[str]:
    """The messages of assertions that operators which broadcast make, that two counts are equal."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    shape_env = _shape_env_of(graph)
    checks = getattr(shape_env, "deferred_runtime_asserts", {}).values()
    found = []
    for check in (check for some in checks for check in some):
        sides = getattr(check.expr, "args", ())
        counts = (type(check.expr).__name__ == "Equality"
                  and all(side.is_symbol and free_unbacked_symbols(side) for side in sides))
        if counts and not set(sides) & set(shape_env.replacements) and _is_of_operator(check):
            found.append(f"{_ASSERTED}{check.expr} on")
    return found


def _reads_sizes(graph: torch.fx.Graph) -> bool:
    """Does anything but assertions use a size?  TorchDynamo has it of either of two tensors whose
    sizes it takes to be equal."""
    asserts = torch.ops.aten._assert_scalar.default
    return any(_is_number(node) and not all(_is_number(user) or user.target is asserts
                                            for user in node.users) for node in graph.nodes)


def _without_broadcasts(graph: torch.fx.Graph) -> None:
    """Erases the assertions that eager mode does not make."""
    messages = () if _reads_sizes(graph) else tuple(_broadcasts(graph))
    for node in list(graph.nodes) if messages else ():
        if node.target is torch.ops.aten._assert_scalar.default and str(
                node.args[1]).startswith(messages):
            graph.erase_node(node)


def _eager_form(original: Original) -> torch.fx.GraphModule:
    """The module with the graphs that it had, and those of its regions; what they were compiled
    from changes."""
    made: dict = {}
    for part, graph in reversed(original.graphs):  # regions come after what has them
        for node in graph.nodes:
            node.meta = {}
        made[part] = module = torch.fx.GraphModule(part, graph)
        for name, inner in part.named_children():
            if inner in made and hasattr(module, name):
                setattr(module, name, made[inner])
    return made[original.module]


def _is_contradiction(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and not isinstance(error, _OTHERS)


def repeated_by_pytorch(function: Callable, original: Original, warnings: Warnings) -> Callable:
    """The function that a graph was compiled to, which writes to no input: what it has written
    would be read again.  Its calls that contradict it are PyTorch's."""
    if not original.decides_sizes:
        return function
    for _, graph in original.graphs:
        _without_broadcasts(graph)
    eager = _eager_form(original)

    @functools.wraps(function)
    def call(*args):
        try:
            return function(*args)
        except Exception as error:
            if not _is_contradiction(error):
                raise
            problem = error
        result = eager.forward(*args)  # a call of the module prints errors
        warnings.repeat(f"the data contradicts sizes that it was compiled for: {problem}")
        return result

    return call
