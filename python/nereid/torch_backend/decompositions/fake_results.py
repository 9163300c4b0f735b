"""Results that PyTorch's fake tensors state wrongly, so that kernels would read other bits."""

from __future__ import annotations

import threading

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


class FakeResults:
    """Within it, fake tensors are as the tensors of eager mode.  Compilations of several threads
    may overlap: the last of them to end gives PyTorch its own rules back."""

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = 0
        self._before: dict = {}

    def __enter__(self) -> None:
        from torch._subclasses import fake_impls

        forms = fake_impls.op_implementations_dict
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = {op: forms[op] for op in _UNIQUE if op in forms}
                forms.update({op: _with_integers(form) for op, form in self._before.items()})

    def __exit__(self, *error) -> None:
        from torch._subclasses import fake_impls

        with self._lock:
            self._inside -= 1
            if not self._inside:
                fake_impls.op_implementations_dict.update(self._before)
