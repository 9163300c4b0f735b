"""A compiled graph as a function of Python's: segments, and what PyTorch runs between them."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import threading
import time
import weakref
from typing import Any, Callable

import torch

from nereid.errors import TOOL
from nereid.host_memory import CAN_TELL
from nereid.torch_backend.base.draws import is_seeded
from nereid.torch_backend.base.failures import Warnings, boxed, eager_call, has_eager_form
from nereid.torch_backend.base.layout import (has_plain_strides, is_known, is_plain, may_be_nothing,
                                              memory_order)
from nereid.torch_backend.base.log import tell
from nereid.torch_backend.base.nodes import is_detached, is_host, is_tensor
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.base.wrappers import change_nothing
from nereid.torch_backend.segments.called import (CalledPrograms, is_call, is_called_graph,
                                                  operands_of)
from nereid.torch_backend.segments.flex import count_scores, is_flex
from nereid.torch_backend.segments.partition import Partition, Segment, partition
from nereid.torch_backend.segments.reasons import is_counted
from nereid.torch_backend.segments.segment import (Compiled, Refused, SegmentPlan, decided_sizes,
                                                   symbols_of)
from nereid.torch_backend.segments.text import order_of
from nereid.torch_backend.segments.verify import Verified

_ROUNDS = 1000
# Operators whose results have the strides of PyTorch's rules also without elements.
_KEEP_STRIDES = {torch.ops.aten.nonzero.default, torch.ops.aten.argwhere.default,
                 torch.ops.aten.index.Tensor, torch.ops.aten._to_copy.default,
                 torch.ops.prims.convert_element_type.default}


def view_of(base, size, stride, offset):
    """The elements of `base` from `offset` on, as another tensor of the same memory."""
    return base.as_strided(size, stride, base.storage_offset() + offset)


def conform(tensor, stride):
    """The tensor with these strides, which the graph relies on."""
    if tensor.stride() == stride:
        return tensor
    result = torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype, device=tensor.device)
    to = result
    for axis, step in enumerate(stride):
        if step == 0 and to.shape[axis] > 1:  # its elements are one
            to, tensor = to.narrow(axis, 0, 1), tensor.narrow(axis, 0, 1)
    to.copy_(tensor)
    return result


def of_nothing(tensor, stride):
    """The tensor; one without elements has the strides of the operator that made it, or plain ones
    (None)."""
    if tensor.numel():
        return tensor
    if stride is None:
        return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return tensor.as_strided(tensor.shape, stride)


def function_of(source: str, values: dict) -> Callable:
    """The function that is called `call` in that text, which has these names."""
    names = {**values, "view_of": view_of, "conform": conform,
             "of_nothing": of_nothing, "math": math, "torch": torch}
    exec(compile(source, "<nereid program>", "exec"), names)
    return names["call"]


class _Numbers:
    """Numbers of Python as expressions of the names of symbols."""

    def __init__(self):
        from torch.utils._sympy.printers import PythonPrinter

        self.printer = PythonPrinter()

    def text(self, value: Any) -> str:
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return f"({self.printer.doprint(value.node.expr)})"
        return repr(value)

    def tuple(self, values) -> str:
        return "(" + "".join(f"{self.text(value)}, " for value in values) + ")"


def refused_by(action: Callable, segments: list[Compiled]) -> Refused | None:
    """What an action refuses of segments, which it takes one by one; None: nothing."""
    found = []
    for segment in segments:
        try:
            action(segment)
        except Refused as refused:
            found.append(refused)
    return Refused.joined(found) if found else None


class _Work(threading.Thread):
    """Compiles segments, while PyTorch goes on to the next graph."""

    def __init__(self, segments: list[Compiled]):
        super().__init__(name="nereid compiler")
        self.segments, self.problem = segments, None

    def run(self) -> None:
        self.compile()

    def compile(self) -> None:
        try:
            self.problem = refused_by(Compiled.compile, [
                segment for segment in self.segments if segment.executable is None])
        except Exception as error:
            self.problem = error

    def wait(self) -> None:
        """Raises what the thread raised.  A process that was forked has no such thread."""
        self.join()
        if self.problem is None and any(segment.executable is None for segment in self.segments):
            self.compile()
        if self.problem is not None:
            raise self.problem


def _writes() -> tuple | None:
    """Does the graph that AOTAutograd is about write to its inputs?  None: that is not known."""
    context = torch._guards.TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    return None if metadata is None else tuple(info.mutates_data for info in metadata.input_info)


def written_inputs(programs, count: int) -> frozenset:
    """The inputs, by their numbers, that TorchDynamo's graph writes to; its programs were made or
    loaded.  Inputs that overlap are fewer for AOTAutograd."""
    writes = [program.writes for program in programs]
    if not writes or any(one is None or len(one) != count for one in writes):
        return frozenset(range(count))
    return frozenset(i for one in writes for i, written in enumerate(one) if written)


class Program:
    """The function of a graph, and what it was made of.

    It is compiled by another thread; who needs it calls finish() first, as its function, `call`,
    does.  `seconds` is what PyTorch waited for.
    """

    def __init__(self, module: torch.fx.GraphModule, settings: Settings, kind: str,
                 number: int = 0, recorder=None, warnings: Warnings | None = None,
                 region: str = "", limits: dict | None = None, held: dict | None = None):
        self.module, self.settings, self.kind = module, settings, kind
        self.number, self.recorder, self.region = number, recorder, region
        self.warnings, self.limits = warnings or Warnings(), limits
        self.held = held or {}  # {placeholder: weight} that segments may have as constants
        self.writes = _writes()
        self.seconds = 0.0
        self.failure: Exception | None = None  # for which PyTorch runs the graph
        self.graph = module.graph
        self.placeholders = [n for n in self.graph.nodes if n.op == "placeholder"]
        (self.output,) = [n for n in self.graph.nodes if n.op == "output"]
        # Are its inputs and results those of the graph that AOTAutograd is about?
        self.is_bare = len(self.writes or ()) == len(self.placeholders) and change_nothing()
        self.numbers = _Numbers()
        self.shape_env = self._shape_env()
        self.number_of_symbol = self._number_of_symbol()
        self._lock = threading.Lock()
        self._kept: dict[str, Compiled] = {}
        self.called = CalledPrograms(self._region_program)
        self._work: _Work | None = None
        self._run: Callable = self._first_run
        self._begin_or_give_up()
        self.call = self._caller()

    def _caller(self) -> Callable:
        def call(args):
            return self._run(args)

        return call

    def _region_program(self, module: torch.fx.GraphModule, name: str) -> Program:
        return Program(module, self.settings, self.kind, self.number, self.recorder, self.warnings,
                       f"{self.region}{name} of ", self.limits)

    @property
    def title(self) -> str:
        return f"{self.region}{self.kind} graph {self.number}"

    @property
    def function(self) -> Callable:
        """The function alone, after the first run."""
        return self._run

    def _first_run(self, args):
        self.finish()
        return self._run(args)

    @property
    def segments(self) -> list[Compiled]:
        """The executables, with those of the programs that it calls."""
        self.finish()
        return [*self._segments, *(one for inner in self.called for one in inner.segments)]

    @property
    def reasons(self) -> dict:
        """Why PyTorch runs a node: of each that computes something."""
        return self._of_all("reasons")

    @property
    def apart(self) -> dict:
        """Partition.apart."""
        return self._of_all("apart")

    @property
    def reads(self) -> dict:
        """What the host reads of the data while the program runs, by node."""
        return self._of_all("reads")

    def _of_all(self, name: str) -> dict:
        """That of the partition, and of the partitions of the programs that it calls."""
        self.finish()
        found = dict(getattr(self._parts, name))
        for inner in self.called:
            found.update(getattr(inner, name))
        return found

    # ---- symbols ----

    def _shape_env(self):
        for node in self.graph.nodes:
            value = node.meta.get("val")
            if is_tensor(value) and getattr(value, "fake_mode", None) is not None:
                return value.fake_mode.shape_env
            if isinstance(value, torch.SymInt):
                return value.node.shape_env
        return None

    def _number_of_symbol(self) -> dict:
        """The node whose value a symbol is."""
        found: dict = {}
        for node in self.graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt) and value.node.expr.is_symbol:
                found.setdefault(value.node.expr, node)
        return found

    # ---- compiling ----

    def _name_segments(self) -> None:
        """Names for messages and profiles."""
        for i, segment in enumerate(self._segments):
            segment.title = f"segment {i} of {self.title}"

    def _choose(self, refused: dict) -> None:
        """Chooses the segments."""
        self._refused = refused
        parts = partition(self.graph, refused, self.settings, self._lends)
        self._parts = parts
        self.steps = self._steps(parts.steps, parts.apart)
        self._segments = [step for step in self.steps if isinstance(step, Compiled)]
        self._name_segments()

    def _begin(self, refused: dict) -> None:
        """Chooses the segments, and starts to compile them."""
        self._choose(refused)
        self._work = _Work(self._segments)
        self._work.start()
        self._function = self._compile_function()

    def _begin_or_give_up(self) -> None:
        try:
            self._begin({})
        except Exception as error:
            self._give_up(error)

    def _keep_seeded(self, error: Exception) -> None:
        """PyTorch's operators but for those that draw from seeds, which are Nereid's alone."""
        reason = f"the compiler failed: {error}"
        try:
            self._begin({node: reason for node in self.graph.nodes
                         if node.op == "call_function" and not is_seeded(node)})
            self._end()
        except Exception:
            raise error from None

    def _give_up(self, error: Exception) -> None:
        """PyTorch's operators alone, with a warning."""
        if self.settings.verify:
            raise error
        if not has_eager_form(self.graph):
            self._keep_seeded(error)
            self.warnings.warn(error, self.graph, self.title)
            return
        self.warnings.warn(error, self.graph, self.title)
        self.failure = error
        nodes = [node for node in self.graph.nodes if node.op == "call_function"]
        refused = dict.fromkeys(nodes, f"the compiler failed: {error}")
        self._parts, self._segments, self.steps = Partition([], refused, {}), [], []
        self.source, self.values = "", {}
        self._work = _Work([])
        self._work.start()
        for node in nodes:
            node.target, node.args, node.kwargs = eager_call(node)
        self.module.recompile()
        self._function = boxed(self.module.forward)

    def _end(self) -> None:
        """Waits for the compiler; PyTorch runs the nodes that it refuses."""
        for _ in range(_ROUNDS):
            try:
                self._work.wait()
                problem = refused_by(Compiled.check, self._segments)
                if problem is None:
                    return
                raise problem
            except Refused as problem:
                self._begin(self._with_refused(problem))
        raise RuntimeError("a graph has too many nodes that are refused one after the other")

    def _with_refused(self, problem: Refused) -> dict:
        """All refused nodes, after a warning of kernels that could not be made.  Numbers of a seed
        are Nereid's alone: they are a kernel of their own once what shares it is PyTorch's."""
        more = {node: reason for node, reason in problem.nodes.items()
                if node not in self._refused and not is_seeded(node)}
        if not more:
            raise problem.failures[0][0] if problem.failures else RuntimeError(str(problem))
        for failure, node in problem.failures:
            if failure.code == TOOL:
                self.warnings.warn_of_tool(failure)
            else:
                what = "a segment" if node is None else f"a part ({len(more)} nodes)"
                self.warnings.warn(failure, self.graph, f"{what} of {self.title}", node)
        return {**self._refused, **more}

    def finish(self) -> None:
        """The executables are complete afterwards."""
        with self._lock:
            if self._work is None:
                return
            begin = time.perf_counter()
            try:
                self._end()
                for inner in self.called:
                    inner.finish()
                if self.settings.dump:
                    self.dump(self.settings.dump)
            except Exception as error:
                self._give_up(error)
            self._work = None
            self.seconds += time.perf_counter() - begin
            self._run = self._function
        with contextlib.suppress(Exception):  # a line of the log ends no program
            tell(self)
            for node in filter(is_flex, [] if self.failure else self.reasons):
                self.warnings.warn_of_dense(node, self.reasons[node], count_scores(node))

    def _steps(self, steps: list, refused: dict) -> list:
        plans = [SegmentPlan(step, self.number_of_symbol, refused, self.held)
                 if isinstance(step, Segment) else step for step in steps]
        needed: set = set(self.output.all_input_nodes)
        for step in plans:
            needed.update(step.inputs if isinstance(step, SegmentPlan) else step.all_input_nodes)
        out = []
        for step in plans:
            if not isinstance(step, SegmentPlan):
                out.append(step)
                continue
            step.choose_outputs([node for node in step.nodes
                                 if node in needed and is_tensor(node.meta["val"])])
            step.choose_outputs(self._counted_outputs(step))
            if not step.bases and not any(self._is_update(node) for node in step.nodes):
                out.append(step)  # views alone
                continue
            out.append(self._executable(step))
        return out

    def _counted_outputs(self, step: SegmentPlan) -> list:
        """The nodes whose shapes alone say sizes that data decides, and others want to know."""
        counted = [node for node in step.nodes if is_counted(node)]
        if not counted:
            return []
        values = [node.meta.get("val") for node in self.graph.nodes if node not in step.inside]
        wanted = symbols_of([*values, *(node.meta["val"] for node in step.views)])
        return [node for node in counted if any(
            symbol in wanted and step.size_in_output(symbol) is None
            for symbol in decided_sizes(node, self.shape_env))]

    @property
    def _lends(self) -> bool:
        """Does memory of tensors that are dead matter more than the time to make others?  A graph
        without gradients has few at once."""
        return self.kind != "inference"

    @property
    def _overwrites(self) -> bool:
        """May results be written over what the forward pass has saved?  PyTorch's CUDA graphs run
        again on the same memory."""
        return self.kind == "backward" and CAN_TELL and not self.settings.cuda_graphs

    @staticmethod
    def _is_update(node) -> bool:
        return node.target is torch.ops.aten.copy_.default

    def _executable(self, plan: SegmentPlan) -> Compiled:
        source, _ = plan.text()
        released = plan.released(set(self.placeholders))
        overwritten = plan.overwritten(released) if self._overwrites else ()
        released = released if self._lends else None
        held = [id(self.held[node]) for node in plan.held()]
        key = f"{plan.device} {released} {overwritten} {held}\n{source}"
        if key not in self._kept:
            self._kept[key] = Compiled(plan, self.settings, self.shape_env, released,
                                       self.limits, overwritten)
        found = self._kept[key]
        found.plan = plan
        return found

    # ---- the function ----

    def callable_of(self, segment: Compiled) -> Callable:
        """The segment; one that is compared, or that explain() watches."""
        if self.settings.verify:
            return Verified(segment, self)
        return segment if self.recorder is None else self.recorder.watch(segment)

    def _compile_function(self) -> Callable:
        writer = _Writer(self)
        source = writer.source()
        self.source, self.values = source, writer.values
        return function_of(source, writer.values)

    def dump(self, folder: str) -> None:
        """The text of each segment and of the program, in files that are new."""
        os.makedirs(folder, exist_ok=True)
        number = len(os.listdir(folder))
        stem = os.path.join(folder, f"{number:04}_{self.kind}")
        reasons = "".join(f"# {node}: {node.target}: {reason}\n"
                          for node, reason in self._parts.reasons.items())
        with open(f"{stem}.program.py", "w") as file:
            file.write(f"{reasons}{self.source}")
        for i, segment in enumerate(self._segments):
            with open(f"{stem}.{i}.py", "w") as file:
                file.write(segment.source)


class Programs:
    """The programs that live, in the order in which they were made.  Their callers alone keep them,
    unless keep() is called first, by tests and measurements."""

    def __init__(self):
        self._living: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
        self._kept: list | None = None

    def add(self, program: Program) -> None:
        self._living[program.number] = program
        if self._kept is not None:
            self._kept.append(program)

    def keep(self) -> None:
        """Programs that are made from now on live as long as this object."""
        self._kept = [*self]

    def clear(self) -> None:
        self._living.clear()
        self._kept = None if self._kept is None else []

    def __iter__(self):
        return iter(list(self._living.values()) if self._kept is None else self._kept)

    def __len__(self) -> int:
        return len(self._living) if self._kept is None else len(self._kept)

    def __getitem__(self, index):
        return [*self][index]


class _Writer:
    """The text of the function: a line a step; what is not used any more is freed."""

    def __init__(self, program: Program):
        self.program, self.graph = program, program.graph
        self.values: dict[str, Any] = {}
        self.lines: list[str] = []
        self.names: dict = {}

    def _name(self, node) -> str:
        if node not in self.names:
            self.names[node] = f"v{len(self.names)}"
        return self.names[node]

    def _line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def _global(self, stem: str, value: Any) -> str:
        name = f"{stem}{len(self.values)}"
        self.values[name] = value
        return name

    # ---- values ----

    def _text(self, value: Any) -> str:
        """An argument of a node."""
        if isinstance(value, torch.fx.Node):
            kind = value.meta.get("val")
            return self.program.numbers.text(kind) if is_host(value) else self._name(value)
        if isinstance(value, (list, tuple)):
            items = "".join(f"{self._text(item)}, " for item in value)
            return f"[{items}]" if isinstance(value, list) else f"({items})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {self._text(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._text, (value.start, value.stop, value.step)))})"
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, (torch.SymInt, torch.SymFloat)):
            return self.program.numbers.text(value)
        return self._global("c", value)

    def _view(self, node, base) -> str:
        value, of = node.meta["val"], base.meta["val"]
        numbers, name = self.program.numbers, self._name(base)
        if node is base:
            return name
        same = is_known(value.storage_offset() == of.storage_offset())
        if same and len(value.shape) == len(of.shape) and all(
                is_known(a == b) for a, b in zip((*value.shape, *value.stride()),
                                                 (*of.shape, *of.stride()))):
            return name
        offset = value.storage_offset() - of.storage_offset()
        return (f"view_of({name}, {numbers.tuple(value.shape)}, "
                f"{numbers.tuple(value.stride())}, {numbers.text(offset)})")

    # ---- steps ----

    def _bind_symbols(self) -> None:
        bound: set = set()
        for node in self.program.placeholders:
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt) and value.node.expr.is_symbol:
                symbol = value.node.expr
                if symbol not in bound:
                    self._line(f"{symbol} = {self._name(node)}")
                bound.add(symbol)
        for node in self.program.placeholders:
            value = node.meta.get("val")
            for axis, size in enumerate(value.shape if is_tensor(value) else ()):
                if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                    symbol = size.node.expr
                    if symbol not in bound:
                        self._line(f"{symbol} = {self._name(node)}.shape[{axis}]")
                    bound.add(symbol)

        self._check_symbols(bound)

    def _check_symbols(self, bound: set) -> None:
        """What PyTorch takes open sizes to be that nothing guards: a view between them is a view
        of as many elements."""
        printer = self.program.numbers.printer
        for checks in getattr(self.program.shape_env, "deferred_runtime_asserts", {}).values():
            for check in checks:
                if check.expr.free_symbols <= bound:
                    self._line(f"if not ({printer.doprint(check.expr)}):")
                    self._line(f"    raise RuntimeError({f'sizes contradict {check.expr}'!r})")

    def _shorten_storages(self) -> None:
        """Inputs that share memory without a tensor that all are views of become views of their
        whole storage, which AOTAutograd takes to end with the last of them."""
        for node in self.program.placeholders:
            value = node.meta.get("val")
            if not is_tensor(value) or value.dim() != 1 or not any(
                    user.target is torch.ops.aten.as_strided.default for user in node.users):
                continue
            size, name = self.program.numbers.text(value.shape[0]), self._name(node)
            self._line(f"if {name}.shape[0] > {size}:")
            self._line(f"    {name} = view_of({name}, ({size},), {name}.stride(), 0)")

    def _constants(self) -> None:
        for node in self.graph.nodes:
            if node.op == "get_attr" and not is_called_graph(node):
                value = operator.attrgetter(node.target)(self.program.module)
                self.names[node] = self._global("constant", value)

    def _run_segment(self, step: Compiled, plan: SegmentPlan, dead: list) -> None:
        """`dead` are nodes that no later step has; the segment drops them when it can."""
        viewed = set(plan.views.values())
        for base in viewed - plan.inside:
            self._conform(base)
        call = self._global("segment", self.program.callable_of(step))
        inputs = ", ".join(self._text(node) for node in plan.inputs)
        self._line(f"given = [{inputs}]")
        self._delete([node for node in dead if node not in viewed])
        outputs = "".join(f"{self._name(node)}, " for node in plan.bases)
        self._line(f"{outputs}{'= ' if outputs else ''}{call}(given)")
        for node in plan.nodes:
            if is_counted(node):
                self._bind_sizes_of(node, plan)
        for base in plan.bases:
            value = base.meta["val"]
            if memory_order(value.shape, value.stride()) is None:
                self._conform(base)
            elif not has_plain_strides(value.shape, value.stride()):
                numbers, name = self.program.numbers, self._name(base)
                self._line(f"{name} = view_of({name}, {numbers.tuple(value.shape)}, "
                           f"{numbers.tuple(value.stride())}, 0)")
            keeps, order = base.target in _KEEP_STRIDES, order_of(value)
            moved = keeps or order is None or not is_plain(order)
            if value.device.type == "cpu" and may_be_nothing(value) and moved:
                self._settle_nothing(base)
        self._make_views(plan)
        self._delete([node for node in dead if node in viewed])

    def _settle_nothing(self, node) -> None:
        """The strides of a result that has no elements, once data has decided that."""
        keeps = node.target in _KEEP_STRIDES
        stride = self.program.numbers.tuple(node.meta["val"].stride()) if keeps else None
        self._line(f"{self._name(node)} = of_nothing({self._name(node)}, {stride})")

    def _delete(self, nodes: list) -> None:
        names = [self.names[node] for node in nodes if node in self.names]
        if names:
            self._line(f"del {', '.join(names)}")

    def _conform(self, node) -> None:
        """The memory of a tensor that others are views of is as the graph has it."""
        stride = self.program.numbers.tuple(node.meta["val"].stride())
        self._line(f"{self._name(node)} = conform({self._name(node)}, {stride})")

    def _make_views(self, plan: SegmentPlan) -> None:
        for node, base in plan.views.items():
            if node is not base:
                self._line(f"{self._name(node)} = {self._view(node, base)}")

    def _run_called(self, node, dead: list) -> None:
        """A call of a region's program, which drops what no later step has when it can."""
        call = self._global("region", self.program.called.of(node))
        given = ", ".join(self._text(operand) for operand in operands_of(node))
        self._line(f"given = [{given}]")
        self._delete(dead)
        self._line(f"{self._name(node)} = {call}(given)")
        self._bind_sizes(node)

    def _run_node(self, node) -> None:
        target, args, named = eager_call(node)
        args = [self._text(arg) for arg in args]
        args += [f"{key}={self._text(arg)}" for key, arg in named.items()]
        target = self._global("f", target)
        self._line(f"{self._name(node)} = {target}({', '.join(args)})")
        self._bind_sizes(node)

    def _bind_sizes(self, node) -> None:
        for symbol, path in decided_sizes(node, self.program.shape_env).items():
            self._line(f"{symbol} = {self._path(self._name(node), path)}")
            self._check_decided(symbol)

    def _check_decided(self, symbol) -> None:
        """What PyTorch found out about the size while it made the graph: that it is a number, or
        between two.  A segment checks what it counts itself."""
        known = self.program.shape_env.replace(symbol)
        claims = [f"{symbol} == {known}"] if known.is_number else []
        limits = self.program.shape_env.var_to_range.get(symbol)
        if not claims and limits is not None:
            claims += [f"{symbol} >= {limits.lower}"] if limits.lower.is_Integer else []
            claims += [f"{symbol} <= {limits.upper}"] if limits.upper.is_Integer else []
        for claim in claims:
            self._line(f"if not {claim}:")
            self._line(f"    raise RuntimeError({f'sizes contradict {claim}'!r})")

    def _bind_sizes_of(self, node, plan: SegmentPlan) -> None:
        """The same, of a segment's node, by its outputs' shapes; of some nobody wants to know."""
        for symbol in decided_sizes(node, self.program.shape_env):
            found = plan.size_in_output(symbol)
            if found is not None:
                self._line(f"{symbol} = {self._name(found[0])}.shape[{found[1]}]")

    @staticmethod
    def _path(text: str, path) -> str:
        for key in path:
            kind = type(key).__name__
            if kind == "SequenceKey":
                text = f"{text}[{key.idx}]"
            elif kind == "CallMethodKey":
                text = f"{text}.{key.name}()"
            elif kind == "DivideByKey":
                text = f"({text} // {key.divisor})"
            elif kind == "ConvertIntKey":
                text = f"int({text})"
            else:
                raise TypeError(f"a size by a {kind}")
        return text

    def _uses(self) -> list[tuple[list, Any]]:
        """(nodes that a step reads, the step)."""
        uses = []
        for step in self.program.steps:
            plan = step.plan if isinstance(step, Compiled) else step
            if isinstance(plan, SegmentPlan):
                uses.append(([*plan.inputs, *plan.views.values()], step))
            else:
                uses.append((plan.all_input_nodes, step))
        return uses

    def _result(self, value) -> str:
        """A result of the graph.  In a forward graph, a view that the program detached is a tensor
        of its own, which has neither the gradient nor the version of the tensor it is a view of."""
        text = self._text(value)
        detached = self.program.kind == "forward" and is_detached(value)
        return f"{text}.detach()" if detached else text

    def source(self) -> str:
        names = [self._name(node) for node in self.program.placeholders]
        self.lines.append("def call(args):")
        if names:
            self._line(f"{', '.join(names)}, = args")
        self._line("args.clear()")
        self._constants()
        self._bind_symbols()
        self._shorten_storages()
        uses = self._uses()
        last: dict = {}
        for i, (read, _) in enumerate(uses):
            last.update(dict.fromkeys(read, i))
        kept = {*self.output_nodes(), *(n for n in self.graph.nodes if n.op == "get_attr")}
        for i, (read, step) in enumerate(uses):
            dead = [n for n in dict.fromkeys(read) if last[n] == i and n not in kept]
            if isinstance(step, Compiled):
                self._run_segment(step, step.plan, dead)
                continue
            if isinstance(step, SegmentPlan):
                for base in set(step.views.values()):
                    self._conform(base)
                self._make_views(step)
            elif is_call(step):
                self._run_called(step, dead)
                continue
            else:
                self._run_node(step)
            self._delete(dead)
        results = self.output.args[0]
        results = results if isinstance(results, (list, tuple)) else (results,)
        self._line(f"return ({''.join(f'{self._result(value)}, ' for value in results)})")
        return "\n".join([*self.lines, ""])

    @property
    def output(self):
        return self.program.output

    def output_nodes(self) -> list:
        return self.program.output.all_input_nodes
