"""Random numbers: seeds are drawn from PyTorch's generator, and elements computed from them.

A graph's nodes that draw become TorchInductor's primitives (inductor_seeds, inductor_lookup_seed,
inductor_random, inductor_randint).  Forward, backward and a recomputation that have the same seed
have the same numbers, and a saved seed takes the place of saved numbers.
"""

from __future__ import annotations

import torch

_MODES = {"aten.rand.default": "rand", "aten.randn.default": "randn"}


def _prims():
    from torch._inductor import inductor_prims

    return inductor_prims


def _device(node) -> torch.device:
    device = node.kwargs.get("device")
    return torch.device("cpu") if device is None else torch.device(device)


def _is_drawing(node) -> bool:
    return (node.op == "call_function" and str(node.target) in (*_MODES, "aten.randint.low")
            and node.kwargs.get("generator") is None)


def _call(graph, target, args, like):
    """A node, with the value that the target gives for fake tensors."""
    node = graph.call_function(target, args)
    values = torch.fx.node.map_arg(args, lambda n: n.meta["val"])
    with like.fake_mode:
        node.meta["val"] = target(*values)
    return node


def replace_random(module: torch.fx.GraphModule) -> None:
    """Gives the graph's random numbers seeds: one vector of them for each device."""
    drawing = [node for node in module.graph.nodes if _is_drawing(node)]
    if not drawing:
        return
    prims, graph = _prims(), module.graph
    by_device: dict = {}
    for node in drawing:
        by_device.setdefault(_device(node), []).append(node)
    for device, nodes in by_device.items():
        with graph.inserting_before(nodes[0]):
            seeds = _call(graph, prims.seeds, (len(nodes), device), nodes[0].meta["val"])
        for i, node in enumerate(nodes):
            _replace(graph, node, seeds, i)
    graph.lint()
    module.recompile()


def _replace(graph, node, seeds, index) -> None:
    prims, value = _prims(), node.meta["val"]
    with graph.inserting_before(node):
        seed = _call(graph, prims.lookup_seed, (seeds, index), value)
        mode = _MODES.get(str(node.target))
        if mode:
            made = _call(graph, prims.random, (node.args[0], seed, mode), value)
        else:
            made = _call(graph, prims.randint, (*node.args[:3], seed), value)
        if made.meta["val"].dtype != value.dtype:
            convert = torch.ops.prims.convert_element_type.default
            made = _call(graph, convert, (made, value.dtype), value)
    made.meta = {**node.meta, "val": made.meta["val"]}
    node.replace_all_uses_with(made)
    graph.erase_node(node)
