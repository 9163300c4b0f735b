"""Results that PyTorch's fake tensors state wrongly, so that kernels would read other bits."""

from __future__ import annotations

import contextlib

import torch

aten = torch.ops.aten

_UNIQUE = (aten._unique2.default, aten.unique_dim.default, aten.unique_consecutive.default)


def _with_integers(form):
    """The form of an operator that gives elements, places and counts; all but the first are
    integers, where PyTorch's rule has the dtype of the elements."""
    def call(mode, operator, *args, **kwargs):
        elements, *others = form(mode, operator, *args, **kwargs)
        return (elements, *(other.new_empty(other.shape, dtype=torch.int64) for other in others))

    return call


@contextlib.contextmanager
def fake_results():
    """Within it, fake tensors are as the tensors of eager mode."""
    from torch._subclasses import fake_impls

    forms = fake_impls.op_implementations_dict
    before = {operator: forms[operator] for operator in _UNIQUE if operator in forms}
    forms.update({operator: _with_integers(form) for operator, form in before.items()})
    try:
        yield
    finally:
        forms.update(before)
