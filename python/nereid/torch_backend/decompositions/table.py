"""What operators are made of, before a graph is partitioned: Inductor's table, without what Nereid
has a better form of, and with what Inductor leaves to PyTorch."""

from __future__ import annotations

import collections.abc
import functools

import torch

from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.decompositions.registry import decomposes, drawing, own

aten = torch.ops.aten

# Operators of which Nereid has a better form than what PyTorch's tables decompose them to.
_WHOLE = (aten.cat, aten.index_fill, aten.masked_scatter, aten.take,
          aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward,
          aten.max_pool3d_with_indices, aten.max_pool3d_with_indices_backward,
          aten.embedding_dense_backward, aten.native_group_norm, aten.native_group_norm_backward,
          aten.grid_sampler_2d, aten.unfold_backward, aten.linalg_cross, aten.diagonal_backward,
          aten.clamp,  # PyTorch's form of integers and a float of data gives integers
          aten.softshrink, aten.threshold,  # eager mode compares in f32, PyTorch's forms in 16 bits
          aten.std, aten.std_mean,  # 0 for equal elements
          aten.xlogy, aten.special_xlog1py,  # of 16 bits PyTorch's forms leave numbers as they are
          aten.add)  # of complex numbers: PyTorch's form views them as real ones


# Operators that are traced in one step where no gradients are: their forms take a dozen, each with
# its rules for shapes, which is a tenth of the time that PyTorch takes to trace MobileNetV3.  The
# planner decomposes them for files, too.
_WHOLE_WITHOUT_GRADIENTS = (aten._native_batch_norm_legit_no_training,)


# Inductor's settings that its table depends on, and ours doesn't: it is made once in a process.
_INDUCTOR_SETTINGS = ("fallback_random", "fallback_embedding_bag_byte_unpack",
                      "emulate_precision_casts")


def _draws(target) -> bool:
    """Does the operator draw numbers?  Those that it is made of draw others than it does."""
    return (isinstance(target, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded in target.tags)


@functools.cache
def decompositions(fallback_random: bool = False, checks_data: bool = True,
                   gradients: bool = True) -> dict:
    # Late, as the table is: modules that register forms, and the one that wraps forms in checks.
    from nereid.torch_backend.decompositions import attention_f64, random_numbers  # noqa: F401
    from nereid.torch_backend.decompositions.checks import with_checks
    from nereid.torch_backend.decompositions.eager_strides import with_eager_strides
    from nereid.torch_backend.decompositions.lacking import with_dtypes
    from torch._inductor import config
    from torch._inductor.decomposition import select_decomp_table

    plain = {name: False for name in _INDUCTOR_SETTINGS if hasattr(config, name)}
    with config.patch(plain):
        table = {**select_decomp_table(), **own}
    if fallback_random:
        table = {target: form for target, form in table.items() if not _draws(target)}
    else:
        table.update(drawing)
    for packet in (*_WHOLE, *(() if gradients else _WHOLE_WITHOUT_GRADIENTS)):
        for name in packet.overloads():
            table.pop(getattr(packet, name), None)
    return with_dtypes(with_checks(with_eager_strides(table), checks_data))


class Decompositions(collections.abc.Mapping):
    """decompositions(), made when AOTAutograd reads it: it does not if its cache has the graph."""

    def __init__(self, fallback_random: bool = False, checks_data: bool = True,
                 gradients: bool = True):
        self._made = functools.partial(decompositions, fallback_random, checks_data, gradients)

    def __getitem__(self, target):
        return self._made()[target]

    def __iter__(self):
        return iter(self._made())

    def __len__(self):
        return len(self._made())


# ---- elements at indices ----


def _bags_on_gpu(weight, indices, offsets, mode, per_sample_weights, bags, padding_idx):
    """Sums or means with PyTorch's other results on a GPU: sizes of as many bags as there are
    offsets, none of the largest elements, and the last bag has all that is left."""
    at = torch.arange(indices.shape[0], device=indices.device)
    bag = (torch.searchsorted(offsets.long(), at, right=True) - 1).clamp(max=bags - 1)
    rows = weight.index_select(0, indices)
    rows = rows if weight.dtype == torch.float64 else rows.float()
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    counted = (indices != padding_idx).unsqueeze(1)
    total = torch.zeros(bags, weight.shape[1], dtype=rows.dtype, device=weight.device)
    total = total.index_add(0, bag, torch.where(counted, rows, 0))
    sizes = torch.zeros_like(offsets, dtype=torch.int64).index_add(0, bag, counted[:, 0].long())
    if mode == 1:
        total = total / sizes[:bags].clamp(min=1).unsqueeze(1)
    like = indices.dtype
    return total.to(weight.dtype), bag.to(like), sizes.to(like), indices.new_zeros(0)


@decomposes(aten._embedding_bag.default, because="the sizes of results differ by device")
def _embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
                   per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    # Where a CPU needs no bag of each index, PyTorch leaves that result empty.
    bags = offsets.shape[0] - int(include_last_offset)  # a size takes no truth value
    if weight.is_cuda and mode != 2 and not sparse and bags > 0:
        return _bags_on_gpu(weight, indices, offsets, mode, per_sample_weights, bags, padding_idx)
    if weight.is_cuda and mode == 2 and include_last_offset and bags > 0:
        # There is a size for the last offset, too, which PyTorch leaves as it is in memory.
        total, bag, sizes, largest = aten._embedding_bag.default(
            weight, indices, offsets[:-1], scale_grad_by_freq, mode, sparse, per_sample_weights,
            False, padding_idx)
        return total, bag, torch.cat([sizes, sizes.new_zeros(1)]), largest
    quick = (weight.dtype in (torch.float32, torch.float16, torch.bfloat16)
             and weight.stride(1) == 1)
    quick = quick and mode == 0 and padding_idx < 0 and not (
        per_sample_weights is not None and per_sample_weights.stride(0) != 1)
    if weight.device.type != "cpu" or not quick or bags < 1:
        return NotImplemented
    total = aten._embedding_bag_forward_only.default(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_idx)[0]
    # PyTorch counts no sizes for sums.
    return total, offsets.new_zeros(0), offsets.new_zeros(bags), offsets.new_zeros(bags)


def _quantized(x, scale, zero_point, least: int, most: int):
    """Numbers as so many levels can hold them, and which of them are within these."""
    levels = torch.round(x * (1 / scale)) + zero_point
    within = (levels >= least) & (levels <= most)
    held = torch.fmax(levels, levels.new_full((), least)).clamp(max=most)  # the least for NaN
    return (held - zero_point) * scale, within


@decomposes(aten.fake_quantize_per_tensor_affine_cachemask.default)
def _fake_quantize(x, scale: float, zero_point: int, least: int, most: int):
    if x.dtype != torch.float32 or not least <= zero_point <= most:
        return NotImplemented
    return _quantized(x, torch.full((), scale, device=x.device), zero_point, least, most)


@decomposes(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def _fake_quantize_by_tensors(x, scale, zero_point, enabled, least: int, most: int):
    if x.dtype != torch.float32 or scale.dtype != torch.float32:
        return NotImplemented
    result, within = _quantized(x, scale, zero_point, least, most)
    off = enabled == 0
    return torch.where(off, x, result), within | off


@decomposes(aten.fake_quantize_per_channel_affine_cachemask.default)
def _fake_quantize_channels(x, scale, zero_point, axis: int, least: int, most: int):
    fits = 0 <= axis < x.dim() and least <= most and all(
        parts.dim() == 1 and is_known(parts.shape[0] == x.shape[axis])
        for parts in (scale, zero_point))
    if x.dtype != torch.float32 or scale.dtype != torch.float32 or not fits:
        return NotImplemented
    if zero_point.is_floating_point():  # added before the levels are rounded, in float64
        return NotImplemented
    shape = [-1 if i == axis else 1 for i in range(x.dim())]
    return _quantized(x, scale.view(shape), zero_point.view(shape), least, most)


@decomposes(aten.nonzero_static.default, because="strides, which graphs do not have")
def _nonzero_static(self, *, size, fill_value=-1):
    if not self.is_cuda or torch.__version__ < (2, 11):
        return NotImplemented
    from torch.fx.experimental.proxy_tensor import decompose

    with decompose(None):  # the operator itself
        found = aten.nonzero_static.default(self, size=size, fill_value=fill_value)
    return found.t().contiguous().t()


@decomposes(aten.as_strided_copy.default,
            because="elements of memory, whose order graphs do not have")
def _as_strided_copy(self, size, stride, storage_offset=None):
    return torch.as_strided(self, size, stride, storage_offset).clone(
        memory_format=torch.contiguous_format)


# ---- determinants ----

# PyTorch factors the transpose of a matrix in the order of its rows, as graphs do, and others as
# they are: gradients rely on it.
_FACTORED = "strides say which matrix is factored"


@decomposes(aten._linalg_det.default, because=_FACTORED)
def _det(A):
    if A.is_complex() or A.is_contiguous():
        return NotImplemented
    return aten._linalg_det.default(A.mT.contiguous())


@decomposes(aten._linalg_slogdet.default, because=_FACTORED)
def _slogdet(A):
    if A.is_complex() or A.is_contiguous():
        return NotImplemented
    return aten._linalg_slogdet.default(A.mT.contiguous())


# ---- matrices ----


@decomposes(aten.linalg_pinv.atol_rtol_tensor,
            because="PyTorch, which runs it, loses a conjugation in a compiled graph")
def _pinv_of_complex(self, *, atol=None, rtol=None, hermitian=False):
    """The product of conjugates is written out."""
    if not self.is_complex() or hermitian or any(type(n) is not int or not n for n in self.shape):
        return NotImplemented
    u, s, vh = aten._linalg_svd.default(self, False, True)
    least = torch.zeros_like(s[..., 0]) if atol is None else atol.to(s.dtype)
    relative = torch.full_like(least, torch.finfo(s.dtype).eps * max(self.shape[-2:]))
    relative = torch.where(least > 0, 0, relative) if rtol is None else rtol.to(s.dtype)
    least = torch.maximum(least, relative * s.amax(-1))
    inverse = torch.where(s > least.unsqueeze(-1), s.reciprocal(), 0)
    return (vh.mH * inverse.unsqueeze(-2)) @ u.mH
