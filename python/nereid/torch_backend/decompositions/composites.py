"""Forms of composite operators, in place of the ones that PyTorch would trace.

PyTorch expands a composite operator (CompositeImplicitAutograd) before a table of decompositions
is asked.  Some expansions have as many nodes as an axis has elements; the forms here have a
constant number of them."""

from __future__ import annotations

import contextlib

import torch

from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.decompositions.eager_strides import (composites_with_eager_strides,
                                                                   plain_one_hot)
from nereid.torch_backend.decompositions.lacking import expanded_with_dtypes
from nereid.torch_backend.decompositions.recurrent import recurrent_forms

aten = torch.ops.aten


def _reversed_cumsum(x, dim: int):
    return x.flip(dim).cumsum(dim).flip(dim)


def _cumprod_backward(grad, input, dim: int, output):
    """With c zeros up to an element: where c is 0 the quotient by the element; at the first zero
    the sum over products without it; after it every product has it as a factor."""
    if not input.dim():
        return grad
    x, products = input.conj(), output.conj()
    is_zero = input == 0
    zeros = is_zero.cumsum(dim)
    first = is_zero & (zeros == 1)
    before = _reversed_cumsum(torch.where(zeros == 0, products * grad, 0), dim)
    without = torch.where(first, 1, x).cumprod(dim)
    at_first = torch.where(zeros > 0, without * grad, 0).sum(dim, keepdim=True)
    quotient = before / torch.where(is_zero, 1, x)
    return torch.where(zeros == 0, quotient, torch.where(first, at_first, 0))


_pytorch_matmul = aten.matmul.default.py_kernels[
    torch._C.DispatchKey.CompositeImplicitAutograd]


def _matmul(tensor1, tensor2):
    """PyTorch makes one product of a matrix that has a gradient and several others: of a transposed
    copy of all these, which is kept for the gradients, with a transposed copy of the result."""
    several = tensor1.dim() == 2 and tensor2.dim() > 2 and all(
        is_known(n > 1) for n in tensor2.shape[:-2])
    if several and tensor1.device.type == "cpu":
        tensor1 = tensor1.expand(*tensor2.shape[:-2], *tensor1.shape)
    return _pytorch_matmul(tensor1, tensor2)


_LSTM_KEYS = (torch._C.DispatchKey.CompositeImplicitAutograd, torch._C.DispatchKey.Autograd)
_pytorch_lstm = aten.lstm.input.py_kernels.get(torch._C.DispatchKey.Autograd)


def _lstm(input, hx, params, *more):
    """PyTorch expands an LSTM into oneDNN's layers, unless its input has a gradient.  Their
    gradients need results that are None, which AOTAutograd refuses where weights alone have
    gradients.  With projections the last states have an axis too many."""
    trains = torch.is_grad_enabled() and any(p.requires_grad for p in [*hx, *params])
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(before and not trains)
    try:
        result, *states = _pytorch_lstm(input, hx, params, *more)
    finally:
        torch._C._set_mkldnn_enabled(before)
    return result, *(s.reshape(given.shape) for s, given in zip(states, hx))


_LABELS = (aten.multilabel_margin_loss_forward.default, torch._C.DispatchKey.Autograd)
_pytorch_labels = _LABELS[0].py_kernels.get(_LABELS[1])


def _multilabel_margin_loss(input, target, reduction: int):
    """PyTorch's form takes the places from the first -1 of a row on for labels of class 0."""
    _, is_target = _pytorch_labels(input, target, reduction)
    x, labels, own = map(torch.atleast_2d, (input, target, is_target))
    counts = (labels == -1).cumsum(1) == 0
    right = x.gather(1, torch.where(counts, labels, 0))
    gap = torch.relu(1 - right.unsqueeze(2) + x.unsqueeze(1))
    others = counts.unsqueeze(2) & (own == 0).unsqueeze(1)
    loss = (torch.where(others, gap, 0).sum((1, 2)) / x.shape[1]).reshape(input.shape[:-1])
    return (loss, loss.mean(), loss.sum())[reduction], is_target


_FORMS = {aten.cumprod_backward.default: _cumprod_backward,
          aten.matmul.default: _matmul,
          aten.one_hot.default: plain_one_hot}
# Operators that PyTorch expands, and Nereid has: in 16 bits softshrink's form compares in another
# dtype than eager mode, and hardshrink's takes numbers that its dtype can't hold.
_KEPT = ((aten.softshrink.default, torch._C.DispatchKey.Autograd),
         (aten.hardshrink.default, torch._C.DispatchKey.Autograd))


@contextlib.contextmanager
def composite_forms():
    """Within it, PyTorch traces these forms, where no other one is registered, and gives others
    the strides of eager mode."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    forms = {(operator, key): form for operator, form in _FORMS.items()
             if operator.py_kernels.get(key) in (None, _pytorch_matmul)}
    forms.update({(aten.lstm.input, key): _lstm for key in _LSTM_KEYS
                  if _pytorch_lstm and aten.lstm.input.py_kernels.get(key) is _pytorch_lstm})
    forms.update({_LABELS: _multilabel_margin_loss} if _pytorch_labels else {})
    forms.update(recurrent_forms(forms))
    forms.update(composites_with_eager_strides())
    forms.update(expanded_with_dtypes(forms))
    forms.update({place: None for place in _KEPT if place[1] in place[0].py_kernels})
    before = {place: place[0].py_kernels.get(place[1]) for place in forms}
    _register(forms)
    try:
        yield
    finally:
        _register(before)


def _register(forms: dict) -> None:
    """Gives operators the forms of {(operator, dispatch key): form}; None: takes the form away."""
    for (operator, key), form in forms.items():
        if form is None:
            del operator.py_kernels[key]
        else:
            operator.py_kernels[key] = form
        operator._dispatch_cache.clear()
