"""nereid.explain(): a report on the graphs of a model, their kernels, and what PyTorch runs."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from nereid.torch_backend.base.log import counted


@dataclass
class Break:
    """A place where TorchDynamo ended a graph before the function was over."""

    reason: str
    line: str


@dataclass
class Fallback:
    """Calls of an operator that PyTorch runs."""

    operator: str
    reason: str
    line: str
    """The line of the model, with its file; "" where PyTorch does not know it."""
    count: int


@dataclass
class SegmentReport:
    """An executable: `table` has its kernels with what they must move and compute, the least time
    of that, and the measured time."""

    title: str
    device: str
    nodes: int
    kernels: int
    launches: int
    source: str
    table: str


@dataclass
class GraphReport:
    """A graph: `kind` is "inference", "forward" or "backward", `seconds` what compiling took."""

    kind: str
    number: int
    nodes: int
    seconds: float
    segments: list[SegmentReport]
    fallbacks: list[Fallback]
    reads: list[Fallback]
    """What the host reads of the data, by calls that compute nothing."""
    problem: str = ""
    """Why the rest of the report is missing, if it is."""

    @property
    def kernels(self) -> int:
        return sum(segment.kernels for segment in self.segments)

    @property
    def launches(self) -> int:
        return sum(segment.launches for segment in self.segments)


@dataclass
class Explanation:
    """The report; str() is a page for people.  Times are in seconds."""

    graphs: list[GraphReport] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    dynamo_seconds: float = 0.0
    aot_seconds: float = 0.0
    nereid_seconds: float = 0.0
    first_run_seconds: float = 0.0

    @property
    def fallbacks(self) -> list[Fallback]:
        return [one for graph in self.graphs for one in graph.fallbacks]

    def __str__(self) -> str:
        lines = [f"{_count(len(self.graphs), 'graph')}, {_count(len(self.breaks), 'graph break')}, "
                 f"{_count(sum(one.count for one in self.fallbacks), 'node')} by PyTorch",
                 f"compiled in {self.dynamo_seconds:.2f} s of TorchDynamo, "
                 f"{self.aot_seconds:.2f} of AOTAutograd, {self.nereid_seconds:.2f} of Nereid; "
                 f"the first call took {self.first_run_seconds:.2f} s, all included"]
        for one in self.breaks:
            lines.append(f"graph break: {one.reason}")
            lines += [f"    in {one.line}"] if one.line else []
        for graph in self.graphs:
            lines += ["", *_graph_lines(graph)]
        lines += ["", *_LEGEND] if self.graphs else []
        return "\n".join([*lines, ""])


_LEGEND = ("read, written: bytes that a kernel must move at least; ops: arithmetic; floor: the",
           "least time that these take on the device; reached: floor / time; share: of the run.",
           "must move: inputs and results, once; more: what the run takes longer, by cause.",
           "covers: nodes that a kernel stores; within: those that it has in registers alone.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _graph_lines(graph: GraphReport) -> list[str]:
    lines = [f"{graph.kind} graph {graph.number}: {_count(graph.nodes, 'node')}, "
             f"{_count(len(graph.segments), 'segment')}, {_count(graph.kernels, 'kernel')}, "
             f"{_count(graph.launches, 'launch').replace('launchs', 'launches')}, "
             f"{graph.seconds:.2f} s"]
    lines += [f"  {graph.problem}"] if graph.problem else []
    for one in graph.fallbacks:
        times = f" ({one.count} times)" if one.count > 1 else ""
        lines.append(f"  PyTorch runs {one.operator}{times}: {one.reason}")
        lines += [f"      in {one.line}"] if one.line else []
    for one in graph.reads:
        lines.append(f"  {one.reason} by {one.operator}")
        lines += [f"      in {one.line}"] if one.line else []
    for i, segment in enumerate(graph.segments):
        lines.append(f"  segment {i} on {segment.device}: {_count(segment.nodes, 'node')}")
        lines += [f"    {line}".rstrip() for line in segment.table.splitlines()]
    return lines


class _Recorder:
    """Collects the programs of one compilation, and the inputs of their segments."""

    def __init__(self):
        self.programs: list = []
        self.inputs: dict = {}
        self.breaks: list[Break] = []

    def watch(self, segment) -> Callable:
        """The segment as a function that keeps copies of the first inputs."""
        def call(values: list):
            if segment not in self.inputs:
                self.inputs[segment] = [value.detach().clone() if isinstance(value, torch.Tensor)
                                        else value for value in values]
            return segment(values)

        return call

    def note_break(self, module) -> None:
        why = getattr(module, "compile_subgraph_reason", None)
        if why is None or not why.graph_break:
            return
        reason = why.reason.splitlines()[0]
        frame = why.user_stack[-1] if why.user_stack else None
        line = "" if frame is None else f"{frame.filename}:{frame.lineno} in {frame.name}"
        if frame is not None and frame.line:
            line += f": {frame.line}"
        self.breaks.append(Break(reason, line))


def _table(segment, values) -> str:
    """The executable's table with measured times; of what it needs alone if it never ran."""
    if values is None:
        return "it did not run"
    try:
        return segment.explain(*values)
    except Exception as error:
        return _no_report(error)


def _no_report(error: Exception) -> str:
    """What a part of the report says that can't be made; the others are."""
    return f"there is no report: {type(error).__name__}: {error}"


def _fill(report: GraphReport, program, inputs: dict) -> None:
    for segment in program.segments:
        table = _table(segment, inputs.get(segment))
        info = segment.executable.info
        report.segments.append(SegmentReport(
            segment.title, segment.name, len(segment.plan.nodes), info["kernels"],
            info["launches"], segment.source, table))
    report.fallbacks, report.reads = ([Fallback(*key, count) for key, count in found.items()]
                                      for found in map(counted, (program.reasons, program.reads)))


def _graph_report(program, inputs: dict) -> GraphReport:
    report = GraphReport(program.kind, program.number, len(program.graph.nodes), program.seconds,
                         [], [], [])
    try:
        _fill(report, program, inputs)
    except Exception as error:
        report.problem = _no_report(error)
    return report


def _leaves(value: Any) -> list:
    return torch.utils._pytree.tree_leaves(value)


def _backward(result: Any) -> None:
    losses = [leaf.float().sum() for leaf in _leaves(result)
              if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if losses:
        sum(losses).backward()


@contextlib.contextmanager
def _kept_state(model, inputs):
    """Parameters, buffers and gradients are afterwards as they were."""
    tensors = [leaf for leaf in _leaves(inputs) if isinstance(leaf, torch.Tensor)]
    buffers: list = []
    if isinstance(model, torch.nn.Module):
        tensors += model.parameters()
        buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    gradients = [(tensor, tensor.grad) for tensor in tensors if tensor.is_leaf]
    for tensor, _ in gradients:
        tensor.grad = None
    try:
        yield
    finally:
        for tensor, gradient in gradients:
            tensor.grad = gradient
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)


def explain(model: Callable, *inputs, train: bool = False, mode: str | None = None,
            options: dict | None = None, dynamic: bool | None = None, **kwargs) -> Explanation:
    """Compiles the model anew, runs it on these inputs and keywords, and tells what came of it.

    With `train` the backward pass runs too, for the sum of all results; gradients and buffers are
    afterwards as they were.  `mode`, `options` and `dynamic` are torch.compile's.  A model that is
    compiled already is compiled again, without the graphs that it has.
    """
    from torch._dynamo.utils import cumulative_time_spent_ns as spent

    from nereid.torch_backend import backend

    model = getattr(model, "_orig_mod", model)
    recorder = _Recorder()

    def compiler(module, examples, **_):
        recorder.note_break(module)
        return backend(module, examples, mode=mode, options=options, recorder=recorder)

    def seconds(name: str) -> float:
        return spent.get(name, 0) / 1e9

    names = ("entire_frame_compile", "backend_compile", "entire_backward_compile")
    before = [seconds(name) for name in names]
    room = torch._dynamo.config.patch(recompile_limit=10**6, accumulated_recompile_limit=10**9)
    with room, _kept_state(model, (inputs, kwargs)), torch.set_grad_enabled(train):
        begin = time.perf_counter()
        result = torch.compile(model, backend=compiler, dynamic=dynamic)(*inputs, **kwargs)
        if train:
            _backward(result)
        first = time.perf_counter() - begin
        del result
        frame, inner, back = [seconds(name) - old for name, old in zip(names, before)]
        graphs = [_graph_report(program, recorder.inputs) for program in recorder.programs]
    ours = sum(graph.seconds for graph in graphs)
    return Explanation(graphs, recorder.breaks, max(frame - inner, 0.0),
                       max(inner + back - ours, 0.0), ours, first)
