"""Models: load, run and build tensor graphs.

    import nereid
    model = nereid.load("model.onnx")        # or .pt2, or an ExportedProgram of torch.export
    outputs = model.run({"x": array})        # a list, in the model's order
    y = model(array)                         # one output itself, several as a tuple

A model runs where its inputs are, in PyTorch's current stream, and gives tensors of PyTorch where
an input is one, else NumPy's arrays.
"""

from __future__ import annotations

import io
import math
import operator
import os
import sys
import threading
import weakref
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from nereid import _nereid
from nereid.runtime import driver
from nereid.runtime.arguments import CPU, CUDA, dtype_of, is_scalar
from nereid.strings import Strings

_KINDS = ("graph", "kernels", "plan", "dot", "fused", "explain", "strings")
_EXECUTABLE = b"nereid executable"
# NumPy's names of dtypes by DLPack's code and bits; the others are bytes there.
_NUMPY = {
    (2, 16): "float16", (2, 32): "float32", (2, 64): "float64", (6, 8): "bool",
    (5, 64): "complex64", (5, 128): "complex128",
    **{(0, n): f"int{n}" for n in (8, 16, 32, 64)},
    **{(1, n): f"uint{n}" for n in (8, 16, 32, 64)},
}
# Types of the package ml_dtypes, whose names are PyTorch's, too.
_NARROW = {(4, 16): "bfloat16", (10, 8): "float8_e4m3fn", (12, 8): "float8_e5m2"}
_TORCH = {**_NUMPY, **_NARROW}
_CODES = {name: code for code, name in _NARROW.items()}


class Value(NamedTuple):
    """An input or an output of a model."""

    name: str
    dtype: str
    """"f32", "bf16", "i64", "b8" ..., as graphs print them."""
    shape: tuple[int | str, ...] | None
    """Sizes; those that are open as expressions of symbols, "s0" or "2*s0".  None: a number."""
    type: str
    """The whole: "f32[s0, 64]", or "Sym(2*s0)" of an integer."""
    is_number: bool
    """An integer of Python's, which decides sizes or follows from them."""


class _Compiled(NamedTuple):
    """The model on a device; its inputs and outputs as (name, type, dtype, is it a number, place);
    what makes tensors of PyTorch there."""

    executable: Any
    inputs: list
    outputs: list
    places: int
    allocators: dict


def _compiled(executable) -> _Compiled:
    return _Compiled(executable, executable.inputs, executable.outputs, executable.nplaces, {})


def _shape_of(text: str) -> tuple[int | str, ...] | None:
    begin, end = text.find("["), text.rfind("]")
    if begin < 0:
        return None
    sizes = [s.strip() for s in text[begin + 1:end].split(", ") if s.strip()]
    return tuple(int(s) if s.lstrip("-").isdigit() else s for s in sizes)


def _value(item: tuple, is_text: bool = False) -> Value:
    name, kind, dtype, is_number, _ = item
    if is_text:
        kind, dtype = (kind or "").replace("i64", "str", 1), "str"
    return Value(name or "", dtype or "", None if is_number else _shape_of(kind or ""),
                 kind or "", is_number)


# ---- tensors ----


def _is_torch(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _strides(strides, size: int):
    if strides is None:
        return None
    if any(s % size for s in strides):
        raise TypeError("an array whose strides are no multiples of its elements: copy it")
    return tuple(s // size for s in strides)


# NumPy's own dtypes of this machine's byte order, by the texts of their interface.
_PLAIN = {f"{order}{kind}{n}": (code, 8 * n) for order in "|<" for code, kind in enumerate("iuf")
          for n in (1, 2, 4, 8) if n > 1 or kind != "f"} | {"|b1": (6, 8)}


def _of_interface(interface: dict, device: tuple[int, int], dtype: Any = None):
    text = interface["typestr"]
    plain = _PLAIN.get(text)
    if plain:
        return (interface["data"][0], interface["shape"],
                _strides(interface.get("strides"), plain[1] // 8), device, plain)
    narrow = _CODES.get(getattr(dtype, "name", ""))
    if narrow:
        return (interface["data"][0], tuple(interface["shape"]),
                _strides(interface.get("strides"), narrow[1] // 8), device, narrow)
    if text[0] == ">":
        raise TypeError("an array of big-endian numbers: convert it to this machine's byte order")
    raise TypeError(f"models have no elements of NumPy's type {text!r}")


def _describe(value: Any) -> Any:
    """What the extension reads: a tensor with a table of DLPack, NumPy's structure of an array, an
    integer, or (address, sizes, strides in elements, device, dtype)."""
    if hasattr(type(value), "__dlpack_c_exchange_api__"):
        return value
    if hasattr(type(value), "__array_struct__"):
        dtype = getattr(value, "dtype", None)  # of NumPy's own arrays this byte order's
        if getattr(dtype, "isbuiltin", None) == 1 and dtype.kind in "fiub":
            return value.__array_struct__
    interface = getattr(value, "__cuda_array_interface__", None)
    if isinstance(interface, dict):
        return _of_interface(interface, (CUDA, 0))
    interface = getattr(value, "__array_interface__", None)
    if isinstance(interface, dict):
        return _of_interface(interface, (CPU, 0), getattr(value, "dtype", None))
    if hasattr(value, "data_ptr"):
        place = value.device
        device = (CPU, 0) if place.type == "cpu" else (CUDA, place.index or 0)
        return (value.data_ptr(), tuple(value.shape), tuple(value.stride()), device,
                dtype_of(value.dtype))
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"an input is a {type(value).__name__}, which is no tensor")
    return operator.index(value)


def _describe_given(value: Any) -> Any:
    """_describe() of an output's tensor, which is written, or None."""
    if value is None:
        return None
    if not getattr(getattr(value, "flags", None), "writeable", True):
        raise TypeError("an array for an output is read-only")
    return _describe(value)


def _device_of(value: Any) -> str | None:
    """The name of the device that has the tensor; None: a CPU, or no tensor."""
    place = getattr(value, "device", None)
    if getattr(place, "type", None) == "cuda":
        return f"cuda:{place.index or 0}"
    if hasattr(value, "__cuda_array_interface__"):
        return f"cuda:{getattr(place, 'id', 0) or 0}"
    return None


def _dense_strides(sizes) -> tuple:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _torch_allocator(device: str, kept: dict) -> Callable:
    found = kept.get(device)
    if found is not None:
        return found
    import torch

    place = torch.device(device if device.startswith("cuda") else "cpu")
    kept_memory = None
    if place.type == "cpu":
        from nereid.host_memory import host_memory as kept_memory

    def allocate(sizes, code, bits):
        dtype = getattr(torch, _TORCH[code, bits])
        if kept_memory is None:
            tensor = torch.empty(sizes, dtype=dtype, device=place)
        else:
            tensor = kept_memory.empty(sizes, _dense_strides(sizes), dtype)
        return tensor, _describe(tensor)

    if kept_memory is not None:  # once the model is no more
        weakref.finalize(allocate, kept_memory.trim).atexit = False
    kept[device] = allocate
    return allocate


def _numpy_allocate(sizes, code, bits):
    import numpy

    name = _NUMPY.get((code, bits))
    if name is None and "ml_dtypes" in sys.modules:
        name = getattr(sys.modules["ml_dtypes"], _NARROW[code, bits])
    if name is None:
        raise TypeError("NumPy has no dtype for an output: import ml_dtypes, pass tensors of "
                        "PyTorch, or out=")
    array = numpy.empty(sizes, name)
    return array, array.__array_struct__


_ROOM = 1 << 20  # bytes of an output that are worth a copy of the elements that it has


def _shrink(tensor: Any, sizes: tuple[int, ...]) -> Any:
    """The elements that there are, of an output whose size the data has decided.  Few of many are
    copied: a view would hold the memory of all."""
    shape = tuple(tensor.shape)
    if shape == sizes:
        return tensor
    n = math.prod(sizes)
    rows = shape[1:] == sizes[1:]
    part = tensor[:sizes[0]] if rows else tensor.reshape(-1)[:n].reshape(sizes)
    if tensor.nbytes < _ROOM or 4 * n > math.prod(shape):
        return part
    return part.clone() if hasattr(part, "clone") else part.copy()


# ---- sequences and optional inputs ----


def _placed(compiled: _Compiled, results: list, given: Sequence | None) -> list:
    """The results in the model's order: those of the executable, or the tensors given for them."""
    places: list = [None] * compiled.places
    for i, (item, (made, sizes)) in enumerate(zip(compiled.outputs, results)):
        tensor = given[i] if given and given[i] is not None else made
        places[item[4]] = tensor if sizes is None else _shrink(tensor, sizes)
    return places


def _items(value: Any) -> Sequence:
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _lasting(value: Any) -> Any:
    """The value; an array of a number of NumPy's, whose own description is of memory that is gone
    once it is read; the elements of a tensor whose memory has them negated or conjugated."""
    if is_scalar(value):
        return value.__array__()
    lazy = _is_torch(value) and (value.is_neg() or value.is_conj())
    return value.resolve_conj().resolve_neg() if lazy else value


def _with_items(named: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A list that is given for `x` is the inputs x_0, x_1 ..., as many as there are."""
    found: dict[str, Any] = {}
    for name, value in named.items():
        if name in names or not (value is None or isinstance(value, (list, tuple))):
            found[name] = value
            continue
        # "p_0" would be a parameter in the text of a graph.
        stem = next((stem for stem in (name, f"input_{name}") if f"{stem}_0" in names), name)
        items, count = _items(value), 0
        while f"{stem}_{count}" in names:
            count += 1
        if items and not count:
            found[name] = value  # which is no input
        elif len(items) != count:
            raise TypeError(f"{name!r} has {len(items)} items, and the model was read for {count}")
        found.update({f"{stem}_{i}": item for i, item in enumerate(items[:count])})
    return found


# ---- models ----


class Model:
    """A model that was read, compiled for each device on which it runs.

    Any number of threads may run it at once.
    """

    def __init__(self, graph, *, device=None, mode=None, dtype=None, ranges=None,
                 check_indices=True, libraries=None, deterministic=False, bound=(),
                 executable=None, strings=None):
        limits = [(str(name), int(lo), int(hi)) for name, (lo, hi) in dict(ranges or {}).items()]
        self._graph = graph
        self._options = {"mode": mode, "dtype": dtype, "ranges": limits,
                         "no_checks": not check_indices, "libraries": libraries,
                         "deterministic": deterministic}
        self._device = device
        self._bound = list(bound)  # inputs that the model came with: the first ones, or by name
        self._executables: dict[str, _Compiled] = {}
        self._lock = threading.Lock()
        self._static: set[str] = set()
        self._strings: Strings | None = strings
        self._takes_arrays = device == "cpu" and not bound and strings is None
        if executable is not None:
            self._executables[self._whole_name(device)] = _compiled(executable)
        elif device is not None:
            self._on(device)

    # ---- what it is ----

    def _any(self) -> _Compiled:
        for compiled in list(self._executables.values()):
            return compiled
        return self._on(self._device or "cpu")

    @property
    def inputs(self) -> list[Value]:
        """The inputs that run() takes, in their order."""
        strings = self._strings
        return [_value(v, strings is not None and v[0] in strings.inputs)
                for v in self._any().inputs[len(self._bound):]
                if strings is None or v[0] not in strings.hidden]

    @property
    def outputs(self) -> list[Value | None]:
        """The outputs, in their order; None where the model returns None."""
        compiled = self._any()
        places: list[Value | None] = [None] * compiled.places
        for item in compiled.outputs:
            place = self._strings and self._strings.outputs.get(item[4])
            places[item[4]] = _value(item, bool(place and place["strings"]))
        return places

    def _emit(self, kind: str, device: str | None) -> str:
        if self._graph is None:
            raise TypeError("an executable has no graph: load the model itself")
        with self._lock:
            return self._graph.emit({**self._options, "device": device}, _KINDS.index(kind))

    @property
    def graph(self) -> str:
        """The graph as text, as FX prints it."""
        return self._emit("graph", None)

    def text(self, stage: str, device: str | None = None) -> str:
        """The text of a stage: "graph", "kernels", "plan", "dot", "fused" or "explain"."""
        if stage not in _KINDS:
            raise ValueError(f"there is no stage {stage!r}; stages are {', '.join(_KINDS)}")
        return self._emit(stage, device or self._target())

    def _target(self) -> str:
        device = self._device or ("cuda" if driver.has_gpu() else "cpu")
        return device.split(":")[0]

    def explain(self, *inputs, device: str | None = None, **named) -> str:
        """A table: what each kernel covers, must move and compute, and how long that takes at
        least.  With inputs the model runs some times, and the table has measured times."""
        if not inputs and not named:
            return self.text("explain", device)
        values, _ = self._numbers(self._values(inputs, named))
        name = device or self._place(values)
        executable = self._on(name).executable
        with self._lock:
            return executable.explain([_describe(v) for v in values])

    def __repr__(self) -> str:
        inputs = ", ".join(f"{v.name}: {v.type}" for v in self.inputs)
        return f"<nereid.Model ({inputs})>"

    # ---- running ----

    def _on(self, name: str) -> _Compiled:
        name = self._whole_name(name)
        found = self._executables.get(name)
        if found is not None:
            return found
        with self._lock:
            if name not in self._executables:
                if self._graph is None:
                    raise TypeError(f"the executable is for {self._device}, not for {name}")
                made = self._graph.compile(driver.device(name), self._options)
                self._set_static(made)
                self._executables[name] = _compiled(made)
            return self._executables[name]

    def _set_static(self, executable) -> None:
        for i, item in enumerate(executable.inputs):
            if i < len(self._bound) or item[0] in self._static:
                executable.set_static(i)

    def set_static(self, *names: str) -> None:
        """These inputs are the same tensors in all runs that come later, as parameters are: only
        the first run looks at them."""
        known = [v.name for v in self.inputs]
        for name in names:
            if name not in known:
                raise ValueError(f"there is no input {name!r}; inputs are {', '.join(known)}")
        with self._lock:
            self._static |= set(names)
            for compiled in self._executables.values():
                self._set_static(compiled.executable)

    def _values(self, inputs: Sequence, named: Mapping[str, Any]) -> list:
        """The inputs in the model's order, after those that it came with.  A list is a sequence's
        items, None an optional input that is absent."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            named = {**inputs[0], **named}
            inputs = ()
        inputs = [item for value in inputs for item in _items(value)]
        values = [*self._bound, *inputs]
        if named:
            values += self._by_name(len(inputs), named)
        return [_lasting(value) for value in values]

    def _by_name(self, given: int, named: Mapping[str, Any]) -> list:
        names = [item[0] or "" for item in self._any().inputs[len(self._bound):]]
        hidden = self._strings.hidden if self._strings else ()
        left = [name for name in names[given:] if name not in hidden]
        named = _with_items(named, names)
        wrong = [name for name in named if name not in left]
        if wrong:
            again = "is given twice" if wrong[0] in names else "is no input"
            raise TypeError(f"{wrong[0]!r} {again}; inputs are {', '.join(names)}")
        missing = [name for name in left if name and name not in named]
        if missing:
            raise TypeError(f"input {missing[0]!r} is missing")
        return [named.get(name, 0) for name in names[given:]]

    def _numbers(self, values: list) -> tuple[list, Any]:
        """The values with numbers for strings; what makes strings of results."""
        if self._strings is None:
            return values, None
        names = [item[0] or "" for item in self._any().inputs]
        return self._strings.given(names, values)

    @staticmethod
    def _whole_name(device: str) -> str:
        """The device that "cuda" is: the one that PyTorch works on."""
        return f"cuda:{driver.current_device()}" if device == "cuda" else device

    def _place(self, values: Sequence) -> str:
        if self._device:
            return self._device
        for value in values:
            name = _device_of(value)
            if name:
                return name
        return "cpu"

    def run(self, *inputs, out: Sequence | Mapping[str, Any] | None = None,
            device: str | None = None, stream: Any = None, **named) -> list:
        """Runs the model on inputs by position or name, or on one dict of them.

        `out` has tensors for outputs, None where one is to be made: a list in the model's order,
        or a dict by name.  `stream` is a CUDA stream (an integer, or PyTorch's); the default is
        PyTorch's current one, in which the run is when this returns.
        """
        if out is None and device is None and stream is None and not (named and inputs):
            results = self._run_alike((named,) if named else inputs)
            if results is not None:
                return results
        values, texts = self._numbers(self._values(inputs, named))
        name = self._whole_name(device or self._place(values))
        compiled = self._on(name)
        torch_is_used = any(_is_torch(v) for v in values)
        number, workspace = 0, None
        if name.startswith("cuda"):
            index = int(name[5:])
            current = driver.current_stream(index)
            number = current if stream is None else int(getattr(stream, "cuda_stream", stream))
            if torch_is_used and number != current:
                import torch

                # The memory that PyTorch gives is then for work in this stream.
                wanted = (torch.cuda.ExternalStream(number, device=name) if number
                          else torch.cuda.default_stream(name))
                with torch.cuda.stream(wanted):
                    return self.run(*values[len(self._bound):], out=out, device=name)
            if torch_is_used:
                workspace = _torch_allocator(name, compiled.allocators)
        on_device = not name.startswith("cuda") or any(_device_of(v) for v in values)
        allocate = _numpy_allocate
        if torch_is_used:
            allocate = _torch_allocator(name if on_device else "cpu", compiled.allocators)
        given = self._given(compiled, out)
        pointers = given and [_describe_given(t) for t in given]
        results = compiled.executable.run([_describe(v) for v in values], pointers, allocate,
                                          workspace, number)
        places = _placed(compiled, results, given)
        return places if texts is None else self._strings.taken(places, texts)

    def _run_alike(self, given: Sequence) -> list | None:
        """run() of NumPy's arrays, or of PyTorch's tensors, by position or in one dict, where only
        a CPU can be meant: a call of a small model takes a third less.  None: it is none."""
        if not self._takes_arrays or not given:
            return None
        if type(given[0]) is dict:
            given = self._in_order(given)
            if not given:
                return None
        kind = type(given[0])
        arrays = kind is getattr(sys.modules.get("numpy"), "ndarray", 0)
        tensors = kind is getattr(sys.modules.get("torch"), "Tensor", 0)
        if not (arrays or tensors):
            return None
        for value in given:
            if type(value) is not kind:
                return None
            if tensors and (not value.is_cpu or value.is_neg() or value.is_conj()):
                return None
        compiled = self._on("cpu")
        allocate = _torch_allocator("cpu", compiled.allocators) if tensors else _numpy_allocate
        return _placed(compiled, compiled.executable.run([_describe(v) for v in given], None,
                                                         allocate, None, 0), None)

    def _in_order(self, given: Sequence) -> list | None:
        """The values of one dict in the order of the inputs; None: other names are asked for."""
        named, inputs = given[0], self._on("cpu").inputs
        if len(given) != 1 or len(named) != len(inputs):
            return None
        values = [named.get(item[0]) for item in inputs]
        return None if any(value is None for value in values) else values

    @staticmethod
    def _given(compiled: _Compiled, out) -> list | None:
        if out is None:
            return None
        items = compiled.outputs
        if isinstance(out, Mapping):
            names = [item[0] for item in items]
            for name in out:
                if name not in names:
                    raise TypeError(f"{name!r} is no output; outputs are {', '.join(names)}")
            return [out.get(name) for name in names]
        if len(out) != compiled.places:
            raise TypeError(f"the model returns {compiled.places} values, and out= has {len(out)}")
        return [out[item[4]] for item in items]

    def __call__(self, *inputs, **named):
        outputs = self.run(*inputs, **named)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def info(self, device: str | None = None) -> dict[str, int]:
        """Bytes of memory, and numbers of kernels and launches, of a run."""
        return self._on(device or self._device or "cpu").executable.info

    # ---- keeping it ----

    def bytes(self, device: str | None = None, embed_weights: bool = False) -> bytes:
        """The compiled model, which load() takes: without compiling, on the same kind of device,
        by the same version of Nereid.  Weights stay in the model's file, or are embedded."""
        if self._bound:
            raise TypeError("the model's parameters are tensors of this process: export it first "
                            "(torch.export.export)")
        if self._strings is not None:
            raise TypeError("a model of strings is kept as its file")
        name = device or self._device or ("cuda" if driver.has_gpu() else "cpu")
        executable = self._on(name).executable
        with self._lock:
            return executable.bytes(embed_weights)

    def build(self, folder: str | os.PathLike, targets: str | None = None, name: str | None = None,
              embed_weights: bool = False, ptx_only: bool = False) -> list[str]:
        """Writes a C project that needs no Nereid, and returns remarks; see nereid.build()."""
        if self._graph is None:
            raise TypeError("an executable can't be built: load the model itself")
        if self._bound:
            raise TypeError("the model's parameters are tensors of this process: export it first "
                            "(torch.export.export)")
        notes: list[str] = []
        with self._lock:
            self._graph.build(self._options, os.fspath(folder), targets, name, embed_weights,
                              ptx_only, notes)
        return notes


# ---- reading ----


def _given_items(inputs, items) -> tuple[list, dict[str, int]]:
    """The inputs as (name, tensor), without lists; the number of items of each input that is a list
    or absent: None, or -1."""
    counts = {str(name): -1 if n is None else operator.index(n)
              for name, n in dict(items or {}).items()}
    if not isinstance(inputs, Mapping):
        return [(None, item) for value in inputs or () for item in _items(value)], counts
    given = []
    for name, value in inputs.items():
        if value is not None and not isinstance(value, (list, tuple)):
            given.append((name, value))
            continue
        count = -1 if value is None else len(value)
        if counts.setdefault(name, count) != count:
            raise TypeError(f"{name!r} is given with another number of items than items= has")
        given += [(f"{name}_{i}", item) for i, item in enumerate(_items(value))]
    return given, counts


def _open(path, data, weights, inputs, items):
    names, values = [], []
    given, counts = _given_items(inputs, items)
    keep = []
    for name, value in given:
        value = _lasting(value)
        names.append(name)
        values.append(_describe(value))
        keep.append(value)
    notes: list[str] = []
    graph = _nereid.Graph(path, data, None if weights is None else os.fspath(weights), names,
                          values, notes, list(counts.items()))
    return graph, notes, keep


def _of_torch(model, inputs):
    """(data, bound) of a program, a graph module or a module of PyTorch's."""
    import torch

    if isinstance(model, torch.fx.GraphModule):
        found = _of_graph_module(model)
        if found:
            return found
    if isinstance(model, torch.nn.Module):
        if inputs is None:
            raise TypeError("a module is exported for inputs of a kind: give some by inputs=, or "
                            "export it (torch.export.export)")
        args, kwargs = ((), dict(inputs)) if isinstance(inputs, Mapping) else (tuple(inputs), {})
        model = torch.export.export(model, args, kwargs)
    flex = any(n.target in _flex(torch) for n in model.graph.nodes)
    # Calls of vmap's own functions, which associative_scan makes, can't be saved.
    if flex or any(getattr(n.target, "__module__", "") == "torch._functorch.predispatch"
                   for n in model.graph.nodes if n.op == "call_function"):
        model = model.run_decompositions({})
    if flex:
        return _of_flex_program(model)
    buffer = io.BytesIO()
    torch.export.save(model, buffer)
    return buffer.getvalue(), []


def _flex(torch) -> tuple:
    """FlexAttention's operators, which torch.export.save can't write."""
    return tuple(filter(None, (getattr(torch.ops.higher_order, name, None) for name in
                               ("flex_attention", "flex_attention_backward"))))


def _of_flex_program(program):
    """The text of a program that torch.export.save can't write, and its tensors: its first inputs
    as it has them.  Their names tell them apart from the user's no more."""
    import torch

    if program.graph_signature.buffers_to_mutate or program.graph_signature.user_inputs_to_mutate:
        raise TypeError("the program writes to its buffers or inputs, and has flex_attention, "
                        "which torch.export.save can't write: compile it by torch.compile")
    tensors = {**program.state_dict, **program.constants}
    given = {spec.arg.name: tensors[spec.target]
             for spec in program.graph_signature.input_specs if spec.target is not None}
    graph, place = torch.fx.Graph(), {}
    for n in program.graph.nodes:
        place[n] = graph.node_copy(n, lambda x: place[x])
        if n.name in given:
            place[n].target = place[n].name = f"of_{n.name}"
    graph.lint()
    text = torch.fx.GraphModule(program.graph_module, graph).print_readable(print_output=False)
    return text.encode(), [given[n.name].detach() for n in program.graph.nodes if n.name in given]


def _of_graph_module(module):
    """The text of a graph of ATen's operators whose nodes have types, as make_fx and AOTAutograd
    make it, and its parameters, which become the first inputs; None: the graph is none such."""
    import torch

    nodes = list(module.graph.nodes)
    typed = all("val" in n.meta for n in nodes if n.op == "placeholder")
    if not typed or any(n.op in ("call_module", "call_method") for n in nodes):
        return None
    if any(n.op == "call_function" and not isinstance(n.target, torch._ops.OpOverload)
           and n.target not in (operator.getitem, *_flex(torch), *_NUMBERS) for n in nodes):
        return None
    graph, bound, place = torch.fx.Graph(), [], {}
    for n in nodes:
        if n.op != "get_attr":
            continue
        value = operator.attrgetter(n.target)(module)
        if isinstance(value, torch.fx.GraphModule) and "." not in n.target:
            continue  # a function of scores
        if not isinstance(value, torch.Tensor):
            return None
        place[n] = graph.placeholder(n.name)
        place[n].meta["val"] = value.detach()
        bound.append(value.detach())
    for n in nodes:
        if n not in place:
            place[n] = graph.node_copy(n, lambda x: place[x])
    lifted = torch.fx.GraphModule(module, graph)
    return lifted.print_readable(print_output=False).encode(), bound


_NUMBERS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg)


def _is_of_torch(model: object) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    exported = getattr(getattr(torch, "export", None), "ExportedProgram", ())
    return isinstance(model, (torch.nn.Module, exported))


def load(model, *, weights: str | os.PathLike | None = None, device: str | None = None,
         mode: str | None = None, dtype: str | None = None,
         ranges: Mapping[str, tuple[int, int]] | None = None, inputs=None,
         check_indices: bool = True, libraries: str | None = None, deterministic: bool = False,
         items: Mapping[str, int | None] | None = None) -> Model:
    """Reads a model.

    `model` is a path (.onnx, .pt2, a graph as text), the bytes of such a file, text of a graph,
    bytes that Model.bytes() gave, an ExportedProgram, or a module of PyTorch's: a GraphModule of
    ATen's operators with types is taken as it is, any other module is exported for `inputs`.

    `weights` is the file that has the parameters of a graph as text, or, of Model.bytes(), where
    the model's file is now.  `inputs` are values, by position or name, that decide shapes of an
    ONNX model or types of a text.  `items` says of an ONNX model's inputs how many tensors a
    sequence has, and None of an optional input that is absent: {"boxes": 3, "mask": None};
    `inputs` by name say the same by lists and None.

    `device` is "cpu", "cuda" or "cuda:1"; without one the model runs where its inputs are.
    `mode` is "default", "eager", "reduce-overhead" or "max-autotune"; `dtype` "fp32", "bf16" or
    "fp16" is what weights and floating inputs have; `ranges` narrows open sizes:
    {"s0": (1, 64)}, or by an input's axis {"x[0]": (1, 64)}.  `libraries` says which products of
    matrices cuBLAS, a BLAS or oneDNN compute: those that "records" say to be faster so (the
    default), "always", or "none".  `deterministic` gives sums that programs add to memory one
    order, so that runs on a GPU give the same bits: values at indices, gradients of attention.
    """
    options = {"device": device, "mode": mode, "dtype": dtype, "ranges": ranges,
               "check_indices": check_indices, "libraries": libraries,
               "deterministic": deterministic}
    bound: list = []
    path = data = None
    if _is_of_torch(model):
        data, bound = _of_torch(model, inputs)
        path, inputs = "<module>", None
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
    elif isinstance(model, str) and "\n" in model:
        data = model.encode()
        path = "<text>"
    elif isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
    else:
        raise TypeError(f"{type(model).__name__} is no model: a path, bytes, text, or a program of "
                        "torch.export")
    if data is not None and data.startswith(_EXECUTABLE):
        if items:
            raise TypeError("items= is fixed in an executable: load the model itself")
        return _load_executable(data, weights, options)
    graph, notes, keep = _open(path, data, weights, inputs, items)
    strings = Strings.read(graph.emit({}, _KINDS.index("strings")))
    made = Model(graph, bound=bound, strings=strings, **options)
    made._keep = keep  # the graph reads their elements again when it is compiled
    made.notes = notes
    return made


def _load_executable(data: bytes, weights, options) -> Model:
    fixed = [name for name in ("mode", "dtype", "ranges") if options[name]]
    if fixed:
        raise TypeError(f"{fixed[0]}= is fixed in an executable: load the model itself")
    device = options["device"] or ("cuda" if driver.has_gpu() else "cpu")
    executable = _nereid.Executable.from_bytes(
        data, driver.device(device), None if weights is None else os.fspath(weights))
    return Model(None, device=device, executable=executable)


def build(model, folder: str | os.PathLike, targets: str | None = None, name: str | None = None,
          embed_weights: bool = False, ptx_only: bool = False, **options) -> list[str]:
    """Writes a C project that needs no Nereid: `make -C FOLDER` builds libmodel.a, whose functions
    model.h tells, and a program `model`.

    `model` is a Model or what load() takes, with its options.  `targets` is "sm_90a,sm_80" or
    "cpu"; the default is the GPU of this machine, else its CPU.  `name` makes the project export
    NAME_run() and so on, and have NAME.h and libNAME.a.  Returns remarks.

    A jit function is written as a C source and a header: see nereid.compiler.ahead.build_kernel()
    for its options.
    """
    if hasattr(model, "arg_names"):
        from nereid.compiler.ahead import build_kernel

        return build_kernel(model, folder, targets, name, ptx_only=ptx_only, **options)
    if not isinstance(model, Model):
        model = load(model, **options)
    elif options:
        raise TypeError(f"{next(iter(options))}= belongs to load()")
    return model.build(folder, targets, name, embed_weights, ptx_only)
