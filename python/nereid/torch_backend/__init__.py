"""`torch.compile(backend="nereid")`: graphs of PyTorch's, for inference and training.

    model = torch.compile(model, backend="nereid")

TorchDynamo finds the graphs, AOTAutograd differentiates them; forward and backward are each
partitioned into segments that Nereid compiles, and nodes that PyTorch runs (`partition`).
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable

import torch

from nereid.torch_backend.program import Program
from nereid.torch_backend.random_ops import replace_random

aten = torch.ops.aten

MODES = ("default", "eager", "reduce-overhead", "max-autotune")
# Operators of which Nereid has a better form than what PyTorch's tables decompose them to.
_WHOLE = (aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward)

_programs: list = []
_lock = threading.Lock()


@functools.cache
def _decompositions() -> dict:
    from torch._inductor.decomposition import select_decomp_table

    table = dict(select_decomp_table())
    for packet in _WHOLE:
        for name in packet.overloads():
            table.pop(getattr(packet, name), None)
    return table


def _compile(module: torch.fx.GraphModule, inputs, options: dict) -> Callable:
    replace_random(module)
    program = Program(module, options)
    with _lock:
        _programs.append(program)
    call = program.call
    call._boxed_call = True
    return call


def _partition(module, inputs, **kwargs):
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    replace_random(module)
    kwargs.pop("static_lifetime_input_indices", None)
    return min_cut_rematerialization_partition(module, inputs, **kwargs)


def _settings(mode: str | None, options: dict | None) -> dict:
    settings = dict(options or {})
    settings["mode"] = mode or settings.get("mode") or "default"
    if settings["mode"] == "max-autotune-no-cudagraphs":
        settings["mode"] = "max-autotune"
    if settings["mode"] not in MODES:
        raise ValueError(f"there is no mode {settings['mode']!r}; modes are {', '.join(MODES)}")
    return settings


def backend(module: torch.fx.GraphModule, inputs, *, mode: str | None = None,
            options: dict | None = None) -> Callable:
    """What torch.compile calls with a graph and its example inputs."""
    from torch._dynamo.backends.common import aot_autograd

    settings = _settings(mode, options)

    def compile_graph(graph, examples):
        return _compile(graph, examples, settings)

    return aot_autograd(
        fw_compiler=compile_graph,
        bw_compiler=compile_graph,
        inference_compiler=compile_graph,
        decompositions=_decompositions(),
        partition_fn=_partition,
        keep_inference_input_mutations=True,
    )(module, inputs)
