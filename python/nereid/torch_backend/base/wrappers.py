"""The wrappers that AOTAutograd puts around the function of a graph."""

from __future__ import annotations

import torch


def _has_parts(metas) -> bool:
    """Do these have tensors that are made of others?"""
    return any(type(meta).__name__ not in ("PlainTensorMeta", "int") for meta in metas)


def _changes_nothing(metadata) -> bool:
    return not (metadata.num_mutated_inp_runtime_indices or metadata.num_outputs_aliased
                or metadata.num_intermediate_bases or metadata.tokens or metadata.dynamic_outputs
                or metadata.is_rng_op_functionalized
                or getattr(metadata, "num_graphsafe_rng_states", 0)
                or metadata.grad_enabled_mutation is not None
                or any(info.mutates_data or info.mutates_metadata for info in metadata.input_info)
                or _has_parts(metadata.subclass_inp_meta)
                or _has_parts(metadata.subclass_fw_graph_out_meta))


def change_nothing() -> bool:
    """Do the wrappers of the graph that AOTAutograd is about change neither inputs nor results?
    They write inputs that a graph can't write itself, make results that are views of inputs, and
    carry tokens of effects and states of random numbers."""
    context = torch._guards.TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    try:
        return metadata is not None and _changes_nothing(metadata)
    except AttributeError:  # another PyTorch tells other facts
        return False
