"""Random numbers: seeds are drawn from PyTorch's generator, and elements computed from them.

A graph's nodes that draw become TorchInductor's primitives (inductor_seeds, inductor_lookup_seed,
inductor_random, inductor_randint).  Forward, backward and a recomputation that have the same seed
have the same numbers, and a saved seed takes the place of saved numbers.

Attention with dropout gets a seed by a keyword that Nereid's operators have and PyTorch's lack; its
gradients get it as a result of the attention, which is saved.
"""

from __future__ import annotations

import functools

import torch
from torch.utils.checkpoint import CheckpointPolicy

from nereid.torch_backend.registry import decomposes, drawing
from nereid.torch_backend.text import name_of

aten = torch.ops.aten
ATTENTION = {f"aten._scaled_dot_product_{kind}_attention.default"
             for kind in ("flash", "efficient", "cudnn")}
_SMALLEST = 2.0**-33  # below all drawn numbers but 0
# Nereid's own, and which operand is the seed.
_SEEDED = {"nereid.scaled_dot_product_attention.default": "seed",
           "nereid.scaled_dot_product_attention_backward.default": "philox_seed"}
_SEEDS = "PyTorch's generator gives seeds of the numbers that it draws"
_TAGGED = ("aten", "prims", "nereid")  # libraries where a tag says what draws
_MODES = {"aten.rand.default": "rand", "aten.randn.default": "randn"}


def _prims():
    from torch._inductor import inductor_prims

    return inductor_prims


def _device(node) -> torch.device:
    device = node.kwargs.get("device")
    if name_of(node.target) in ATTENTION:
        device = node.args[0].meta["val"].device
    return torch.device("cpu") if device is None else torch.device(device)


def argument(node, name: str):
    """The value of a parameter; its default where the call has none."""
    for i, parameter in enumerate(node.target._schema.arguments):
        if parameter.name == name:
            if i < len(node.args) and not parameter.kwarg_only:
                return node.args[i]
            return node.kwargs.get(name, parameter.default_value)
    return None


def _drops_attention(node) -> bool:
    return (name_of(node.target) in ATTENTION and "seed" not in node.kwargs
            and argument(node, "dropout_p") != 0)


def _is_drawing(node) -> bool:
    return node.op == "call_function" and (_drops_attention(node) or _draws_tensor(node))


@functools.cache
def _is_random(operator) -> bool:
    return torch.Tag.nondeterministic_seeded in operator.tags


def draws(node) -> bool:
    """Does the node, a call of an operator, draw numbers from a generator of PyTorch's?"""
    if not _is_random(node.target):
        return False
    given = "seed" in node.kwargs or argument(node, "philox_seed") is not None
    return argument(node, "dropout_p") != 0 and not given


def may_draw(node) -> bool:
    """May a node, if PyTorch runs it, take numbers of a generator?"""
    if not isinstance(node.target, torch._ops.OpOverload):
        return isinstance(node.target, torch._ops.HigherOrderOperator)
    return node.target.namespace not in _TAGGED or draws(node)


def is_seeded(node) -> bool:
    """Does the node compute random numbers from a seed, which only Nereid does?"""
    name = name_of(node.target)
    return ("seed" in node.kwargs and name in ATTENTION
            or name in _SEEDED and argument(node, _SEEDED[name]) is not None
            or name.startswith("prims.inductor_rand"))


def without_seed(node) -> dict:
    """The keyword arguments that PyTorch's operator takes."""
    if name_of(node.target) not in ATTENTION:
        return node.kwargs
    return {name: value for name, value in node.kwargs.items() if name != "seed"}


def _draws_tensor(node) -> bool:
    return (name_of(node.target) in (*_MODES, "aten.randint.low")
            and node.kwargs.get("generator") is None)


def _is_seed(node) -> bool:
    """Is the node a number that is drawn to be a seed alone?"""
    return (name_of(node.target) == "aten.randint.low" and not node.meta["val"].dim()
            and all(name_of(user.target) in _SEEDED for user in node.users))


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


# ---- operators as others of uniform and normal numbers ----


@decomposes(aten.uniform.default, table=drawing)
def _uniform(self, low=0.0, high=1.0, *, generator=None):
    if generator is not None or not self.is_floating_point():
        return NotImplemented
    return (torch.rand_like(self, dtype=_wide(self)) * (high - low) + low).to(self.dtype)


@decomposes(aten.normal_functional.default, table=drawing)
def _normal_of(self, mean=0.0, std=1.0, *, generator=None):
    if generator is not None or not self.is_floating_point():
        return NotImplemented
    return (torch.randn_like(self, dtype=_wide(self)) * std + mean).to(self.dtype)


@decomposes(torch.ops.prims.normal.default, table=drawing)
def _normal(shape, *, mean, std, dtype, device, requires_grad, generator=None):
    if generator is not None or not dtype.is_floating_point:
        return NotImplemented
    return torch.randn(shape, dtype=dtype, device=device) * std + mean


@decomposes(aten.bernoulli.p, table=drawing, because=_SEEDS)
def _bernoulli(self, p=0.5, *, generator=None):
    if generator is not None:
        return NotImplemented
    return (torch.rand_like(self, dtype=torch.float32) < p).to(self.dtype)


@decomposes(aten.multinomial.default, table=drawing, because=_SEEDS)
def _multinomial(self, num_samples, replacement=False, *, generator=None):
    # The choice is the first of independent exponential waiting times, each at its category's rate.
    if generator is not None or 0 in self.shape:
        return NotImplemented
    rates = self.to(_wide(self))
    if replacement:
        rates = rates.unsqueeze(-2).expand(*self.shape[:-1], num_samples, self.shape[-1])
    drawn = torch.rand(rates.shape, dtype=rates.dtype, device=self.device)
    rates = rates / -drawn.clamp_min(_SMALLEST).log()
    if replacement or num_samples == 1:
        return rates.argmax(-1, keepdim=not replacement)
    return rates.topk(num_samples, -1).indices


def _wide(tensor) -> torch.dtype:
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32
