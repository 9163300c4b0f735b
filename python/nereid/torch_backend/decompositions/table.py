"""What operators are made of, before a graph is partitioned: Inductor's table, without what Nereid
has a better form of, and with what Inductor leaves to PyTorch."""

from __future__ import annotations

import collections.abc
import functools

import torch

from nereid.torch_backend.decompositions.registry import decomposes, drawing, own

aten = torch.ops.aten

# Operators of which Nereid has a better form than what PyTorch's tables decompose them to.
_WHOLE = (aten.cat, aten.index_fill, aten.masked_scatter, aten.take,
          aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward,
          aten.max_pool3d_with_indices, aten.max_pool3d_with_indices_backward,
          aten.embedding_dense_backward, aten.native_group_norm, aten.native_group_norm_backward,
          aten.grid_sampler_2d,
          aten.add)  # of complex numbers: PyTorch's form views them as real ones


def _draws(target) -> bool:
    """Does the operator draw numbers?  Those that it is made of draw others than it does."""
    return (isinstance(target, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded in target.tags)


@functools.cache
def decompositions(fallback_random: bool = False, checks_data: bool = True) -> dict:
    # Late, as the table is: modules that register forms, and the one that wraps forms in checks.
    from nereid.torch_backend.decompositions import images, random_numbers, reductions  # noqa: F401
    from nereid.torch_backend.decompositions.checks import with_checks
    from nereid.torch_backend.decompositions.eager_strides import with_eager_strides
    from torch._inductor.decomposition import select_decomp_table

    table = {**select_decomp_table(), **own}
    if fallback_random:
        table = {target: form for target, form in table.items() if not _draws(target)}
    else:
        table.update(drawing)
    for packet in _WHOLE:
        for name in packet.overloads():
            table.pop(getattr(packet, name), None)
    return with_checks(with_eager_strides(table), checks_data)


class Decompositions(collections.abc.Mapping):
    """decompositions(), made when AOTAutograd reads it: it does not if its cache has the graph."""

    def __init__(self, fallback_random: bool = False, checks_data: bool = True):
        self._made = functools.partial(decompositions, fallback_random, checks_data)

    def __getitem__(self, target):
        return self._made()[target]

    def __iter__(self):
        return iter(self._made())

    def __len__(self):
        return len(self._made())


# ---- products and distances ----


@decomposes(aten._pdist_backward.default)
def _pdist_backward(grad, self, p, pdist):
    n = self.shape[0]
    if n < 2 or not self.shape[1]:
        return torch.zeros_like(self)
    i = torch.arange(n, device=self.device)
    low, high = torch.minimum(i[:, None], i), torch.maximum(i[:, None], i)
    pair = torch.where(low == high, 0, low * (2 * n - 1 - low) // 2 + high - low - 1)
    apart = torch.where(low == high, 0, pdist[pair])
    return aten._cdist_backward.default(
        torch.where(low == high, 0, grad[pair]), self, self, p, apart)


# ---- elements at indices ----


@decomposes(aten._unsafe_masked_index.default)
def _masked_index(self, mask, indices, fill):
    if _is_empty(self):
        shape = aten._unsafe_index.Tensor(self.new_empty([1]).expand(self.shape), indices).shape
        return self.new_full(shape, fill)
    found = aten._unsafe_index.Tensor(self, _within(self, indices))
    return found.masked_fill(~mask, fill)


@decomposes(aten._unsafe_masked_index_put_accumulate.default)
def _masked_index_put(self, mask, indices, values):
    if _is_empty(self):
        return self.clone()
    values = values.masked_fill(~mask, 0)
    return aten.index_put.default(self, _within(self, indices), values, True)


def _within(tensor, indices):
    """Where a mask is false an index may be out of range.  The mask has the shape of the result,
    which is not the indices' if some of them are None."""
    return [None if index is None else index.clamp(-tensor.shape[axis], tensor.shape[axis] - 1)
            for axis, index in enumerate(indices)]


@decomposes(aten.index_reduce.default)
def _index_reduce(self, dim, index, source, reduce, *, include_self=True):
    if not self.dim():
        row = _index_reduce(self.view(1), 0, index, source, reduce, include_self=include_self)
        return row.view(())
    if not source.dim():
        source = source.view(1)
    shape = [1] * source.dim()
    shape[dim] = -1
    index = index.view(shape).expand(source.shape)
    return aten.scatter_reduce.two(self, dim, index, source, reduce, include_self=include_self)


def _is_empty(tensor) -> bool:
    return any(isinstance(n, int) and n == 0 for n in tensor.shape)


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
    at = torch.arange(indices.shape[0], device=indices.device)
    bag = torch.searchsorted(offsets.long(), at, right=True) - 1
    rows = weight.index_select(0, indices).float()
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    total = torch.zeros(offsets.shape[0], weight.shape[1], device=weight.device)
    total = total.index_add(0, bag, rows)[:bags].to(weight.dtype)
    # PyTorch counts no sizes for sums.
    return total.clone(), offsets.new_zeros(0), offsets.new_zeros(bags), offsets.new_zeros(bags)


@decomposes(aten.nonzero_static.default)
def _nonzero_static(self, *, size, fill_value=-1):
    # Strides are those of PyTorch's operator on that device.
    columns_first = self.is_cuda and torch.__version__ >= (2, 11)
    if 0 in (self.dim(), size, self.numel()):
        shape = (self.dim(), size) if columns_first else (size, self.dim())
        full = torch.full(shape, fill_value, dtype=torch.int64, device=self.device)
        return full.t() if columns_first else full
    mask = self.reshape(-1) != 0
    order = mask.long().cumsum(0)
    place = torch.where(mask & (order <= size), order - 1, size)
    found = torch.zeros(size + 1, dtype=torch.int64, device=self.device)
    every = torch.arange(self.numel(), device=self.device)
    found = found.scatter(0, place, every)[:size]
    filled = torch.arange(size, device=self.device) >= order[-1]
    columns, stride = [], self.numel()
    for extent in self.shape:
        stride //= extent
        columns.append(torch.where(filled, fill_value, found // stride % extent))
    return torch.stack(columns).t() if columns_first else torch.stack(columns, 1)


@decomposes(aten.frexp.Tensor)
def _frexp(self):
    if not self.is_floating_point():
        return NotImplemented
    x = self.double()
    small = x.abs() < 2.0**-1022
    bits = torch.where(small, x * 2.0**54, x).view(torch.int64)
    exponent = (bits >> 52 & 0x7FF) - 1022 - torch.where(small, 54, 0)
    mantissa = (bits & ~(0x7FF << 52) | 1022 << 52).view(torch.float64)
    whole = (x == 0) | ~x.isfinite()
    return torch.where(whole, x, mantissa).to(self.dtype), torch.where(whole, 0, exponent).int()


@decomposes(aten.as_strided_copy.default)
def _as_strided_copy(self, size, stride, storage_offset=None):
    return torch.as_strided(self, size, stride, storage_offset).clone(
        memory_format=torch.contiguous_format)


@decomposes(aten.as_strided_scatter.default)
def _as_strided_scatter(self, src, size, stride, storage_offset=None):
    first = self.storage_offset()
    offset = 0 if storage_offset is None else storage_offset - first
    numbers = (*self.shape, *size, *stride, offset)
    if not all(isinstance(number, int) for number in numbers) or 0 in numbers[:-1]:
        return NotImplemented
    last = offset + sum((n - 1) * step for n, step in zip(size, stride))
    if not self.is_contiguous() or offset < 0 or last >= self.numel():
        return NotImplemented
    place = torch.full(size, offset, dtype=torch.int64, device=self.device)
    for axis, (n, step) in enumerate(zip(size, stride)):
        shape = [1] * len(size)
        shape[axis] = n
        place = place + (torch.arange(n, device=self.device) * step).view(shape)
    flat = aten.index_put.default(self.reshape(-1), [place.reshape(-1)], src.reshape(-1))
    return flat.reshape(self.shape)


@decomposes(aten.cudnn_grid_sampler.default)
def _cudnn_grid_sampler(self, grid):
    return aten.grid_sampler_2d.default(self, grid, 0, 0, True)


@decomposes(aten.cudnn_grid_sampler_backward.default)
def _cudnn_grid_sampler_backward(self, grid, grad_output):
    return aten.grid_sampler_2d_backward.default(grad_output, self, grid, 0, 0, True, [True, True])


# ---- determinants ----


def _factors(self):
    """PyTorch factors the transpose where that is column-major, as gradients rely on."""
    plain = self.is_contiguous() and not self.is_complex()
    lu, pivots, _ = aten.linalg_lu_factor_ex.default(self.mT if plain else self)
    diagonal = lu.diagonal(0, -2, -1)
    own = torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    signs = torch.where(pivots == own, 1, -1).to(diagonal.dtype).prod(-1)
    return lu, pivots, diagonal, signs


@decomposes(aten._linalg_det.default, because="strides say which matrix is factored")
def _det(A):
    lu, pivots, diagonal, signs = _factors(A)
    return diagonal.prod(-1) * signs, lu, pivots


@decomposes(aten._linalg_slogdet.default)
def _slogdet(A):
    lu, pivots, diagonal, signs = _factors(A)
    return diagonal.sgn().prod(-1) * signs, diagonal.abs().log().sum(-1), lu, pivots
