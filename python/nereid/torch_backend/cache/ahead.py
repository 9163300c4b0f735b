"""Graphs that PyTorch compiles to write them into a file: `aot_compile`."""

from __future__ import annotations

from typing import Callable

import torch


def asks_for_bytes() -> bool:
    """Does PyTorch compile ahead of time (`aot_compile`), to write a file?"""
    return bool(getattr(torch._functorch.config, "bypass_autograd_cache_key", False))


def serializable(function: Callable) -> Callable:
    """A function of AOTAutograd's as an object that gives its own bytes."""
    from torch._dynamo.aot_compile_types import BundledAOTAutogradSerializableCallable

    return BundledAOTAutogradSerializableCallable(function)
