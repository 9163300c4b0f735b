"""Which nodes draw random numbers, and which compute them from a seed."""

from __future__ import annotations

import functools

import torch

from nereid.torch_backend.base.nodes import name_of

ATTENTION = {f"aten._scaled_dot_product_{kind}_attention.default"
             for kind in ("flash", "efficient", "cudnn")}
# Nereid's own, and which operand is the seed.
SEEDED = {"nereid.scaled_dot_product_attention.default": "seed",
          "nereid.scaled_dot_product_attention_backward.default": "philox_seed"}
_TAGGED = ("aten", "prims", "nereid")  # libraries where a tag says what draws


def argument(node, name: str):
    """The value of a parameter; its default where the call has none."""
    for i, parameter in enumerate(node.target._schema.arguments):
        if parameter.name == name:
            if i < len(node.args) and not parameter.kwarg_only:
                return node.args[i]
            return node.kwargs.get(name, parameter.default_value)
    return None


@functools.cache
def _is_random(operator) -> bool:
    return torch.Tag.nondeterministic_seeded in operator.tags


def draws(node) -> bool:
    """Does the node, a call of an operator, draw numbers from a generator of PyTorch's?"""
    if not _is_random(node.target):
        return False
    given = "seed" in node.kwargs or argument(node, "philox_seed") is not None
    return argument(node, "dropout_p") != 0 and not given


def drawing(graph: torch.fx.Graph) -> set:
    """The names of nodes for which PyTorch draws numbers, by no seed; seeds are such numbers."""
    return {node.name for node in graph.nodes
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
            and draws(node) and not is_seeded(node)}


def draws_remain(graph: torch.fx.Graph) -> bool:
    return bool(drawing(graph))


def may_draw(node) -> bool:
    """May a node, if PyTorch runs it, take numbers of a generator?"""
    if not isinstance(node.target, torch._ops.OpOverload):
        return isinstance(node.target, torch._ops.HigherOrderOperator)
    return node.target.namespace not in _TAGGED or draws(node)


def is_seeded(node) -> bool:
    """Does the node compute random numbers from a seed, which only Nereid does?"""
    name = name_of(node.target)
    return ("seed" in node.kwargs and name in ATTENTION
            or name in SEEDED and argument(node, SEEDED[name]) is not None
            or name.startswith("prims.inductor_rand"))
