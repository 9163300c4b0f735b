"""Fake results that PyTorch finds by a dozen operations each, known at once.

TorchDynamo and AOTAutograd ask for the sizes, strides and dtypes of each operator's results.
Where PyTorch has no rule, it runs the operator's decomposition on fake tensors, once for each
shape: 12 ms for a batch norm.  The rules here say the same; where they do not apply, the
decomposition does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import make_contiguous_strides_for

from nereid.torch_backend.base.rules import Rules

aten = torch.ops.aten


def _is_plain(x) -> bool:
    """Has a result of elements of `x` and of numbers for each channel the strides of `x`?"""
    if type(x.numel()) is not int or x.layout is not torch.strided or not x.is_floating_point():
        return False
    if x.stride() == make_contiguous_strides_for(x.shape):
        return True
    last = x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last)
    return last and min(x.shape) > 1


def _are_channels(x, *vectors) -> bool:
    """Are these, as far as they are given, numbers for each channel?"""
    return all(v is None or (type(v.numel()) is int and tuple(v.shape) == (x.shape[1],)
                             and v.is_floating_point() and v.device == x.device
                             and v.is_contiguous())
               for v in vectors)


def _normalized(x, weight, bias, mean, variance, training: bool) -> tuple | None:
    """Results of a batch norm; None: by the decomposition.  On GPUs they have other sizes."""
    if not 2 <= x.dim() <= 5 or not _is_plain(x) or x.device.type != "cpu" or not x.numel():
        return None
    if not _are_channels(x, weight, bias, mean, variance):
        return None
    if training and x.numel() == x.shape[1]:  # one number for each channel has no variance
        return None
    channels = x.shape[1] if training else 0
    return torch.empty_like(x), x.new_empty(channels), x.new_empty(channels)


def _no_training(x, weight, bias, mean, variance, momentum, eps):
    return _normalized(x, weight, bias, mean, variance, False)


def _writing(x, weight, bias, mean, variance, training, momentum, eps):
    return _normalized(x, weight, bias, mean, variance, True) if training else None


def _functional(x, weight, bias, mean, variance, training, momentum, eps):
    found = _writing(x, weight, bias, mean, variance, training, momentum, eps)
    sums = torch.promote_types(x.dtype, torch.float32)
    if found is None or any(v is None or v.dtype != sums for v in (mean, variance)):
        return None
    return *found, torch.empty_like(mean), torch.empty_like(variance)


def _elementwise(x):
    return torch.empty_like(x) if _is_plain(x) else None


_FORMS = {aten._native_batch_norm_legit_no_training.default: _no_training,
          aten._native_batch_norm_legit_functional.default: _functional,
          aten._native_batch_norm_legit.default: _writing,
          aten.hardswish.default: _elementwise,
          aten.hardsigmoid.default: _elementwise}


def _rule(form):
    def call(mode, operator, *args, **kwargs):
        from torch._decomp import decomposition_table

        with mode:
            found = form(*args) if not kwargs else None
            return decomposition_table[operator](*args, **kwargs) if found is None else found

    return call


def _entries() -> list[tuple[dict, Any, Any]]:
    """PyTorch asks a rule of an operator in its table of meta functions, else a decomposition."""
    from torch._decomp import decomposition_table, meta_table
    from torch._subclasses import fake_impls

    rules = fake_impls.op_implementations_dict
    known = [(operator, form) for operator, form in _FORMS.items()
             if operator in decomposition_table and operator not in meta_table
             and operator not in rules]
    return [entry for operator, form in known
            for entry in ((meta_table, operator, None), (rules, operator, _rule(form)))]


def quick_results() -> Rules:
    """Within it, these operators' fake results are known at once."""
    return Rules(_entries)


def while_traced(rules: Rules) -> None:
    """TorchDynamo traces a function before it calls a backend: from now on it does so within the
    rules.  It tells of the first compilation that begins and of the last that ends."""
    try:
        from torch._dynamo.callback import on_compile_end, on_compile_start
    except ImportError:  # PyTorch before 2.7
        return
    inside: list = []

    @on_compile_start
    def begin(*_) -> None:
        if not inside:
            inside.append(rules)
            rules.__enter__()

    @on_compile_end
    def end(*_) -> None:
        if inside:
            inside.pop().__exit__()
