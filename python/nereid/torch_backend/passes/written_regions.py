"""Calls of regions that write to their operands, as calls that give the new values.

AOTAutograd wraps such a call (auto_functionalized_v2): its results are those of the region and the
new values of what it writes to.  The region's graph ends in copies to its inputs.
"""

from __future__ import annotations

import torch

from nereid.torch_backend.segments.called import is_call
from nereid.torch_backend.segments.regions import is_graph, module_of

_WRAPPED = getattr(torch.ops.higher_order, "auto_functionalized_v2", None)
_CALL = getattr(torch.ops.higher_order, "invoke_subgraph", None)


def _is_written(node) -> bool:
    return (node.op == "call_function" and node.target is _WRAPPED and node.args[0] is _CALL
            and is_graph(node.kwargs.get("subgraph")))


def _operands(node, count: int) -> tuple[list, list] | None:
    """The operands of the region, and the position of each that is written; None: an operand is a
    view of what is written, or two are the same."""
    bases, operands, places = node.kwargs["_all_bases"], [], {}
    for i in range(count):
        if f"arg{i}" in node.kwargs:
            operands.append(node.kwargs[f"arg{i}"])
            continue
        of_view = [name for name in node.kwargs if name.startswith(f"_arg{i}_")]
        base = node.kwargs.get(f"_arg{i}_base_index")
        if base is None or of_view != [f"_arg{i}_base_index"] or base in places:
            return None
        places[base] = i
        operands.append(bases[base])
    return (operands, [places[i] for i in range(len(bases))]) if len(places) == len(bases) else None


def _with_values(module: torch.fx.GraphModule, places: list) -> torch.fx.GraphModule | None:
    """The region as a graph that writes nothing, and also gives the new values of those inputs."""
    graph = torch.fx.Graph()
    results = graph.graph_copy(module.graph, {})
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    values = {node: node for node in inputs}
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        to, value = node.args[:2]
        if to not in values or node.users:
            return None
        values[to] = value
        graph.erase_node(node)
    results = [values.get(result, result) for result in results]
    graph.output((*results, *(values[inputs[i]] for i in places)))
    return torch.fx.GraphModule(module, graph)


def _rewrite(node, made: dict) -> None:
    """Replaces a call; `made` are the regions that were, {name in the module: places, name}."""
    graph, region = node.graph, node.kwargs["subgraph"]
    inner, owner = module_of(region), graph.owning_module
    count = len(inner.graph.find_nodes(op="placeholder"))
    found = _operands(node, count)
    if found is None:
        return
    operands, places = found
    key = region.target, tuple(places)
    if key not in made:
        made[key] = None
        changed = _with_values(inner, places)
        if changed is not None:
            made[key] = f"{region.target}_values_{len(made)}"
            setattr(owner, made[key], changed)
    if made[key] is None:
        return
    with graph.inserting_before(node):
        of = graph.get_attr(made[key])
        call = graph.call_function(_CALL, (of, made[key], *operands))
    call.meta = dict(node.meta)
    node.replace_all_uses_with(call)
    graph.erase_node(node)


def give_written(module: torch.fx.GraphModule) -> None:
    """Rewrites the calls of a graph, and of those that it calls, those within first."""
    inside: dict = {}
    for node in module.graph.nodes:
        if _is_written(node):
            inside[module_of(node.kwargs["subgraph"])] = None
        elif is_call(node):
            inside[module_of(node.args[0])] = None
    for inner in inside:
        give_written(inner)
    made: dict = {}
    for node in [node for node in module.graph.nodes if _is_written(node)]:
        _rewrite(node, made)
    for node in reversed(list(module.graph.nodes)):
        if node.op == "get_attr" and not node.users:
            module.graph.erase_node(node)
