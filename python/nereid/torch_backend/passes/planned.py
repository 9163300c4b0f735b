"""The memory that a graph takes when it runs, by the plans of its segments; nothing is compiled."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch

from nereid import _nereid
from nereid.errors import NereidError
from nereid.torch_backend.base.nodes import is_tensor, storage_of, values_of
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.passes.constants import make_constants_in_place
from nereid.torch_backend.passes.size_floats import replace_size_floats
from nereid.torch_backend.segments.called import is_call
from nereid.torch_backend.segments.program import Program
from nereid.torch_backend.segments.regions import module_of
from nereid.torch_backend.segments.segment import Compiled, Refused, SegmentPlan, refusal_of

_ROUNDS = 20  # of nodes that are refused one after the other


@dataclass(frozen=True)
class Planned:
    """Bytes above those that the caller holds anyway: parameters, and the inputs of a forward
    graph."""

    peak: int
    left: int  # when it is over


class Unplanned(Exception):
    """The memory of a graph is not known."""


def _number(size) -> int:
    if isinstance(size, int):
        return size
    if not size.node.has_hint():
        raise Unplanned(f"the size {size} is decided by data")
    return int(size.node.hint)


def _elements(value) -> int:
    found = value.element_size()
    for size in value.shape:
        found *= _number(size)
    return found


class _Draft(Program):
    """A program whose segments are planned, and not compiled."""

    def _begin_or_give_up(self) -> None:
        self._choose({})

    def memory_of(self, segment: Compiled) -> dict:
        """Raises Refused, as compiling it would."""
        options = {name: value for name, value in segment.options.items() if name != "keep"}
        options["device"] = segment.name
        options["ranges"] = [(name, likely, likely, likely) if least <= likely <= most else
                             (name, least, most, 0)
                             for name, least, most, likely in options["ranges"]]
        try:
            graph = _nereid.Graph("<graph>", segment.source.encode(), None, [], [], [])
            return graph.memory(options)
        except NereidError as error:
            raise refusal_of(error, segment.text, segment.plan) from error

    def segments_memory(self) -> dict:
        """{segment: its bytes}, once none is refused."""
        for _ in range(_ROUNDS):
            try:
                return {segment: self.memory_of(segment) for segment in self._segments}
            except Refused as problem:
                self._choose({**self._refused, **problem.nodes})
        raise Unplanned("too many nodes are refused")


class _Run:
    """The tensors that are alive while a draft's steps run, by the memory that they have."""

    def __init__(self, draft: _Draft):
        self.draft, self.memory = draft, draft.segments_memory()
        self.bytes: dict = {}  # of the memory that is alive
        self.last: dict = {}  # the step that reads the memory last
        self.most = 0
        self.regions: dict = {}  # the peak of each that the graph calls
        self._find_last()
        held = [node for node in draft.placeholders if is_tensor(node.meta.get("val"))]
        self.callers = {storage_of(node) for node in held if not self._is_counted(node)}
        for node in held:
            self._take(node.meta["val"])

    def _is_counted(self, node) -> bool:
        return self.draft.kind == "backward" and not node.name.startswith("primals")

    def _find_last(self) -> None:
        steps = self.draft.steps
        for i, step in enumerate(steps):
            for node in self._read(step):
                self.last[storage_of(node)] = i
        for node in self.draft.output.all_input_nodes:
            self.last[storage_of(node)] = len(steps)
        for node in self.draft.placeholders:  # autograd holds them until the graph has run
            if node.name.startswith("tangents"):
                self.last[storage_of(node)] = len(steps)

    @staticmethod
    def _plan(step) -> SegmentPlan | None:
        return step.plan if isinstance(step, Compiled) else (
            step if isinstance(step, SegmentPlan) else None)

    def _read(self, step) -> list:
        plan = self._plan(step)
        if plan is None:
            return step.all_input_nodes
        return [*plan.inputs, *plan.views, *plan.views.values()]

    def _take(self, value) -> None:
        memory = value.untyped_storage()._cdata
        if memory not in self.callers and memory not in self.bytes:
            self.bytes[memory] = _elements(value)

    @property
    def alive(self) -> int:
        return sum(self.bytes.values())

    def _run(self, step) -> None:
        plan = self._plan(step)
        if plan is None:
            if is_call(step):
                self.most = max(self.most, self.alive + self._peak_of(module_of(step.args[0])))
            for value in values_of(step.meta.get("val")):
                if is_tensor(value):
                    self._take(value)
            self.most = max(self.most, self.alive)
        elif isinstance(step, Compiled):
            memory = self.memory[step]
            self.most = max(self.most, self.alive + memory["peak"] - memory["inputs"])
            for node in plan.bases:
                self._take(node.meta["val"])

    def _peak_of(self, region: torch.fx.GraphModule) -> int:
        if region not in self.regions:
            self.regions[region] = planned_memory(region, self.draft.settings, "inference").peak
        return self.regions[region]

    def run(self) -> Planned:
        self.most = self.alive
        for i, step in enumerate(self.draft.steps):
            self._run(step)
            for memory in [one for one in self.bytes if self.last.get(one, -1) <= i]:
                del self.bytes[memory]
        return Planned(self.most, self.alive)


def planned_memory(module: torch.fx.GraphModule, settings: Settings, kind: str) -> Planned:
    """Raises what planning raises.  The module stays as it is."""
    module = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    replace_size_floats(module)
    make_constants_in_place(module)
    return _Run(_Draft(module, settings, kind)).run()
