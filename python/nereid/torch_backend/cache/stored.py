"""Programs in PyTorch's cache of AOTAutograd, and in artifacts that are carried to other machines.

A second process then neither differentiates a graph nor writes its text: what is stored is the
function of a program and, of each segment, its text and its executable.
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
import functools
import hashlib
import itertools
import operator
import pathlib

import torch
from torch._guards import detect_fake_mode
from torch._inductor.output_code import OutputCode

from nereid import _nereid
from nereid.torch_backend.base.log import log
from nereid.torch_backend.base.overlaps import overlaps_of
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.cache.ahead import StoredFunctionError
from nereid.torch_backend.cache.cache_keys import without_inductor
from nereid.torch_backend.segments.called import Called
from nereid.torch_backend.segments.program import function_of
from nereid.torch_backend.segments.segment import Compiled, graph_options, ranges_of, symbols_of


_loaded: contextvars.ContextVar = contextvars.ContextVar("loaded")
_FEW = 50  # nodes without gradients, which are traced sooner than they are looked up


def has_gradients(module: torch.fx.GraphModule, inputs) -> bool:
    """Is it a graph that AOTAutograd differentiates?"""
    values = itertools.chain(inputs, module.parameters())
    return torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in values)


def _is_small(module: torch.fx.GraphModule, inputs) -> bool:
    return not has_gradients(module, inputs) and len(module.graph.nodes) < _FEW


def may_store(module: torch.fx.GraphModule, inputs, settings: Settings, recorder) -> bool:
    """Runs that somebody watches, and graphs that PyTorch records, are compiled in each process."""
    if recorder or settings.verify or settings.dump or settings.cuda_graphs or settings.freezes:
        return False
    if settings.cache_autograd is None:
        return not _is_small(module, inputs)
    return settings.cache_autograd


def _ranges(inputs) -> list:
    """What kernels may rely on of open sizes, beside the sizes of the call that compiles them."""
    mode = detect_fake_mode(inputs)
    return ranges_of(symbols_of(inputs), mode.shape_env if mode is not None else None)


@functools.cache
def sources() -> str:
    """Differs with any change of the backend's text."""
    found = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parents[1].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


@contextlib.contextmanager
def cache_of(settings: Settings, inputs):
    """PyTorch's cache, with entries that are this backend's and hold whole programs.  Gives a list
    that the programs are added to that it loads."""
    tag = (torch.compiler.config.cache_key_tag, "nereid", _nereid.build_id(), sources(), settings,
           graph_options(settings), _ranges(inputs), overlaps_of(inputs), torch.get_num_threads())
    loaded: list = []
    before = _loaded.set(loaded)
    try:
        with (without_inductor(), torch.compiler.config.patch(cache_key_tag=repr(tag)),
              torch._functorch.config.patch(bundled_autograd_cache=True,
                                            force_non_lazy_backward_lowering=True)):
            yield loaded
    finally:
        _loaded.reset(before)


class _Operator:
    """An operator of PyTorch's, by its name."""

    def __init__(self, target):
        higher = isinstance(target, torch._ops.HigherOrderOperator)
        self.names = ["higher_order", target.name()] if higher else str(target).split(".")

    def find(self):
        found = torch.ops
        for name in self.names:
            found = getattr(found, name)
        return found


def _stored_value(value):
    from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache

    if isinstance(value, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return _Operator(value)
    if isinstance(value, Called):
        stored = StoredProgram(value.program)
        stored.prepare_for_serialization()
        return stored
    plain = (Compiled, int, float, complex, str, bool, torch.dtype, torch.device, torch.layout,
             torch.memory_format)
    is_operator = callable(value) and getattr(operator, getattr(value, "__name__", ""), 0) is value
    if isinstance(value, plain) or is_operator:
        return value
    raise BypassAOTAutogradCache(f"a program with a {type(value).__name__}")


class StoredProgram(OutputCode):
    """A program's function, which PyTorch's cache may keep."""

    def __init__(self, program):
        self.program, self.kind = program, program.kind
        self.writes, self.is_bare = program.writes, program.is_bare
        self.call = program.call
        self.source, self.values = None, {}
        self.maker = (_nereid.build_id(), sources())
        self._boxed_call = True  # of the object, whose attributes PyTorch's wrappers copy

    def __call__(self, inputs):
        return self.call(inputs)

    @property
    def function(self):
        return self.call

    def prepare_for_serialization(self) -> None:
        from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache

        program, self.program, self.call = self.program, None, None
        program.finish()  # which nodes the compiler refuses is known then
        if not program.source:
            raise BypassAOTAutogradCache("a graph that PyTorch runs")
        self.source = program.source
        self.values = {name: _stored_value(value) for name, value in program.values.items()}

    def __deepcopy__(self, memo):
        return copy.copy(self)

    def post_compile(self, example_inputs, constants, graph_kwargs) -> None:
        """After it was read; a region's is read once, and used by all its calls."""
        if self.call is not None:
            return
        self._compare_makers()
        values = {name: value.find() if isinstance(value, _Operator) else value
                  for name, value in self.values.items()}
        segments = [value for value in values.values() if isinstance(value, Compiled)]
        for segment in segments:
            segment.load()
        for region in values.values():
            if isinstance(region, StoredProgram):
                region.post_compile(example_inputs, constants, graph_kwargs)
        self.call = function_of(self.source, values)
        _loaded.get([]).append(self)  # a file that PyTorch loads has no such list
        log.info("%s graph of %d segments: from PyTorch's cache", self.kind, len(segments))

    def _compare_makers(self) -> None:
        """A file may be of another build.  Its segments' texts are compiled anew; the functions
        that the program's text calls must be those of the package that wrote it."""
        build, text = self.maker
        if text != sources():
            raise StoredFunctionError(
                f"the stored {self.kind} graph was written by another version of Nereid (build "
                f"{build}, this is {_nereid.build_id()}): compile it again")
        if build != _nereid.build_id():
            log.warning("a stored %s graph was compiled by build %s of Nereid, and this is %s: "
                        "its segments are compiled anew", self.kind, build, _nereid.build_id())

    def dump(self, folder: str) -> None:
        """The text of each segment and of the program, in files that are new; as Program.dump."""
        place = pathlib.Path(folder)
        stem = f"{len(list(place.iterdir())):04}_{self.kind}"
        (place / f"{stem}.program.py").write_text(self.source)
        segments = [value for value in self.values.values() if isinstance(value, Compiled)]
        for i, segment in enumerate(segments):
            (place / f"{stem}.{i}.py").write_text(segment.source)

    def set_triton_bundle(self, triton_bundle) -> None:
        """There is none."""
