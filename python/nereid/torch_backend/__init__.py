"""`torch.compile(backend="nereid")`: graphs of PyTorch's, for inference and training.

    model = torch.compile(model, backend="nereid")

TorchDynamo finds the graphs, AOTAutograd differentiates them; forward and backward are each
partitioned into segments that Nereid compiles, and nodes that PyTorch runs (`partition`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import itertools
import time
from typing import Callable

import torch

from nereid.torch_backend.aliases import layout_of, overlaps_by_pytorch
from nereid.torch_backend.base import log
from nereid.torch_backend.base.failures import (Original, Warnings, boxed, has_eager_form,
                                                may_be_caught)
from nereid.torch_backend.base.flags import guard
from nereid.torch_backend.base.graph_texts import no_graph_texts
from nereid.torch_backend.base.settings import Settings, settings_of
from nereid.torch_backend.cache.ahead import StoredFunction, asks_for_bytes
from nereid.torch_backend.contradictions import repeated_by_pytorch
from nereid.torch_backend.decompositions.composites import composite_forms
from nereid.torch_backend.decompositions.fake_results import fake_results
from nereid.torch_backend.decompositions.table import Decompositions
from nereid.torch_backend.direct import direct
from nereid.torch_backend.passes.attention import keep_attention, repeat_masks
from nereid.torch_backend.passes.budget import partition_by_budget
from nereid.torch_backend.passes.constants import make_constants_in_place
from nereid.torch_backend.passes.row_chunks import chunk_logits
from nereid.torch_backend.passes.saved import save_less
from nereid.torch_backend.passes.seeds import replace_random
from nereid.torch_backend.passes.size_floats import replace_size_floats
from nereid.torch_backend.passes.size_sums import expand_size_sums
from nereid.torch_backend.passes.strides import (choose_saved_strides, report_strides,
                                                 take_strides)
from nereid.torch_backend.passes.written_regions import give_written
from nereid.torch_backend.segments.called import called_modules
from nereid.torch_backend.segments.cuda_graphs import forget, recorded
from nereid.torch_backend.segments.held import held_of
from nereid.torch_backend.segments.program import Program, Programs, written_inputs


@dataclasses.dataclass(frozen=True)
class Embedding:
    """What a program that embeds the backend says of a graph: a function that changes the graph
    of AOTAutograd before it is compiled, and {name: (least, most)} of open sizes."""

    change: Callable | None = None
    limits: dict | None = None


_programs = Programs()
_fake_results = fake_results()
_no_texts = no_graph_texts()
_numbers = itertools.count()
log.start()


def _keep_saved() -> None:
    """No kernel writes over what a forward graph has saved, so that a backward pass may come again
    (`retain_graph=True`), which AOTAutograd refuses for graphs that may do so."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.fw_metadata is not None:
        context.fw_metadata.bw_donated_idxs = []


def _compile(module: torch.fx.GraphModule, examples, settings: Settings, kind: str,
             recorder=None, stores: bool = False, warnings: Warnings | None = None,
             made: list | None = None, embedding: Embedding = Embedding(),
             given: list | None = None) -> Callable:
    begin = time.perf_counter()
    if embedding.change is not None:
        embedding.change(module)
    give_written(module)
    for part in (*called_modules(module), module):
        if not settings.fallback_random:
            replace_random(part)
        expand_size_sums(part)
        replace_size_floats(part)
        make_constants_in_place(part)
    if kind == "forward":
        choose_saved_strides(module)
        report_strides(module)
        _keep_saved()
    elif kind == "backward":
        take_strides(module, examples)
    if kind == "inference":
        chunk_logits(module, settings)
    held = held_of(module.graph, given) if kind == "inference" and given else None
    program = Program(module, settings, kind, next(_numbers), recorder, warnings,
                      limits=embedding.limits, held=held)
    program.seconds += time.perf_counter() - begin
    if settings.waits or recorder is not None:
        program.finish()
    _programs.add(program)
    if made is not None:
        made.append(program)
    if recorder is not None:
        recorder.programs.append(program)
    if stores:
        from nereid.torch_backend.cache.stored import StoredProgram

        return StoredProgram(program)
    call = program.call
    if settings.cuda_graphs:
        call = recorded(program, kind)
    call._boxed_call = True
    return call


@contextlib.contextmanager
def _no_collections():
    """Reference cycles are collected afterwards.  Tracing, and a cut of a graph, make hundreds of
    thousands of objects that live until it is done, and a collection visits them and all else that
    lives, which takes 0.2 s."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _partition(module, inputs, *, settings: Settings, **kwargs):
    if not settings.fallback_random:
        replace_random(module)
    repeat_masks(module)
    chunk_logits(module, settings)
    save_less(module, settings.by_pytorch)
    return partition_by_budget(module, inputs, settings, **kwargs)


def _early_backward():
    """Lets AOTAutograd hand over a backward graph as soon as it has it, not when it is first run:
    its kernels are compiled beside those of the forward graph, and if it can't be compiled,
    PyTorch runs both.  explain() shows a backward graph that runs alone, and `verify` raises."""
    return torch._functorch.config.patch(force_non_lazy_backward_lowering=True)


def _differentiate(module: torch.fx.GraphModule, inputs, settings: Settings, recorder,
                   warnings: Warnings, ahead: bool,
                   embedding: Embedding = Embedding()) -> tuple[Callable, list]:
    """What AOTAutograd makes of the graph by our compilers, and the programs that it calls;
    `ahead` of time for a file."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler

    from nereid.torch_backend.cache.stored import (StoredProgram, cache_of, has_gradients,
                                                   may_store)

    made: list = []
    loaded: list = []
    returned = False

    def compiler(kind: str) -> Callable:
        def compile(graph, examples):
            late = Original(graph) if returned else None  # a backward graph, at its first run
            try:
                return _compile(graph, examples, settings, kind, recorder, stores, warnings, made,
                                embedding, given)
            except Exception as error:
                if late is None or settings.verify or not may_be_caught(error):
                    raise
                warnings.warn(error, graph.graph, f"a {kind} graph")
                function = late.function()
                if late.has_eager_form:
                    return boxed(function)
                program = Program(graph, settings, kind, next(_numbers), None, warnings)
                program.finish()
                call = program.call
                call._boxed_call = True
                return call

        return SerializableAOTDispatchCompiler(StoredProgram, compile) if stores else compile

    stores = ahead or may_store(module, inputs, settings, recorder)
    freezes = settings.freezes and not ahead
    given = [*module.parameters(), *module.buffers(), *inputs] if freezes else None
    guard(module)
    keep_attention(module, settings)
    compiled = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=Decompositions(settings.fallback_random, settings.check_indices,
                                      has_gradients(module, inputs)),
        partition_fn=functools.partial(_partition, settings=settings),
        keep_inference_input_mutations=True,
    )
    with contextlib.ExitStack() as context:
        context.enter_context(_no_collections())
        context.enter_context(composite_forms())
        context.enter_context(_fake_results)
        context.enter_context(_no_texts)
        if stores:
            loaded = context.enter_context(cache_of(settings, inputs))
        if recorder is None and not settings.verify:
            context.enter_context(_early_backward())
        function = compiled(module, inputs)
    for program in made:
        if not has_eager_form(program.graph):  # after a first run it is too late to do without
            program.finish()
    returned = True
    return function, made + loaded


def _guard_signs(inputs) -> None:
    """A graph's numbers have a sign: sizes are never negative in Nereid's texts, so that a negative
    number is a constant, which calls are guarded for."""
    for value in inputs:
        if isinstance(value, torch.SymInt) and value.node.has_hint() and not value >= 0:
            int(value)


def compile_ahead(module: torch.fx.GraphModule, inputs, settings: Settings,
                  embedding: Embedding) -> tuple[StoredFunction, list]:
    """The function of a graph for a program that keeps it, and the programs that it calls, which
    are complete.  PyTorch runs a graph that can't be compiled."""
    original, warnings = Original(module), Warnings()
    try:
        with torch._functorch.config.patch(bypass_autograd_cache_key=True,
                                           force_autograd_cache=True, enable_autograd_cache=True):
            _guard_signs(inputs)
            function, programs = _differentiate(module, inputs, settings, None, warnings, True,
                                                embedding)
            _finish(programs)
        written = written_inputs(programs, len(inputs))
        layout = layout_of(original.graphs[0][1], inputs, written) if written else None
        return StoredFunction(function, layout), programs
    except Exception as error:
        if settings.verify or not may_be_caught(error):
            raise
        return _run_by_pytorch(original, error, warnings), []


def _finish(programs: list) -> None:
    """Completes programs that are stored; raises why one of them can't be."""
    for program in programs:
        if isinstance(program, Program):
            program.finish()
            if program.failure is not None:
                raise program.failure


def _run_by_pytorch(original: Original, error: Exception, warnings: Warnings) -> StoredFunction:
    """What an embedding program, or `aot_compile`, gets for a graph that can't be compiled."""
    function = original.function()
    warnings.warn(error, original.module.graph, "a graph")
    return StoredFunction(function, None, f"{type(error).__name__}: {error}")


def backend(module: torch.fx.GraphModule, inputs, *, mode: str | None = None,
            options: dict | None = None, recorder=None) -> Callable:
    """What torch.compile calls with a graph and its example inputs; `recorder` is explain()'s."""
    settings = settings_of(mode, options)
    original, warnings, ahead = None, Warnings(), False
    try:
        original = Original(module)
        ahead = asks_for_bytes()
        _guard_signs(inputs)
        function, programs = _differentiate(module, inputs, settings, recorder, warnings, ahead)
        written = written_inputs(programs, len(inputs))
        if ahead:
            _finish(programs)
            graph = original.graphs[0][1]
            return StoredFunction(function, layout_of(graph, inputs, written))
        if recorder is None and not settings.verify and not settings.cuda_graphs:
            function = direct(function, programs, module, inputs)
        if not written:
            return repeated_by_pytorch(function, original, warnings)
        return overlaps_by_pytorch(function, original, inputs, written, warnings)
    except Exception as error:
        if settings.verify or not may_be_caught(error) or (ahead and original is None):
            raise
        if ahead:
            return _run_by_pytorch(original, error, warnings)
        function = original.function() if original is not None else module.forward
        warnings.warn(error, module.graph, "a graph")
        return function


backend.reset = forget  # which torch._dynamo.reset() calls
