"""Segments: parts of an FX graph as executables of Nereid's."""

from __future__ import annotations

import contextlib
import operator
import os
import re
import weakref
from typing import Callable, Iterable

import torch
import torch.autograd.profiler as _profiler

from nereid import _nereid
from nereid.errors import DataError, IndexOutOfRange, NereidError
from nereid.host_memory import host_memory
from nereid.models import _describe, _shrink, _torch_allocator
from nereid.runtime import driver
from nereid.torch_backend.base import flags
from nereid.torch_backend.base.alone import is_alone
from nereid.torch_backend.base.layout import extent, inverse, is_known, is_plain, memory_order
from nereid.torch_backend.base.log import line_of
from nereid.torch_backend.base.nodes import (is_number, is_tensor, is_view, storage_of,
                                              values_of)
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.segments.held import Held
from nereid.torch_backend.segments.numbers import with_numbers
from nereid.torch_backend.segments.partition import Segment
from nereid.torch_backend.segments.reasons import is_counted
from nereid.torch_backend.segments.regions import is_graph
from nereid.torch_backend.segments.text import Text, held_name, order_of, type_of

_LARGEST = 2**62  # size
_LARGEST_NUMBER = 2**63 - 1
_OWN_NAME = re.compile(r"\bv_(?=\w)")  # the beginning of names in the text
_FIXED = re.compile(r"\w+\[[\d,]*\]")  # a type without open sizes
_ALIGNMENT = 16  # of tensors that kernels read where they are
_OVERWRITTEN_LEAST = 1 << 20  # bytes of a tensor whose memory is worth being used again
_RENEWALS_MOST = 4  # of weights that a segment has as constants
_GAPS_MOST = 16  # times the elements of a tensor, of the memory that it is a view of


# The key in the meta of a backward graph's placeholder: no other tensor has its memory.
OWNED = "nereid_owned"


class Refused(Exception):
    """The compiler takes no such nodes: {node: reason}.  `failures` are errors that are about no
    node itself, each with a node that is refused for it, or None: all of the segment is.  A kernel
    could not be made, or the compiler failed."""

    def __init__(self, nodes: dict, failures: Iterable = ()):
        super().__init__(next(iter(nodes.values()), ""))
        self.nodes, self.failures = nodes, list(failures)

    @staticmethod
    def joined(several: list[Refused]) -> Refused:
        nodes: dict = {}
        for one in several:
            nodes.update(one.nodes)
        return Refused(nodes, [failure for one in several for failure in one.failures])


def symbols_of(values) -> set:
    from torch.fx.experimental.symbolic_shapes import free_symbols

    found: set = set()
    for value in values:
        if is_tensor(value):
            closed = value.layout is torch.strided and not value._has_symbolic_sizes_strides
            found |= set() if closed else free_symbols(value)
        elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            found |= free_symbols(value)
    return found


def decided_sizes(node, shape_env) -> dict:
    """{symbol, by the name that the graph has for it: where the node's value has it}, of sizes that
    data decides."""
    from torch.fx.experimental.symbolic_shapes import resolve_unbacked_bindings

    return resolve_unbacked_bindings(shape_env, node.meta.get("unbacked_bindings")) or {}


def has_gaps(value) -> bool:
    """Is it a view of somewhat more, or less, memory than its elements take, at known places?  One
    that begins anywhere would be copied with its gaps."""
    if not is_tensor(value) or value._has_symbolic_sizes_strides or value.numel() == 0:
        return False
    if value.is_complex() or value.is_neg():
        return False
    if memory_order(value.shape, value.stride()) is not None:
        return False
    begin = value.storage_offset() * value.element_size()
    return (begin % _ALIGNMENT == 0
            and extent(value.shape, value.stride()) <= _GAPS_MOST * value.numel())


def _is_saved(node) -> bool:
    """Of a placeholder of a backward graph: did the forward pass compute it?"""
    return not node.name.startswith(("primals", "tangents"))


class SegmentPlan:
    """What goes into a segment, what comes out, and its text."""

    def __init__(self, segment: Segment, number_of_symbol: dict, refused: dict,
                 held: dict | None = None):
        self.device = segment.device
        self.may_hold = held or {}  # {placeholder: weight}
        self.nodes = self._with_views(segment, refused)
        self.inside = set(self.nodes)
        self.inputs = [node for node in self._operands() if node not in self.inside]
        values = [node.meta.get("val") for node in (*self.nodes, *self.inputs)
                  if node not in self.inside or not is_number(node.meta.get("val"))]
        self.symbols = symbols_of(values)
        decided = {symbol for node in self.nodes if is_counted(node) for symbol in
                   symbols_of([node.meta["val"]]) - symbols_of(
                       [other.meta.get("val") for other in node.all_input_nodes])}
        for symbol in sorted(self.symbols, key=str):
            node = number_of_symbol.get(symbol)
            if node is not None and node not in self.inputs and symbol not in decided:
                self.inputs.append(node)
        self.views: dict = {}
        self.bases: list = []
        self._text: tuple[str, Text] | None = None

    @staticmethod
    def _with_views(segment: Segment, refused: dict) -> list:
        """The nodes, after the numbers that they compute, and those of other segments that are
        views of what they need, where they are not `refused`."""
        nodes = with_numbers(segment.nodes, segment.device)
        inside, front = set(nodes), []
        waiting = [operand for node in nodes for operand in node.all_input_nodes]
        while waiting:
            node = waiting.pop()
            if node not in inside and node not in refused and is_view(node):
                inside.add(node)
                front.append(node)
                waiting += node.all_input_nodes
        place = {node: i for i, node in enumerate(segment.nodes[0].graph.nodes)} if front else {}
        return sorted(front, key=place.__getitem__) + nodes

    def _operands(self) -> list:
        return list(dict.fromkeys(operand for node in self.nodes
                                  for operand in node.all_input_nodes if not is_graph(operand)))

    def choose_outputs(self, needed: list) -> None:
        """`needed` are the nodes that others use.  One that shares the memory of an input, or of a
        node that is computed before it, is a view of that."""
        first: dict = {}
        for node in (*self.inputs, *self.nodes):
            if is_tensor(node.meta.get("val")):
                first.setdefault(storage_of(node), node)
        for node in needed:
            base = self._input_of(node) or first[storage_of(node)]
            if base is not node and not self._holds(base, node):
                base = node
            self.views[node] = base
            if base in self.inside and base not in self.bases:
                self.bases.append(base)

    def _input_of(self, node):
        """The input that a node is made of by views alone; None: it has memory of its own.  Other
        inputs that share its memory do so in the call that the graph is compiled for."""
        memory = storage_of(node)
        while node is not None and node not in self.inputs:
            node = next((operand for operand in node.all_input_nodes
                         if any(is_tensor(value) and value.untyped_storage()._cdata == memory
                                for value in values_of(operand.meta.get("val")))), None)
        return node

    def released(self, placeholders: set) -> tuple:
        """Positions of the inputs whose memory nothing needs after the segment: what the forward
        pass saved, and what only this segment reads of others' results.  Autograd holds gradients
        until the backward pass returns, and callers hold what they pass."""
        needed = set(self.views.values())

        def is_released(node) -> bool:
            if not is_tensor(node.meta.get("val")) or node in needed:
                return False
            saved = node not in placeholders or _is_saved(node)
            return saved and all(user in self.inside for user in node.users)

        return tuple(i for i, node in enumerate(self.inputs) if is_released(node))

    def overwritten(self, released: tuple) -> tuple:
        """Positions of large inputs over which results may be written: nothing reads them after
        the segment, and they are the only tensor that the forward pass made of their memory."""
        return tuple(i for i in released if self._is_large(self.inputs[i]))

    @staticmethod
    def _is_large(node) -> bool:
        value = node.meta["val"]
        if not node.meta.get(OWNED) or value._has_symbolic_sizes_strides or value.is_complex():
            return False
        dense = memory_order(value.shape, value.stride()) is not None
        return dense and value.numel() * value.element_size() >= _OVERWRITTEN_LEAST

    def size_in_output(self, symbol) -> tuple | None:
        """An output and its axis whose size that is."""
        for base in self.bases:
            for axis, size in enumerate(base.meta["val"].shape):
                if isinstance(size, torch.SymInt) and size.node.expr == symbol:
                    return base, axis
        return None

    def _holds(self, base, node) -> bool:
        """Is the node's value a view of the tensor that the base is when the program runs?  What
        is a view for PyTorch must be one: AOTAutograd makes views of inputs again by the places of
        those that it gets."""
        of, value = base.meta["val"], node.meta["val"]
        if of.dtype != value.dtype:
            return False
        if (of.is_conj(), of.is_neg()) != (value.is_conj(), value.is_neg()):
            return False  # PyTorch's bits on the same memory, which ours has no part of
        if base not in self.inside:
            return True
        at = value.storage_offset() - of.storage_offset()
        beyond = is_known(at < 0) or is_known(
            at + extent(value.shape, value.stride()) > of.numel())
        return memory_order(of.shape, of.stride()) is not None and not beyond

    def text(self) -> tuple[str, Text]:
        """The text of the graph, once outputs are chosen."""
        if self._text is None:
            self._text = self._write()
        return self._text

    def with_gaps(self) -> list:
        """The inputs that are read where they are, in memory with gaps; none that are written."""
        written = {node.args[0] for node in self.nodes
                   if node.target is torch.ops.aten.copy_.default}
        return [node for node in self.inputs
                if node not in written and has_gaps(node.meta["val"])]

    def held(self) -> list:
        """The inputs that are weights, read where they are, and not written."""
        if self.device.type != "cpu" or not self.may_hold:
            return []
        left = {node.args[0] for node in self.nodes
                if node.target is torch.ops.aten.copy_.default} | set(self.with_gaps())
        return [node for node in self.inputs if node in self.may_hold and node not in left
                and node not in self.views.values()]

    def _write(self) -> tuple[str, Text]:
        text, gaps, held = Text(), set(self.with_gaps()), set(self.held())
        for node in self.inputs:
            value = node.meta["val"]
            if node in gaps:
                text.input_with_gaps(node)
            else:
                text.input(node, None if is_number(value) else order_of(value), node in held)
        for node in self.nodes:
            if node.target is torch.ops.aten.copy_.default:
                text.update(node, order_of(node.args[0].meta["val"]))
            elif is_number(node.meta.get("val")):
                text.number(node)
            else:
                text.call(node)
        return text.finish([text.output(node, order_of(node.meta["val"]))
                            for node in self.bases]), text


def _limits_of(symbol, shape_env) -> tuple:
    """The least and the most that a size, or a number that is not negative, can be.  PyTorch runs
    what takes other numbers (signed_reason)."""
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    known = shape_env.var_to_range[symbol]
    largest = _LARGEST_NUMBER if symbol_is_type(symbol, SymT.UNBACKED_INT) else _LARGEST
    least = int(known.lower) if known.lower.is_finite and known.lower > 0 else 0
    most = int(known.upper) if known.upper.is_finite and known.upper < largest else largest
    return least, most


def ranges_of(symbols, shape_env, limits: dict | None = None) -> list:
    """What is known about open sizes: [(name, least, most, what is likely or 0)].  `limits` are
    {name: (least, most)} of those whose caller knows more than PyTorch's shapes say.  The text
    has no symbols of floats."""
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    found = []
    backed = hasattr(shape_env, "backed_var_to_val")  # its name before was var_to_val
    values = getattr(shape_env, "backed_var_to_val" if backed else "var_to_val", {})
    for symbol in sorted(symbols, key=str):
        known = shape_env.var_to_range.get(symbol) if shape_env is not None else None
        if known is None or symbol_is_type(symbol, (SymT.FLOAT, SymT.UNBACKED_FLOAT)):
            continue
        least, most = (limits or {}).get(str(symbol)) or _limits_of(symbol, shape_env)
        value = min(max(int(values.get(symbol, 0)), least), most)
        # A power of two, so that what is stored for one size is found for others.
        likely = 1 << (max(value, 1) - 1).bit_length()
        found.append((str(symbol), least, most, likely if symbol in values else 0))
    return found


def refusal_of(error: NereidError, text: Text, plan: SegmentPlan) -> Refused:
    """The nodes that an error is about, by the lines of the graph that its parts name: an error of
    a kernel has notes of those that the kernel computes.  An error that names none is about all of
    the segment."""
    nodes, about_kernel = {}, True
    for part in error.diagnostics:
        node = text.node_at(part.line) if part.file == "<graph>" else None
        if node is None:
            continue
        is_note = part.severity == "note"
        about_kernel &= is_note
        nodes.setdefault(node, error.diagnostics[0].message if is_note else part.message)
    first = next(iter(nodes), None)
    nodes = nodes or dict.fromkeys(plan.nodes, str(error).splitlines()[0])
    return Refused(nodes, [(error, first)] if about_kernel else [])


# The extension reads such tensors themselves.
_IS_READ = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


def _memory_of(value, strides: tuple):
    """The memory from the first to the last element of a tensor with these strides."""
    if value.stride() != strides:  # not what PyTorch's rules said of another operator
        value = value[tuple(slice(None if stride else 1) for stride in strides)]
        value = torch.empty_strided(value.shape, strides, dtype=value.dtype,
                                    device=value.device).copy_(value)
    return value.as_strided((extent(value.shape, strides),), (1,))


def _empty_of(device: torch.device) -> Callable:
    """A function of sizes, strides and dtype that makes a dense tensor there."""
    from torch._C._dynamo import guards

    if device.type == "cpu" and host_memory is not None:
        return host_memory.empty
    name = f"_empty_strided_{device.type}"
    if hasattr(guards, name) and (device.type == "cpu" or torch.cuda.device_count() == 1):
        return getattr(guards, name)  # Inductor's, which takes a third of the time

    def empty(sizes, strides, dtype):
        return torch.empty_strided(sizes, strides, dtype=dtype, device=device)

    return empty


def _is_kept(storage) -> bool:
    return host_memory is not None and host_memory.has(storage)


def _form(value) -> tuple | None:
    """The sizes in the order of memory, strides and dtype; None: sizes are open."""
    if value._has_symbolic_sizes_strides:
        return None
    order = order_of(value) or range(value.dim())
    sizes = tuple(value.shape[axis] for axis in order)
    strides, step = [1] * len(sizes), 1
    for axis in reversed(range(len(sizes))):
        strides[axis] = step
        step *= max(sizes[axis], 1)
    return sizes, tuple(strides), value.dtype


def _makers_of(device: torch.device, forms: tuple | None, lends: bool) -> tuple | None:
    """(function, arguments) that make each output, and on a GPU memory for temporaries, which lends
    bytes one by one: on CPUs they are in memory that segments have in turn, since blocks of many
    sizes would leave gaps in the heap."""
    if forms is None:
        return None
    empty, of_size = _empty_of(device), getattr(host_memory, "maker", None)
    if device.type != "cpu" or of_size is None:
        made = [(empty, form) for form in forms]
    else:
        made = [(of_size(sizes, dtype), (sizes, strides, dtype)) for sizes, strides, dtype in forms]
    if lends and device.type == "cuda":
        made.append(lambda size: empty((size,), (1,), torch.uint8))
    return tuple(made)


def _no_limit() -> int:
    return 0


# A call on a CPU has no more threads than one of PyTorch's operators would (torch.set_num_threads),
# but for a number that is for Nereid alone; others that use the device have all of them.
_threads = _no_limit if os.environ.get("NEREID_THREADS") else torch.get_num_threads
_ALL_THREADS = 1 << 30


def _free_memory() -> str:
    """ "; 512 MiB free" """
    with contextlib.suppress(OSError), open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return f"; {int(line.split()[1]) >> 10} MiB free"
    return ""


def _is_on_host(value) -> bool:
    """A tensor with axes; of one without them the number is passed."""
    return is_tensor(value) and value.device.type == "cpu" and value.dim() > 0


def graph_options(settings: Settings) -> dict:
    """The options of all segments' executables (nereid_graph_options.h), by torch.compile's and
    PyTorch's own settings.  Keys of caches have them, too."""
    return {"mode": settings.segment_mode, "replay": settings.replay,
            "no_checks": not settings.check_indices, "assert_indices": settings.check_indices,
            "libraries": flags.libraries(settings.libraries), "tf32": flags.tf32(),
            "deterministic": flags.deterministic()}


class Compiled:
    """An executable of a segment, which takes tensors of PyTorch in any order of axes."""

    def __init__(self, plan: SegmentPlan, settings: Settings, shape_env,
                 released: tuple | None = None, limits: dict | None = None,
                 overwritten: tuple = ()):
        source, text = plan.text()
        self.source, self.plan = source, plan
        self.index = plan.device.index or 0
        self.cuda = plan.device.type == "cuda"
        self.lends = released is not None
        self.name = f"cuda:{self.index}" if self.cuda else "cpu"
        self.options = {**graph_options(settings),
                        "ranges": ranges_of(plan.symbols, shape_env, limits),
                        "saves_memory": released is not None, "released": released or (),
                        "overwritten": overwritten}
        self.overwritten = overwritten
        self.text = text
        held = set(plan.held())
        weights = [(i, held_name(node), self._order(node), plan.may_hold[node])
                   for i, node in enumerate(plan.inputs) if node in held]
        self.held = Held(weights) if weights else None
        self.renewals = 0
        self.executable = None
        self.title = "a segment"
        orders = [(i, self._order(node)) for i, node in enumerate(plan.inputs)]
        self.orders = [(i, order) for i, order in orders if order]
        gaps = set(plan.with_gaps())
        self.gaps = [(i, tuple(node.meta["val"].stride()))
                     for i, node in enumerate(plan.inputs) if node in gaps]
        self.on_host = [i for i, node in enumerate(plan.inputs)
                        if self.cuda and _is_on_host(node.meta["val"])]
        self.lazy = [i for i, node in enumerate(plan.inputs) if self._may_be_lazy(node)]
        inverses = [(i, self._inverse(node)) for i, node in enumerate(plan.bases)]
        self.inverses = [(i, back) for i, back in inverses if back]
        forms = [_form(node.meta["val"]) for node in plan.bases]
        self.forms = None if None in forms else tuple(forms)
        changes = (self.orders, self.gaps, self.on_host, self.lazy, self.inverses, self.held)
        self.is_plain = not (self.cuda or any(changes)) and self.forms is not None and _IS_READ
        self._find_memory()

    def _find_memory(self) -> None:
        self.allocate = _torch_allocator(self.name, {})
        self.makers = _makers_of(torch.device(self.name), self.forms, self.lends)
        if host_memory is not None and not self.cuda:  # once no call will use it again
            weakref.finalize(self, host_memory.trim).atexit = False

    def compile(self) -> None:
        """Makes the executable; by any thread, which holds the interpreter's lock for a moment."""
        self.device = driver.device(self.name)  # a device that fails refuses no node
        try:
            with self.held.file() if self.held else contextlib.nullcontext() as weights:
                graph = _nereid.Graph("<graph>", self.source.encode(), weights, [], [], [])
                executable = graph.compile(self.device, {**self.options, "keep": True})
        except NereidError as error:
            if self.plan is None:
                raise
            raise refusal_of(error, self.text, self.plan) from error
        self.executable = executable

    def _renew(self, values: list) -> None:
        """Weights were written, or are others.  Where that comes again they are inputs."""
        self.renewals += 1
        self.held = self.held.again(values) if self.renewals < _RENEWALS_MOST else None
        self.compile()

    # ---- storing ----

    def __getstate__(self) -> dict:
        if "bytes" in self.__dict__:  # it was read, and has not run
            return dict(self.__dict__)
        state = {**self.__dict__, "places": self._places(),
                 "bytes": self.executable.bytes(False)}
        for name in ("plan", "text", "executable", "allocate", "makers", "device"):
            state.pop(name, None)
        return state

    def load(self) -> None:
        """What __getstate__() left out.  The executable that was stored is compiled anew for
        another kind of device, by another build, and where measurements of this machine decide.
        Calls of a region share its segments."""
        if "bytes" not in self.__dict__:
            return
        self.plan = self.text = None
        self._find_memory()
        self.device, made = driver.device(self.name), self.__dict__.pop("bytes")
        try:
            self.executable = _nereid.Executable.from_bytes(made, self.device, None, True)
        except NereidError:
            self.compile()

    def _places(self) -> dict:
        """{name in the text: operator and line of the model}."""
        if self.plan is None:
            return self.places
        lines = {f"v_{node.name}": (str(node.target), line_of(node)) for node in self.plan.nodes}
        return {name: f"{target} in {line}" if line else target
                for name, (target, line) in lines.items()}

    # ---- what it returns ----

    def check(self) -> None:
        """What the graph relies on is what PyTorch's own rules say of sizes and dtypes."""
        problems = {}
        for node, (_, kind, *_) in zip(self.plan.bases, self.executable.outputs):
            value = node.meta["val"]
            said = type_of(value, order_of(value)).replace(" ", "")
            kind = kind.replace(" ", "")
            if said != kind and _FIXED.fullmatch(said) and _FIXED.fullmatch(kind):
                call = node.args[0] if node.target is operator.getitem else node
                problems[call] = f"its value is {kind}, where PyTorch says {said}"
        if problems:
            raise Refused(problems)

    @staticmethod
    def _may_be_lazy(node) -> bool:
        """Can the tensor's elements be other than its memory has them, by a bit of PyTorch's?"""
        value = node.meta["val"]
        return is_tensor(value) and (value.is_complex() or value.is_neg())

    @staticmethod
    def _order(node):
        value = node.meta["val"]
        order = None if is_number(value) else order_of(value)
        return None if order is None or is_plain(order) else order

    @staticmethod
    def _inverse(node):
        order = order_of(node.meta["val"])
        return None if order is None or is_plain(order) else inverse(order)

    def __call__(self, values: list):
        """The tensors of plan.bases.  The list is empty afterwards, and loses each input that is
        not read any more: while the rest runs its memory is free, if nobody else has it."""
        for i in self.overwritten:
            if not is_alone(values, i, _is_kept):  # as with retain_graph=True
                values[i] = values[i].clone()
        try:
            if _profiler._is_profiler_enabled:
                with _profiler.record_function(self.label):
                    return self._run(values)
            return self._run(values)
        except (RuntimeError, MemoryError) as error:  # NereidError, or no memory
            message = str(error.args[0]) if error.args else ""
            if "DefaultCPUAllocator" in message:  # which tells what it needs alone
                message += _free_memory()
            if isinstance(error, (DataError, IndexOutOfRange)):
                message = self._with_place(message)
            error.args = (f"{message}\n  in {self.title}", *error.args[1:])
            raise

    def _with_place(self, message: str) -> str:
        """A message about a node, with the model's names for values, the operator and the line."""
        place = self._places().get(re.match(r"\w*", message)[0])
        message = _OWN_NAME.sub("", message)
        return f"{message}\n  by {place}" if place else message

    @property
    def label(self) -> str:
        """The segment's name in a profile."""
        kernels = self.executable.info["kernels"]
        return f"nereid: {self.title} ({kernels} kernel{'' if kernels == 1 else 's'})"

    def explain(self, *values) -> str:
        """The kernels with measured times of runs on these inputs, which are written if the graph
        writes them."""
        source = self.text.with_lines(line_of)
        graph = _nereid.Graph("<graph>", source.encode(), None, [], [], [])
        planned = graph.compile(driver.device(self.name), self.options)
        return planned.explain(self._in_order(values))

    def _in_order(self, values: list) -> list:
        given = list(values)
        for i in self.on_host:
            given[i] = given[i].to(self.name)
        for i, order in self.orders:
            given[i] = given[i].permute(order)
        for i, strides in self.gaps:
            given[i] = _memory_of(given[i], strides)
        for i in self.lazy:
            given[i] = given[i].resolve_conj().resolve_neg()
        return given if _IS_READ else [_describe(value) for value in given]

    def _run(self, values: list):
        if self.is_plain:
            return self.executable.call(values, self.makers, self.lends, None, 0, _threads())
        if self.held is not None and not self.held.are(values):
            self._renew(values)
        given = self._in_order(values)
        if self.held is not None:
            held = self.held.positions
            given = [value for i, value in enumerate(given) if i not in held]
        stream, workspace = 0, None
        if self.cuda:
            stream = torch._C._cuda_getCurrentRawStream(self.index)
            workspace = self.allocate
        if self.forms is None or not _IS_READ:
            made = self._counted(given, workspace, stream)
        else:
            if self.lends:
                values.clear()
            made = self.executable.call(given, self.makers, self.lends, workspace, stream,
                                        0 if self.cuda else _threads())
        values.clear()
        for i, back in self.inverses:
            made[i] = made[i].permute(back)
        return made

    def _counted(self, given: list, workspace, stream: int) -> list:
        """The results of a run that says itself how large they are."""
        if not self.cuda and (threads := _threads()):
            self.device.set_threads(threads)
        try:
            found = self.executable.run(given, None, self.allocate, workspace, stream)
        finally:
            if not self.cuda:
                self.device.set_threads(_ALL_THREADS)
        return [tensor if sizes is None else _shrink(tensor, sizes) for tensor, sizes in found]
