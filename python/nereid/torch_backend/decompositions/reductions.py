"""Reductions of segments, and histograms, as operators that Nereid has."""

from __future__ import annotations

import math

import torch

from nereid.torch_backend.decompositions.registry import decomposes

aten = torch.ops.aten

# ---- segments of an axis ----

_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
_HOW = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


class _Segments:
    """Which segment each element of `data` is in; those in none are in one more."""

    def __init__(self, data, lengths, offsets, axis):
        if offsets is None:
            ends = lengths.long().cumsum(axis)
            self.lengths, first = lengths.long(), torch.zeros_like(ends[..., :1])
        else:
            offsets = offsets.long()
            ends, first = offsets[..., 1:], offsets[..., :1]
            self.lengths = ends - offsets[..., :-1]
        self.data, self.axis, self.count = data, axis, ends.shape[-1]
        at = torch.arange(data.shape[axis], device=data.device)
        at = at.expand(*data.shape[:axis], data.shape[axis]).contiguous()
        number = torch.searchsorted(ends.contiguous(), at, right=True)
        number = torch.where(at < first, self.count, number)
        self.of = self._along(number).expand(data.shape)

    def _along(self, x):
        return x.reshape(*x.shape, *[1] * (self.data.dim() - x.dim()))

    def reduce(self, values, how, start):
        shape = list(values.shape)
        shape[self.axis] = self.count + 1
        filled = torch.full(shape, start, dtype=values.dtype, device=values.device)
        total = filled.scatter_reduce(self.axis, self.of, values, how, include_self=True)
        return total.narrow(self.axis, 0, self.count).contiguous()

    def each(self, values):
        """The values of the segments, for each of their elements; 0 for those in none."""
        inside = self.of < self.count
        place = torch.where(inside, self.of, 0)
        return torch.where(inside, values.gather(self.axis, place), 0)

    def sizes(self, values):
        return self._along(self.lengths).to(values.dtype).expand(values.shape)


def _fits(data, lengths, offsets, indices=None):
    return indices is None and (lengths is None) != (offsets is None) and 0 not in data.shape


@decomposes(aten.segment_reduce.default)
def _segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0,
                    unsafe=False, initial=None):
    if not _fits(data, lengths, offsets, indices):
        return NotImplemented
    segments = _Segments(data, lengths, offsets, axis)
    start = _START[reduce] if initial is None else float(initial)
    total = segments.reduce(data, _HOW[reduce], start)
    if reduce != "mean":
        return total
    sizes = segments.sizes(total)
    empty = math.nan if initial is None else start
    return torch.where(sizes > 0, total / sizes, empty)


@decomposes(aten._segment_reduce_backward.default)
def _segment_reduce_backward(grad, output, data, reduce, *, lengths=None, offsets=None, axis=0,
                             initial=None):
    if not _fits(data, lengths, offsets):
        return NotImplemented
    segments = _Segments(data, lengths, offsets, axis)
    if reduce == "sum":
        return segments.each(grad)
    if reduce == "mean":
        return segments.each(grad / segments.sizes(grad))
    if reduce in ("max", "min"):
        chosen = (data == segments.each(output)) | data.isnan()
        ties = segments.reduce(chosen.to(data.dtype), "sum", 0.0)
        # Equal elements share a positive gradient; of a negative one PyTorch gives each the whole.
        pull = segments.each(grad)
        return torch.where(chosen, torch.where(pull > 0, pull / segments.each(ties), pull), 0)
    # The gradient of a product is the product of the other elements.
    zero, undefined = data == 0, data.isnan()
    zeros, undefineds = (
        segments.each(segments.reduce(which.to(data.dtype), "sum", 0.0)) - which.to(data.dtype)
        for which in (zero, undefined))
    start = 1.0 if initial is None else float(initial)
    plain = torch.where(zero | undefined, 1, data)
    others = segments.each(segments.reduce(plain, "prod", start))
    others = torch.where(undefineds > 0, math.nan, torch.where(zeros > 0, 0, others))
    others = torch.where(zero | undefined, others, segments.each(output) / data)
    return segments.each(grad) * others


# ---- histograms ----


def _edges_of(x, bins: int, span):
    """bins + 1 edges from the least to the largest element, or of `span`; never of no width."""
    if span is not None:
        low, high = (torch.full((), v, dtype=x.dtype, device=x.device) for v in span)
    elif x.numel():
        low, high = x.amin(), x.amax()
    else:
        low, high = torch.zeros_like(x.sum()), torch.ones_like(x.sum())
    flat = low == high
    low, high = torch.where(flat, low - 0.5, low), torch.where(flat, high + 0.5, high)
    # From the end that is nearer, as linspace.
    i = torch.arange(bins + 1, device=x.device)
    step = (high - low) / bins
    return torch.where(i < (bins + 1) // 2, low + step * i, high - step * (bins - i))


def _counts(points, edges, weight, density):
    """How much weight of the points [n, axes] is between edges along each axis."""
    place, inside, sizes = 0, None, [len(edge) - 1 for edge in edges]
    for axis, edge in enumerate(edges):
        x = points[:, axis].contiguous()
        at = torch.searchsorted(edge, x, right=True) - 1
        at = torch.where(x == edge[-1], sizes[axis] - 1, at)
        within = (x >= edge[0]) & (x <= edge[-1])
        inside = within if inside is None else inside & within
        place = place * sizes[axis] + at
    total = math.prod(sizes)
    weight = torch.ones_like(points[:, 0]) if weight is None else weight.reshape(-1)
    counts = torch.zeros(total + 1, dtype=points.dtype, device=points.device)
    counts = counts.scatter_add(0, torch.where(inside, place, total), weight)
    counts = counts[:total].reshape(sizes)
    if density:
        counts = counts / counts.sum()
        for axis, edge in enumerate(edges):
            widths = edge.diff()
            counts = counts / widths.reshape([-1 if i == axis else 1 for i in range(len(edges))])
    return counts


def _flat_points(self):
    return self.reshape(-1, 1)


@decomposes(aten.histogram.bin_ct)
def _histogram(self, bins=100, *, range=None, weight=None, density=False):
    edges = _edges_of(self.reshape(-1), bins, range)
    return _counts(_flat_points(self), [edges], weight, density), edges


@decomposes(aten.histogram.bins_tensor)
def _histogram_of_edges(self, bins, *, weight=None, density=False):
    return _counts(_flat_points(self), [bins], weight, density), bins.clone()


@decomposes(aten._histogramdd_bin_edges.default)
def _histogramdd_edges(self, bins, *, range=None, weight=None, density=False):
    points = self.reshape(-1, self.shape[-1])
    return [_edges_of(points[:, i], n, None if range is None else range[2 * i:2 * i + 2])
            for i, n in enumerate(bins)]


@decomposes(aten._histogramdd_from_bin_cts.default)
def _histogramdd(self, bins, *, range=None, weight=None, density=False):
    edges = _histogramdd_edges(self, bins, range=range)
    return _counts(self.reshape(-1, self.shape[-1]), edges, weight, density)


@decomposes(aten._histogramdd_from_bin_tensors.default)
def _histogramdd_of_edges(self, bins, *, weight=None, density=False):
    return _counts(self.reshape(-1, self.shape[-1]), list(bins), weight, density)
