"""Weights that a segment on a CPU has as constants, where the option `freezing` says so.

Kernels read them in an order of their own, which a segment with constants makes once.  A call
compares addresses and PyTorch's version counters with those at that time: a weight that has other
memory, or was written by an operator of PyTorch's, is read anew.  Fused optimizers raise no counter
either, but say when they have written.  Writes through `.data`, NumPy or DLPack are not seen: for
that reason it is an option.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from nereid.torch_backend.base.layout import is_plain

# Names of the file format (safetensors).
_DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16",
           torch.bfloat16: "BF16", torch.int64: "I64", torch.int32: "I32", torch.int8: "I8",
           torch.uint8: "U8", torch.bool: "BOOL"}
_ALIGNMENT = 64  # of the first tensor's bytes


def _is_weight(tensor) -> bool:
    """Is it a parameter or buffer of a module, of which TorchDynamo says that it is the same in
    each call, and whose writes are counted?"""
    kept = isinstance(tensor, torch.nn.Parameter) or getattr(
        tensor, "_dynamo_static_input_type", None) is not None
    return (kept and tensor.device.type == "cpu" and tensor.layout is torch.strided
            and tensor.dtype in _DTYPES and type(tensor) in (torch.Tensor, torch.nn.Parameter)
            and not tensor.is_inference())


def _has_form(node, tensor) -> bool:
    value = node.meta.get("val")
    return (isinstance(value, torch.Tensor) and not value._has_symbolic_sizes_strides
            and value.shape == tensor.shape and value.dtype == tensor.dtype
            and value.stride() == tensor.stride())


def held_of(graph: torch.fx.Graph, given: list) -> dict:
    """{placeholder: weight} of AOTAutograd's graph for these inputs; those that overlap, or are no
    plain tensors, make other ones of them."""
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    if len(nodes) != len(given):
        return {}
    return {node: tensor for node, tensor in zip(nodes, given)
            if isinstance(tensor, torch.Tensor) and _is_weight(tensor)
            and _has_form(node, tensor)}


class _FusedSteps:
    """How often optimizers with `fused=True` wrote parameters on a CPU, by address: their kernels
    raise no version counter."""

    def __init__(self):
        self.counts = collections.Counter()
        register_optimizer_step_post_hook(self._add)

    def _add(self, optimizer, *_) -> None:
        for group in optimizer.param_groups:
            if group.get("fused"):
                self.counts.update(parameter.data_ptr() for parameter in group["params"]
                                   if parameter.device.type == "cpu")


fused_steps = functools.cache(_FusedSteps)  # one, which is told of steps from its first use on


class Held:
    """Weights by their positions among a segment's inputs, as they are now."""

    def __init__(self, weights: list):
        """`weights`: (position, name, order of axes in memory or None, tensor)."""
        with torch.utils._python_dispatch._disable_current_modes():  # PyTorch's, while it traces
            self.weights = [(i, name, order, tensor.detach())
                            for i, name, order, tensor in weights]
        self.positions = {i for i, *_ in weights}
        self.marks = [(i, self._mark(tensor)) for i, *_, tensor in weights]

    @staticmethod
    def _mark(tensor) -> tuple:
        """What differs once the tensor has other memory or was written."""
        address = tensor.data_ptr()
        return address, tensor._version, fused_steps().counts[address]

    def are(self, values: list) -> bool:
        """Are these inputs as they were?  Memory that this object has is nobody else's, so that
        an address is of the same memory."""
        return all(self._mark(values[i]) == mark for i, mark in self.marks)

    def again(self, values: list) -> Held:
        return Held([(i, name, order, values[i]) for i, name, order, _ in self.weights])

    @contextlib.contextmanager
    def file(self):
        """The path of a file in memory with their elements."""
        entries, parts, at = {}, [], 0
        for _, name, order, tensor in self.weights:
            inner = tensor if order is None or is_plain(order) else tensor.permute(order)
            data = inner.contiguous().reshape(-1).view(torch.uint8).numpy().data
            entries[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(inner.shape),
                             "data_offsets": [at, at + data.nbytes]}
            parts.append(data)
            at += data.nbytes
        header = json.dumps(entries).encode()
        header += b" " * (-(8 + len(header)) % _ALIGNMENT)
        with os.fdopen(os.memfd_create("nereid"), "wb") as file:
            for part in (len(header).to_bytes(8, "little"), header, *parts):
                file.write(part)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
