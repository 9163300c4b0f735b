"""Random numbers: seeds are drawn from PyTorch's generator, and elements computed from them.

A graph's nodes that draw become TorchInductor's primitives (inductor_seeds, inductor_lookup_seed,
inductor_random, inductor_randint).  Forward, backward and a recomputation that have the same seed
have the same numbers, and a saved seed takes the place of saved numbers.

Attention with dropout gets a seed by a keyword that Nereid's operators have and PyTorch's lack; its
gradients get it as a result of the attention, which is saved.
"""

from __future__ import annotations

import torch
from torch.utils.checkpoint import CheckpointPolicy

from nereid.torch_backend.base.draws import ATTENTION, SEEDED, argument, may_draw
from nereid.torch_backend.base.nodes import name_of

_MODES = {"aten.rand.default": "rand", "aten.randn.default": "randn"}


def _prims():
    from torch._inductor import inductor_prims

    return inductor_prims


def _device(node) -> torch.device:
    device = node.kwargs.get("device")
    if name_of(node.target) in ATTENTION:
        device = node.args[0].meta["val"].device
    return torch.device("cpu") if device is None else torch.device(device)


def _drops_attention(node) -> bool:
    return (name_of(node.target) in ATTENTION and "seed" not in node.kwargs
            and argument(node, "dropout_p") != 0)


def _is_drawing(node) -> bool:
    return node.op == "call_function" and (_drops_attention(node) or _draws_tensor(node))


def _draws_tensor(node) -> bool:
    return (name_of(node.target) in (*_MODES, "aten.randint.low")
            and node.kwargs.get("generator") is None)


def _is_seed(node) -> bool:
    """Is the node a number that is drawn to be a seed alone?"""
    return (name_of(node.target) == "aten.randint.low" and not node.meta["val"].dim()
            and all(name_of(user.target) in SEEDED for user in node.users))


def _call(graph, target, args, like):
    """A node, with the value that the target gives for fake tensors."""
    node = graph.call_function(target, args)
    values = torch.fx.node.map_arg(args, lambda n: n.meta["val"])
    with like.fake_mode:
        node.meta["val"] = target(*values)
    return node


def replace_random(module: torch.fx.GraphModule) -> None:
    """Gives the graph's random numbers seeds: one vector of them for each device, or for each part
    of the program between draws by PyTorch, so that generators are asked in the program's order."""
    groups = _groups(module.graph)
    if not groups:
        return
    prims, graph = _prims(), module.graph
    for device, nodes in groups:
        with graph.inserting_before(nodes[0]):
            like = _first(nodes[0].meta["val"])
            seeds = _call(graph, prims.seeds, (len(nodes), device), like)
            # Drawn again in the backward pass they would be others, as under
            # torch._functorch.config.activation_memory_budget.
            seeds.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        for i, node in enumerate(nodes):
            _replace(graph, node, seeds, i)
    module.recompile()


def _groups(graph) -> list:
    """(device, nodes that draw there with no draw by PyTorch among them)"""
    groups: list = []
    by_device: dict = {}
    for node in graph.nodes:
        if _is_drawing(node):
            device = _device(node)
            if device not in by_device:
                by_device[device] = []
                groups.append((device, by_device[device]))
            by_device[device].append(node)
        elif node.op == "call_function" and may_draw(node):
            by_device = {}
    return groups


def _first(value):
    return value[0] if isinstance(value, (list, tuple)) else value


def _replace(graph, node, seeds, index) -> None:
    prims, value = _prims(), _first(node.meta["val"])
    with graph.inserting_before(node):
        seed = _call(graph, prims.lookup_seed, (seeds, index), value)
        if name_of(node.target) in ATTENTION:
            node.kwargs = {**node.kwargs, "seed": seed}
            return
        mode = _MODES.get(name_of(node.target))
        if _is_seed(node):
            made = seed
        elif mode:
            made = _call(graph, prims.random, (node.args[0], seed, mode), value)
        else:
            made = _call(graph, prims.randint, (*node.args[:3], seed), value)
        if made.meta["val"].dtype != value.dtype:
            convert = torch.ops.prims.convert_element_type.default
            made = _call(graph, convert, (made, value.dtype), value)
    made.meta = {**node.meta, "val": made.meta["val"]}
    node.replace_all_uses_with(made)
    graph.erase_node(node)
