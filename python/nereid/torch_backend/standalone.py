"""Graphs that other programs compile by Nereid, and keep: `nereid.standalone_compile`.

    artifact = nereid.standalone_compile(module, inputs, dynamic_shapes="from_graph")
    artifact.save(path="f.bin")
    artifact = nereid.CompiledArtifact.load(path="f.bin")
    results = artifact(*inputs)

The names and arguments are those of `torch._inductor.standalone_compile`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import pickle
import tempfile
from typing import Callable, NamedTuple

import torch
from sympy import sympify
from torch._dynamo.source import ConstantSource
from torch._guards import TracingContext, detect_fake_mode, tracing
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from nereid import _nereid
from nereid.errors import NereidError
from nereid.torch_backend import Embedding, compile_ahead
from nereid.torch_backend.base.nodes import is_tensor
from nereid.torch_backend.base.settings import settings_of
from nereid.torch_backend.cache.ahead import StoredFunction, StoredFunctionError

_HEADER = b"nereid artifact 2\n"
_PAYLOAD, _FORMATS = "artifact", ("binary", "unpacked")
_FROM = ("from_graph", "from_example_inputs", "from_tracing_context")


class SizesDiffer(NereidError):
    """Decisions about sizes that were taken while a graph was compiled exclude those of a call."""


class _Form(NamedTuple):
    """How an artifact is called: the tensors that the module held, which are inputs after those of
    the call, the structure of the results as text if they are not one tuple, and the text of a
    function that checks the sizes of a call, or ""."""
    held: tuple
    structure: str
    checks: str


def _checker(text: str) -> Callable | None:
    if not text:
        return None
    names: dict = {"SizesDiffer": SizesDiffer}
    exec(compile(text, "<sizes>", "exec"), names)
    return names["check"]


class CompiledArtifact:
    """A compiled graph, which is called as the graph is, with gradients if it was compiled with
    them.  Another process loads it without compiling, on the same kind of device."""

    def __init__(self, function: StoredFunction, form: _Form, programs: tuple = ()):
        self._function, self._form, self._programs = function, form, programs
        self._check = _checker(form.checks)
        self._structure = pytree.treespec_loads(form.structure) if form.structure else None

    def __call__(self, *args):
        if self._check is not None:
            self._check(args)
        made = self._function(*args, *self._form.held)
        return made if self._structure is None else pytree.tree_unflatten(made, self._structure)

    def is_saveable(self) -> bool:
        """False: PyTorch's cache can't store a value or an operator of the graph."""
        return self._function.has_bytes

    def serialize(self) -> bytes:
        """The bytes of the compiled graph alone, as `AOTCompiledArtifact` of PyTorch has them,
        which loads them.  What was made of it then gets the tensors that the module held as last
        inputs, gives a tuple, and checks no sizes."""
        return self._function.bundle

    def save(self, *, path: str, format: str = "binary") -> None:
        """Writes one file, or ("unpacked") a folder that has the texts of the graph beside it."""
        _check_format(format)
        parts = pickle.dumps((torch.__version__, _nereid.build_id(), self._form,
                 StoredFunction.serialize_compile_artifacts(self._function)))
        data = _HEADER + hashlib.sha256(parts).digest() + parts
        if format == "binary":
            _write(pathlib.Path(path), data)
            return
        folder = pathlib.Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _write(folder / _PAYLOAD, data)
        except BaseException:
            with contextlib.suppress(OSError):  # it has other files
                folder.rmdir()
            raise
        for program in self._programs:
            program.dump(str(folder))

    @staticmethod
    def load(*, path: str, format: str = "binary") -> CompiledArtifact:
        """Raises a `NereidError` for a file that is not of this version of PyTorch.  One that
        another build of Nereid wrote is compiled anew, and the log says so.  A file is code, as a
        shared library is, and its pickled values may run anything: load only your own."""
        _check_format(format)
        file = pathlib.Path(path, _PAYLOAD) if format == "unpacked" else pathlib.Path(path)
        data = file.read_bytes()
        if not data.startswith(_HEADER):
            raise StoredFunctionError(f"{file} is not an artifact of Nereid's")
        begin = len(_HEADER) + hashlib.sha256().digest_size
        if hashlib.sha256(data[begin:]).digest() != data[len(_HEADER):begin]:
            raise StoredFunctionError(f"{file} is damaged: its bytes differ from their sum")
        try:
            version, build, form, function = pickle.loads(data[begin:])
        except Exception as error:
            raise StoredFunctionError(f"{file} is damaged: {error}") from error
        if version != torch.__version__:
            raise StoredFunctionError(f"{file} was written under PyTorch {version}, and this is "
                                      f"{torch.__version__}: compile the graph again")
        return CompiledArtifact(StoredFunction.deserialize_compile_artifacts(function), form)


def _check_format(format: str) -> None:
    if format not in _FORMATS:
        raise ValueError(f"an artifact's format is one of {_FORMATS}, not {format!r}")


def _mode_of_files() -> int:
    """What a new file's mode is under the process's umask."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _write(path: pathlib.Path, data: bytes) -> None:
    """Writes a file that other processes see whole, or not at all."""
    file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False)
    try:
        with file:
            file.write(data)
        os.chmod(file.name, _mode_of_files())
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise


# ---- the module ----


def _lift(module: torch.fx.GraphModule, graph: torch.fx.Graph) -> list:
    """Makes inputs of the tensors that the module holds; which they are."""
    held: dict = {}
    last = [node for node in graph.nodes if node.op == "placeholder"][-1:]
    for node in list(graph.nodes):
        if node.op != "get_attr":
            continue
        value = module
        for name in node.target.split("."):
            value = getattr(value, name)
        if not isinstance(value, torch.Tensor):
            continue  # the graph of a region
        if id(value) not in held:
            place = graph.inserting_after(*last) if last else graph.inserting_before()
            with place:
                place = graph.placeholder(f"held_{len(held)}")
            place.meta = dict(node.meta)
            held[id(value)] = place, value
            last = [place]
        node.replace_all_uses_with(held[id(value)][0])
        graph.erase_node(node)
    return [value for _, value in held.values()]


def _prepare(module: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, list, str]:
    """A copy of the module that holds no tensors and gives one tuple; the tensors, and the
    structure of the results if that is another."""
    graph = torch.fx.Graph()
    results = graph.graph_copy(module.graph, {})
    leaves, structure = pytree.tree_flatten(results)
    graph.output(tuple(leaves))
    held = _lift(module, graph)
    plain = type(results) is tuple and len(leaves) == len(results)
    text = "" if plain else pytree.treespec_dumps(structure)
    return torch.fx.GraphModule(module, graph), held, text


def _mode_of(module: torch.fx.GraphModule, inputs, dynamic_shapes: str) -> FakeTensorMode:
    """Where sizes are open or fixed."""
    if dynamic_shapes == "from_tracing_context":
        context = TracingContext.try_get()
        if context is None or context.fake_mode is None:
            raise ValueError("dynamic_shapes='from_tracing_context' is for backends of "
                             "torch.compile, which PyTorch calls in such a context")
        return context.fake_mode
    if dynamic_shapes == "from_graph":
        (output,) = [node for node in module.graph.nodes if node.op == "output"]
        for node in (*output.all_input_nodes, *module.graph.nodes):
            value = node.meta.get("example_value", node.meta.get("val"))
            if is_tensor(value) and getattr(value, "fake_mode", None) is not None:
                return value.fake_mode
    return detect_fake_mode(inputs) or FakeTensorMode(shape_env=ShapeEnv())


def _is_real(value) -> bool:
    return is_tensor(value) and not isinstance(value, FakeTensor) and \
        not is_traceable_wrapper_subclass(value)


def _open_number(value: int, i: int, shape_env: ShapeEnv):
    """What AOTAutograd makes of a number that is an input."""
    source = ConstantSource(f"sym_{i}")
    symbol = shape_env.create_symbol(value, source, positive=value >= 0)
    return shape_env.create_symintnode(symbol, hint=value, source=source)


def _fake_inputs(mode: FakeTensorMode, inputs, held: list, fixed: bool) -> list:
    """The inputs as AOTAutograd will see them: the mode remembers what it made of a tensor.  The
    sizes of those that the module held are fixed."""
    for value in held:
        if _is_real(value):
            mode.from_tensor(value, static_shapes=True)
    found = []
    for i, value in enumerate(inputs):
        if _is_real(value):
            value = mode.from_tensor(value, static_shapes=fixed or mode.static_shapes)
        elif type(value) is int and mode.shape_env is not None and not fixed:
            value = _open_number(value, i, mode.shape_env)
        found.append(value)
    return found


def _places(inputs):
    """(size or number, Python text of its value in a call, the input's place)."""
    for i, value in enumerate(inputs):
        if isinstance(value, torch.SymInt) or type(value) is int:
            yield value, f"args[{i}]", i
    for i, value in enumerate(inputs):
        for axis, size in enumerate(value.shape if is_tensor(value) else ()):
            yield size, f"args[{i}].shape[{axis}]", i


def _symbols(inputs) -> dict:
    """{symbol: Python text of its value in a call} of sizes and numbers that inputs are."""
    found: dict = {}
    for value, text, _ in _places(inputs):
        if isinstance(value, torch.SymInt) and value.node.expr.is_symbol:
            found.setdefault(value.node.expr, text)
    return found


def _given_sizes(examples, inputs) -> dict:
    """{condition: None} that sizes of real examples, and numbers, are fixed, or equal to one
    another."""
    symbols, found = _symbols(inputs), {}
    for value, text, i in _places(inputs):
        if not _is_real(examples[i]) and type(examples[i]) is not int:
            continue  # the caller's symbols, and the caller's promise
        if not isinstance(value, torch.SymInt):
            found[f"{text} == {value}"] = None
        elif symbols.get(value.node.expr, text) != text:
            found[f"{text} == {value.node.expr}"] = None
    return found


def _ranges(symbols: dict, shape_env: ShapeEnv, limits: dict | None) -> list:
    """Conditions that sizes are within what the graph was compiled for."""
    found = []
    for symbol in symbols:
        known = shape_env.var_to_range.get(symbol)
        least, most = (known.lower, known.upper) if known is not None else (None, None)
        if str(symbol) in (limits or {}):
            least, most = map(sympify, limits[str(symbol)])
        for bound, sign in ((least, ">="), (most, "<=")):
            if bound is not None and bound.is_Integer and abs(bound) < 1 << 62:
                found.append(f"{symbol} {sign} {bound}")
    return found


def _conditions(symbols: dict, guards: list) -> list:
    """Decisions about sizes that were taken while the graph was compiled, as Python's text."""
    from torch.utils._sympy.printers import PythonPrinter

    return [PythonPrinter().doprint(expr) for expr in guards
            if expr.free_symbols and expr.free_symbols <= symbols.keys()]


def _checks(symbols: dict, conditions: list) -> str:
    """The text of a function that refuses calls for which a condition does not hold."""
    if not conditions:
        return ""
    lines = [f"    {symbol} = {text}" for symbol, text in symbols.items()]
    for condition in dict.fromkeys(conditions):
        lines += [f"    if not ({condition}):",
                  f"        raise SizesDiffer({f'the graph was compiled for {condition}'!r})"]
    return "\n".join(["def check(args):", *lines, ""])


def _limits(symbols: dict, limits: tuple | None) -> dict | None:
    """{name: (least, most)} of the first open size."""
    if limits is None:
        return None
    for symbol in symbols:
        return {str(symbol): (int(limits[0]), int(limits[1]))}
    return None


def standalone_compile(gm: torch.fx.GraphModule, example_inputs, *,
                       dynamic_shapes: str = "from_graph", options: dict | None = None,
                       mode: str | None = None, limits: tuple | None = None,
                       change: Callable | None = None, key: str = "") -> CompiledArtifact:
    """Compiles a graph of TorchDynamo's, or of `make_fx`, for whoever embeds Nereid.

    `dynamic_shapes` says which sizes are open: those that are in the graph ("from_graph"), none
    ("from_example_inputs"), or those of the backend of torch.compile that calls this
    ("from_tracing_context").  `options` and `mode` are torch.compile's.  `limits` are the least
    and the most that the first open size may be, 1 too where PyTorch's shapes say at least 2.
    `change` is called with the module of each graph that AOTAutograd makes before it is compiled,
    and `key` is a text that differs where `change` does something else.
    """
    if dynamic_shapes not in _FROM:
        raise ValueError(f"dynamic_shapes is one of {_FROM}, not {dynamic_shapes!r}")
    settings = settings_of(mode, options)
    fake_mode = _mode_of(gm, example_inputs, dynamic_shapes)
    module, held, structure = _prepare(gm)
    shape_env = fake_mode.shape_env or ShapeEnv()
    inputs, sizes = list(example_inputs), {}
    if dynamic_shapes != "from_tracing_context":  # whose guards are TorchDynamo's
        fakes = _fake_inputs(fake_mode, inputs, held, dynamic_shapes == "from_example_inputs")
        sizes = _given_sizes(inputs, fakes)
        inputs = [fake if isinstance(fake, torch.SymInt) else value
                  for fake, value in zip(fakes, inputs)]
    else:
        fakes = inputs
    symbols = _symbols(fakes)  # before decisions replace some
    embedding = Embedding(change, _limits(symbols, limits))
    before = len(shape_env.guards)
    with contextlib.ExitStack() as stack:
        stack.enter_context(tracing(TracingContext(fake_mode)))
        tag = repr((torch.compiler.config.cache_key_tag, embedding.limits, key))
        stack.enter_context(torch.compiler.config.patch(cache_key_tag=tag))
        function, programs = compile_ahead(module, [*inputs, *held], settings, embedding)
    checks = _checks(symbols, [
        *sizes, *_conditions(symbols, [guard.expr for guard in shape_env.guards[before:]]),
        *_ranges(symbols, shape_env, embedding.limits)])
    return CompiledArtifact(function, _Form(tuple(held), structure, checks), tuple(programs))
