"""Strides of results where PyTorch's operators give others than the rules of its fake tensors.

A graph has the strides that the rules say.  A form in this file computes the same elements and
gives them the order in memory that eager mode does.
"""

from __future__ import annotations

import torch

from nereid.torch_backend.base.layout import inverse, is_known, is_plain, size_hint
from nereid.torch_backend.decompositions.registry import decomposes

aten = torch.ops.aten

_MASKS = (torch.bool, torch.uint8)


def in_order(tensor, order):
    """The tensor with its axes in memory in that order, the innermost last."""
    step = 1
    for axis in reversed(order):
        if not is_known(tensor.stride(axis) == step):
            plain = tensor.permute(order).clone(memory_format=torch.contiguous_format)
            return plain if is_plain(order) else plain.permute(inverse(order))
        step = step * tensor.shape[axis]
    return tensor


# ---- indexing ----


def _view_of_index(index, before: int, after: int):
    """The index with axes of one element for the axes of the result that it does not choose."""
    return index.reshape([1] * before + list(index.shape) + [1] * after)


def _broadcast(indices) -> list:
    """The indices, each with all axes that they choose together: PyTorch's rule leaves one without
    axes as it is, and loses those of the others."""
    shape = torch.broadcast_shapes(*(index.shape for index in indices if index is not None))
    return [index.expand(shape) if index is not None and not index.dim() and shape else index
            for index in indices]


def _operands_of_index(self, indices) -> list:
    """What PyTorch's iterator walks through: the tensor, whose axes that indices choose do not
    move, and each index, all of them of the result's shape."""
    chosen = [axis for axis, index in enumerate(indices) if index is not None]
    given = torch.broadcast_tensors(*(indices[axis] for axis in chosen))
    if chosen != list(range(chosen[0], chosen[-1] + 1)):  # the indices' axes come first
        self = self.permute(chosen + [axis for axis in range(self.dim()) if axis not in chosen])
        chosen = list(range(len(chosen)))
    before, last = chosen[0], chosen[-1] + 1
    replaced, sizes, strides = given[0].shape, self.shape, self.stride()
    walked = self.as_strided((*sizes[:before], *replaced, *sizes[last:]),
                             (*strides[:before], *[0] * len(replaced), *strides[last:]))
    views = [_view_of_index(index, before, self.dim() - last) for index in given]
    if self.is_cuda and not all(is_known(a == b) for view in views
                                for a, b in zip(view.stride(), views[0].stride())):
        views = [view.contiguous() for view in views]  # PyTorch makes all so if two differ
    return [walked, *(view.expand(walked.shape) for view in views)]


def _order_of_index(self, indices) -> list:
    """The axes of the result as memory has them, the innermost last."""
    from torch._prims_common import compute_elementwise_output_logical_to_physical_perm
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    with disable_proxy_modes_tracing():
        operands = _operands_of_index(self, indices)
        return compute_elementwise_output_logical_to_physical_perm(*operands, _skip_checks=True)[0]


@decomposes(aten.index.Tensor, because="strides, which graphs do not have")
def _index(self, indices):
    # PyTorch's rule loses indices without axes, and does not ask for the strides of indices.
    if any(index is not None and index.dtype in _MASKS for index in indices):
        return NotImplemented
    from torch.fx.experimental.proxy_tensor import decompose

    indices = _broadcast(indices)
    with decompose(None):
        found = aten.index.Tensor(self, indices)
    if any(is_known(size == 0) for size in self.shape):
        return found
    return in_order(found, _order_of_index(self, indices))


# ---- results whose order follows from the operands ----


def _plain(of, *_, **__):
    return list(range(of.dim()))


def _plain_on_cpus(of, *_, **__):
    return _plain(of)


def _suggested(of, tensor, *_, **__):
    """Channels last if the operand says so, else plain."""
    from torch._prims_common import suggest_memory_format

    last = of.dim() == tensor.dim() and suggest_memory_format(tensor) != torch.contiguous_format
    return [0, *range(2, of.dim()), 1] if last else list(range(of.dim()))


def _suggested_by_input(of, gradient, tensor, *_, **__):
    return _suggested(of, tensor)


def _images_by_strides(sizes, strides) -> bool:
    from torch._prims_common import suggest_memory_format

    with torch.utils._python_dispatch._disable_current_modes():
        example = torch.empty_strided(sizes, strides, device="meta")
    return suggest_memory_format(example) != torch.contiguous_format


def _rolled(of, tensor, shifts, dims=(), **__):
    """Each rolled axis concatenates two parts: channels last if the strides of both parts say so.
    Open sizes count as those of the example."""
    plain, images = list(range(of.dim())), [0, *range(2, of.dim()), 1]
    sizes, strides = [[size_hint(n) for n in ns] for ns in (tensor.shape, tensor.stride())]
    for shift, axis in zip(shifts, dims):
        start = -size_hint(shift) % sizes[axis]
        for length in (sizes[axis] - start, start):
            part = list(sizes)
            part[axis] = length
            if not _images_by_strides(part, strides):
                return plain
        step = 1
        for axis in reversed(images):
            strides[axis], step = step, step * sizes[axis]
    return images if dims else plain


def like_first(of, tensor, *_, **__):
    return _iterated(of, tensor)


def _like_second(of, gradient, tensor, *_, **__):
    return _iterated(of, tensor)


def _of_ldexp(of, tensor, exponents, *_, **__):
    """A product with powers of 2, which are in plain order whatever the exponents' is."""
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    with disable_proxy_modes_tracing():
        powers = exponents.contiguous()
    return _iterated(of, tensor, powers)


def _iterated(of, *operands, **__):
    """The order of PyTorch's iterator over operands that broadcast."""
    from torch._prims_common import compute_elementwise_output_logical_to_physical_perm
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

    with disable_proxy_modes_tracing():
        walked = [operand.expand(of.shape) for operand in operands
                  if isinstance(operand, torch.Tensor) and operand.dim()]
        return compute_elementwise_output_logical_to_physical_perm(*walked, _skip_checks=True)[0]


# ---- Fourier transforms by MKL, which are of CPUs ----


def _by_strides(tensor, axes) -> list:
    """The axes, those of the largest strides first, which memory has outermost."""
    return sorted(axes, key=lambda axis: -size_hint(tensor.stride(axis)))


def _of_complex(of, tensor, dim, *_, **__):
    """What is not transformed, then what is: PyTorch's rule lets elements overlap where `dim` is in
    another order than memory."""
    if not dim:
        return _iterated(of, tensor)
    inner = [axis % tensor.dim() for axis in dim]
    batch = [axis for axis in range(tensor.dim()) if axis not in inner]
    return [*_by_strides(tensor, batch), *_by_strides(tensor, inner)]


def _to_complex(of, tensor, dim, *_, **__):
    """What is not transformed, then what is, the last axis innermost."""
    *others, last = [axis % tensor.dim() for axis in dim]
    batch = [axis for axis in range(tensor.dim()) if axis not in others and axis != last]
    return [*_by_strides(tensor, batch), *_by_strides(tensor, others), last]


def _to_real(of, tensor, dim, *_, **__):
    """The last axis is transformed after the others, of which the result is in their order."""
    *others, last = [axis % tensor.dim() for axis in dim]
    batch = [axis for axis in range(tensor.dim()) if axis not in others]
    before = [*_by_strides(tensor, batch), *_by_strides(tensor, others)]
    return [*(axis for axis in before if axis != last), last]


# Operators all of whose results have the order of the first.
_ALL_RESULTS = {aten.log_sigmoid_forward.default}
# The order of a first result, and whether that holds on GPUs, too.
_ORDERS = {
    _plain_on_cpus: ((aten.log_sigmoid_forward.default,), False),
    _plain: ((aten.index_select.default, aten.nll_loss2d_forward.default, aten.normal.Tensor_Tensor,
              aten.normal.Tensor_float, aten.normal.float_Tensor, aten.view_copy.default,
              aten.pow.Scalar,
              aten.glu_backward.default, aten._log_softmax_backward_data.default,
              aten._softmax_backward_data.default, aten.mse_loss_backward.default,
              aten.smooth_l1_loss_backward.default, aten.huber_loss_backward.default), True),
    _suggested: ((aten.native_batch_norm.default, aten._native_batch_norm_legit.default,
                  aten._native_batch_norm_legit.no_stats,
                  aten._native_batch_norm_legit_functional.default,
                  aten._native_batch_norm_legit_no_training.default,
                  aten._batch_norm_with_update.default,
                  aten._batch_norm_with_update_functional.default,
                  aten._batch_norm_no_update.default, aten.max_unpool2d.default,
                  aten.reflection_pad2d.default, aten.reflection_pad3d.default,
                  aten.replication_pad2d.default, aten.replication_pad3d.default,
                  aten.channel_shuffle.default, aten._upsample_bilinear2d_aa.default,
                  aten._upsample_bicubic2d_aa.default), False),
    _suggested_by_input: ((aten.native_batch_norm_backward.default,
                           aten.batch_norm_backward.default, aten.reflection_pad2d_backward.default,
                           aten.reflection_pad3d_backward.default,
                           aten.replication_pad2d_backward.default,
                           aten.replication_pad3d_backward.default), False),
    like_first: ((aten.put.default,), True),
    _of_ldexp: ((aten.ldexp.Tensor,), True),
    _rolled: ((aten.roll.default,), False),
    _of_complex: ((aten._fft_c2c.default,), False),
    _to_complex: ((aten._fft_r2c.default,), False),
    _to_real: ((aten._fft_c2r.default,), False),
    _iterated: ((aten.copysign.Tensor, aten.div.Tensor_mode, aten.floor_divide.default,
                 aten.native_dropout_backward.default, aten.xlogy.Tensor,
                 aten.special_xlog1py.default, aten.logaddexp.default, aten.heaviside.default,
                 aten.logical_and.default, aten.logical_or.default, aten.logical_xor.default,
                 aten.hardswish_backward.default, aten.hardtanh_backward.default,
                 aten.logit_backward.default), False),
    _like_second: ((aten.binary_cross_entropy_backward.default,), False),
}


# PyTorch expands these before a table of decompositions is asked.
_SAMPLES = tuple(getattr(aten, name) for name in (
    "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_nearest3d",
    "_upsample_nearest_exact3d"))


def _settled(target, form, order, on_gpus: bool):
    """A form of the operator whose first result has the order of axes that eager mode gives."""
    from torch.fx.experimental.proxy_tensor import decompose

    def settle(*args, **kwargs):
        given = NotImplemented if form is None else form(*args, **kwargs)
        if given is NotImplemented:
            with decompose(None):
                given = target(*args, **kwargs)
        first, *rest = given if isinstance(given, (tuple, list)) else (given,)
        if (first.is_cuda and not on_gpus) or any(is_known(size == 0) for size in first.shape):
            return given
        axes = order(first, *args, **kwargs)
        first = in_order(first, axes)
        if target in _ALL_RESULTS:
            rest = [in_order(other, axes) for other in rest]
        return (first, *rest) if isinstance(given, (tuple, list)) else first

    return settle


def _without_repeats(target, form):
    """A form of an operator that copies its operand and writes a part: a copy of a tensor whose
    elements repeat has each for itself, where PyTorch's rule has them repeat in the result."""
    def write(self, *args, **kwargs):
        from torch.fx.experimental.proxy_tensor import decompose

        repeats = any(is_known(step == 0) and not is_known(size == 1)
                      for size, step in zip(self.shape, self.stride()))
        if repeats:
            self = self.clone(memory_format=torch.contiguous_format)
        given = NotImplemented if form is None else form(self, *args, **kwargs)
        if given is not NotImplemented or not repeats:
            return given
        with decompose(None):
            return target(self, *args, **kwargs)

    return write


_WRITES_A_PART = (aten.select_scatter.default, aten.slice_scatter.default,
                  aten.diagonal_scatter.default, aten.as_strided_scatter.default)


def with_eager_strides(table: dict) -> dict:
    """The table of decompositions, in which results have the strides of eager mode."""
    table = {**table, **{target: _without_repeats(target, table.get(target))
                         for target in _WRITES_A_PART}}
    forms = {target: _settled(target, table.get(target), order, on_gpus)
             for order, (targets, on_gpus) in _ORDERS.items() for target in targets}
    return {**table, **forms}


def composites_with_eager_strides() -> dict:
    """{(operator, dispatch key): a form in place of PyTorch's own}."""
    operators = [getattr(packet, name) for packet in _SAMPLES for name in ("default", "vec")]
    return {(operator, key): _settled(operator, form, _suggested, True)
            for operator in operators for key, form in operator.py_kernels.items()}


def plain_one_hot(self, num_classes: int = -1):
    """PyTorch compares, where eager mode writes ones to plain zeros."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return aten.one_hot.default._op_dk(key, self, num_classes).contiguous()
