"""Results that PyTorch's fake tensors state wrongly, so that kernels would read other bits."""

from __future__ import annotations

from typing import Any

import torch

from nereid.torch_backend.base.rules import Rules

aten = torch.ops.aten

_UNIQUE = (aten._unique2.default, aten.unique_dim.default, aten.unique_consecutive.default)


def _with_integers(form):
    """The form of an operator that gives elements, places and counts; all but the first are
    integers, where PyTorch's rule has the dtype of the elements."""
    def call(mode, operator, *args, **kwargs):
        elements, *others = form(mode, operator, *args, **kwargs)
        return (elements, *(other.new_empty(other.shape, dtype=torch.int64) for other in others))

    return call


def _with_wide_sums(form):
    """The form of flex_attention, whose sums and largest scores are as wide as its operands where
    these are doubles; PyTorch's rule has f32."""
    def call(query, *args, **kwargs):
        found = form(query, *args, **kwargs)
        if found is NotImplemented or query.dtype != torch.float64:
            return found
        out, *others = found
        return (out, *(other.to(query.dtype) for other in others))

    return call


def _forms() -> list[tuple[dict, Any, Any]]:
    """PyTorch's tables of rules, an operator in one of them, and what its rule becomes."""
    from torch._higher_order_ops import utils
    from torch._subclasses import fake_impls

    rules = fake_impls.op_implementations_dict
    found = [(rules, op, _with_integers) for op in _UNIQUE]
    flex = getattr(torch.ops.higher_order, "flex_attention", None)
    found.append((getattr(utils, "registered_hop_fake_fns", {}), flex, _with_wide_sums))
    return [(table, op, form(table[op])) for table, op, form in found if op in table]


def fake_results() -> Rules:
    """Within it, fake tensors are as the tensors of eager mode."""
    return Rules(_forms)
