"""The partition of a joint graph under a budget of memory.

PyTorch's solver takes a budget between 0 (the inputs alone are saved, all else is computed again)
and 1 (what costs no time is computed again), and chooses by the bytes that are saved.  What the
backward pass computes again takes memory, too, so that a smaller budget may need more.  Here the
budgets of a fixed grid are solved, from 1 down to the one that is asked for, and each partition is
planned.  One takes the place of the one before it if neither its peak nor what it saves is larger:
both never rise when the budget falls, nor do sums over several graphs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nereid.torch_backend.base.draws import draws_remain, drawing
from nereid.torch_backend.base.failures import may_be_caught
from nereid.torch_backend.base.log import log
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.passes.planned import planned_memory
from nereid.torch_backend.passes.saved import mark_owned
from nereid.torch_backend.segments.called import called_modules

_GRID = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
# The backward pass draws other numbers under a budget of exactly 0, which saves no seeds.
_LEAST_BUDGET = 1e-9


@dataclass(frozen=True)
class Memory:
    """Bytes of a partition, by the plans of its graphs."""

    peak: int
    saved: int

    def fits(self, other: Memory) -> bool:
        """Is it no more than another, and not the same?"""
        return self != other and self.peak <= other.peak and self.saved <= other.saved


def memory_of(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule,
              settings: Settings) -> Memory:
    first = planned_memory(forward, settings, "forward")
    then = planned_memory(backward, settings, "backward")
    return Memory(max(first.peak, then.peak), first.left)


def _budget_of(module: torch.fx.GraphModule, settings: Settings) -> float:
    """What the option, the graph's nodes or PyTorch's settings say; 1 if regions draw, which would
    draw other numbers in the backward pass."""
    if any(draws_remain(called.graph) for called in called_modules(module)):
        return 1
    if settings.memory_budget is not None:
        return settings.memory_budget
    said = [node.meta["memory_budget"] for node in module.graph.nodes
            if isinstance(node.meta.get("memory_budget"), float)]
    return said[0] if said else torch._functorch.config.activation_memory_budget


def _results(module: torch.fx.GraphModule) -> tuple:
    (output,) = [node for node in module.graph.nodes if node.op == "output"]
    return tuple(str(node) for node in output.args[0])


def _draws_again(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule) -> bool:
    """Does the backward graph draw numbers that the forward graph draws?  They would be others."""
    return not drawing(forward.graph).isdisjoint(drawing(backward.graph))


def _smaller(solve, first: tuple, budget: float, settings: Settings) -> tuple:
    """The partition for the budget, by those of the grid's larger budgets."""
    chosen, least = first, memory_of(*first, settings)
    seen = {_results(first[0])}
    log.info("memory budget 1: %d bytes at most, %d saved", least.peak, least.saved)
    for step in _GRID[1:]:
        if step < budget:
            break
        made = solve(step or _LEAST_BUDGET)
        if _results(made[0]) in seen or _draws_again(*made):
            continue
        seen.add(_results(made[0]))
        memory = memory_of(*made, settings)
        taken = memory.fits(least)
        log.info("memory budget %g: %d bytes at most, %d saved%s", step, memory.peak, memory.saved,
                 "" if taken else "; not taken")
        if taken:
            chosen, least = made, memory
    return chosen


def partition_by_budget(module: torch.fx.GraphModule, inputs, settings: Settings,
                        **kwargs) -> tuple:
    """The forward and the backward graph."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    budget = _budget_of(module, settings)
    if not 0 <= budget <= 1:
        raise ValueError(f"a memory budget is between 0 and 1, not {budget}")
    for node in module.graph.nodes:
        node.meta.pop("memory_budget", None)

    def solve(step: float) -> tuple:
        with torch._functorch.config.patch(activation_memory_budget=step):
            made = min_cut_rematerialization_partition(module, inputs, **kwargs)
        mark_owned(*made, kwargs["num_fwd_outputs"])
        return made

    first = solve(1)
    if budget == 1:
        return first
    try:
        return _smaller(solve, first, budget, settings)
    except Exception as error:
        if settings.verify or not may_be_caught(error):
            raise
        log.warning("memory budget %g has no effect, plans are not known: %s", budget, error)
        return first
