"""Graphs that PyTorch compiles to write them into a file: `aot_compile`, and artifacts.

A stored function says which build of Nereid wrote it, and how its inputs overlap in memory if it
writes to some: no call falls back to PyTorch's operators there.
"""

from __future__ import annotations

import pickle
from typing import Any, Callable

import torch

from nereid.errors import NereidError
from nereid.torch_backend.base.overlaps import Overlaps

try:
    from torch._dynamo.aot_compile_types import (BundledAOTAutogradSerializableCallable,
                                                 SerializableCallable)
except ImportError:  # before PyTorch 2.10
    SerializableCallable = object  # type: ignore[assignment, misc]


class StoredFunctionError(NereidError):
    """A stored function that this process can't run, or a call that it was not compiled for."""


def asks_for_bytes() -> bool:
    """Does PyTorch compile ahead of time (`aot_compile`), to write a file?"""
    return bool(getattr(torch._functorch.config, "bypass_autograd_cache_key", False))


class StoredFunction(SerializableCallable):
    """A function of AOTAutograd's that gives its own bytes.  One that PyTorch runs, as the compiler
    failed for the `problem`, has none."""

    def __init__(self, function: Callable, layout: Overlaps | None, problem: str = ""):
        self.function, self.layout, self.problem = function, layout, problem

    def __call__(self, *args):
        if self.layout is not None and not self.layout.holds(args):
            raise StoredFunctionError(
                "inputs overlap in memory, and not as in the call that the stored function was "
                "compiled for; it writes to some of them")
        return self.function(*args)

    @property
    def has_bytes(self) -> bool:
        """Could PyTorch store the function?"""
        return getattr(self.function, "serialize", None) is not None

    @property
    def bundle(self) -> bytes:
        """The bytes that PyTorch's own artifacts have."""
        if self.problem:
            raise StoredFunctionError(f"PyTorch runs the graph, which can't be stored so: "
                                      f"{self.problem}")
        if not self.has_bytes:
            raise StoredFunctionError("the graph has a value or an operator that PyTorch's cache "
                                      "can't store; TORCH_LOGS=torch._functorch tells which")
        held = BundledAOTAutogradSerializableCallable(self.function)
        return BundledAOTAutogradSerializableCallable.serialize_compile_artifacts(held)

    @classmethod
    def serialize_compile_artifacts(cls, fn: StoredFunction) -> bytes:
        return pickle.dumps((fn.bundle, fn.layout))

    @classmethod
    def deserialize_compile_artifacts(cls, data: bytes) -> StoredFunction:
        bundle, layout = pickle.loads(data)
        found: Any = BundledAOTAutogradSerializableCallable.deserialize_compile_artifacts(bundle)
        return cls(found.compiled_fn, layout)
