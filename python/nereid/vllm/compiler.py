"""Nereid as the compiler of vLLM's pieces of a model."""

from __future__ import annotations

import hashlib
import logging
import os
from typing import Any, Callable

import torch
from vllm.compilation.compiler_interface import CompilerInterface, is_compile_cache_enabled
from vllm.compilation.passes.inductor_pass import InductorPass
from vllm.compilation.passes.ir.lowering_pass import VllmIRLoweringPass
from vllm.compilation.passes.pass_manager import PostGradPassManager
from vllm.config import VllmConfig, set_current_vllm_config

from nereid import _nereid
from nereid.torch_backend.base.settings import Settings
from nereid.torch_backend.cache.stored import sources
from nereid.torch_backend.standalone import (CompiledArtifact, SizesDiffer, standalone_compile)

_log = logging.getLogger("nereid.torch_backend")
_PRE, _POST = "pre_grad_custom_pass", "post_grad_custom_post_pass"  # keys of vLLM's configuration
# Keys of `inductor_compile_config` that mean the same here; others are TorchInductor's alone.
_OPTIONS = {"nereid_" + name: name for name in Settings.__dataclass_fields__}


class Passes(PostGradPassManager):
    """The passes of users, and that which replaces vLLM's operators by PyTorch's.  vLLM's fusions
    insert kernels where a compiler can't fuse."""

    def configure(self, config: VllmConfig) -> None:
        self.pass_config = config.compilation_config.pass_config
        with set_current_vllm_config(config, check_compile=False):
            self.ir_lowering = VllmIRLoweringPass(config)

    def __call__(self, graph: torch.fx.Graph) -> None:
        for pass_ in (*self.passes, self.ir_lowering):
            pass_(graph)

    def uuid(self) -> str:
        found = [pass_.uuid() for pass_ in (*self.passes, self.ir_lowering)]
        return InductorPass.hash_dict({"passes": found})


class _Piece:
    """A compiled piece as vLLM calls it.  Calls of sizes that a decision excludes that was taken
    while it was compiled are PyTorch's."""

    def __init__(self, artifact: CompiledArtifact, graph: torch.fx.GraphModule):
        self.artifact, self.graph, self.told = artifact, graph, False

    def __call__(self, *args):
        try:
            return self.artifact(*args)
        except SizesDiffer as error:
            if not self.told:
                _log.warning("PyTorch runs a piece of the model: %s", error)
            self.told = True
        return self.graph(*args)

    def __getattr__(self, name: str):
        if name == "serialize" and self.artifact.is_saveable():
            return self.artifact.serialize  # which vLLM looks for
        raise AttributeError(name)


def _changes(config: dict) -> tuple[Callable | None, str]:
    """The function that applies vLLM's passes to a graph of AOTAutograd's, and its key."""
    passes = config.get(_POST)
    if passes is None:
        return None, ""

    def change(module: torch.fx.GraphModule) -> None:
        passes(module.graph)
        module.recompile()

    return change, str(passes.uuid())


class NereidCompiler(CompilerInterface):
    """One compilation serves a range of token counts, or one count.  Pieces are kept in vLLM's
    cache, and other processes load them without compiling."""

    name = "nereid"

    def __init__(self):
        self.cache_dir = ""

    def compute_hash(self, vllm_config: VllmConfig) -> str:
        factors = (_nereid.build_id(), sources(), torch.__version__)
        return hashlib.sha256(repr(factors).encode()).hexdigest()[:10]

    def initialize_cache(self, cache_dir: str, disable_cache: bool = False,
                         prefix: str = "") -> None:
        self.cache_dir = "" if disable_cache else cache_dir

    def compile(self, graph: torch.fx.GraphModule, example_inputs: list[Any],
                compiler_config: dict[str, Any], compile_range,
                key: str | None = None) -> tuple[Callable | None, Any | None]:
        config = compiler_config or {}
        if config.get(_PRE) is not None:
            config[_PRE](graph.graph)
            graph.recompile()
        single = compile_range.is_single_size()
        change, change_key = _changes(config)
        artifact = standalone_compile(
            graph, example_inputs,
            dynamic_shapes="from_example_inputs" if single else "from_graph",
            limits=None if single else (max(compile_range.start, 0), compile_range.end),
            options={ours: config[name] for name, ours in _OPTIONS.items() if name in config},
            change=change, key=change_key)
        piece = _Piece(artifact, graph)
        if not (key and self.cache_dir and artifact.is_saveable()
                and is_compile_cache_enabled(config)):
            return piece, None
        path = os.path.join(self.cache_dir, key)
        artifact.save(path=path)
        return piece, (key, path)

    def load(self, handle: Any, graph: torch.fx.GraphModule, example_inputs: list[Any],
             graph_index: int, compile_range) -> Callable:
        key, path = handle
        if self.cache_dir:  # which may have been moved
            path = os.path.join(self.cache_dir, key)
        return _Piece(CompiledArtifact.load(path=path), graph)
