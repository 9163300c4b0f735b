"""Gradients of sampled images, pooling at random places, and antialiased resizing, as operators
that Nereid has."""

from __future__ import annotations

import functools

import torch

from nereid.torch_backend.decompositions.registry import decomposes

aten = torch.ops.aten

_LINEAR, _NEAREST, _CUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
_A = -0.75  # of Keys' kernel


def _is_open(*sizes) -> bool:
    return any(isinstance(size, torch.SymInt) for size in sizes)


def _opmath(tensor):
    return tensor if tensor.dtype == torch.float64 else tensor.float()


# ---- gradients of grid_sampler ----


def _reflected(at, size: int, corners: bool):
    """Between two mirrors, with the slope."""
    low, span = (0.0, size - 1) if corners else (-0.5, size)
    if not span:
        return at * 0, at * 0
    at = at - low
    times = (at.abs() / span).floor()
    over = at.abs() - times * span
    odd = times - 2 * (times / 2).floor() != 0
    turned = (at < 0) != odd
    return torch.where(odd, span - over, over) + low, torch.where(turned, -1.0, 1.0).to(at.dtype)


def _padded(at, size: int, padding: int, corners: bool):
    """A coordinate where padding moves it to, with the slope."""
    slope = torch.ones_like(at)
    if padding == _REFLECTION:
        at, slope = _reflected(at, size, corners)
    if padding != _ZEROS:
        slope = torch.where((at <= 0) | (at >= size - 1), 0, slope)
        at = at.clamp(0, size - 1)
    return at, slope


def _linear_taps(t, offsets):
    weight = torch.where(offsets == 0, 1 - t, t)
    return weight, torch.where(offsets == 0, -1.0, 1.0).to(t.dtype).expand(weight.shape)


def _cubic_taps(t, offsets):
    """Keys' kernel at distances 1 + t, t, 1 - t, 2 - t, and its slope."""
    d = (t - offsets).abs()
    near = ((_A + 2) * d - (_A + 3)) * d * d + 1
    far = ((_A * d - 5 * _A) * d + 8 * _A) * d - 4 * _A
    near_slope = (3 * (_A + 2) * d - 2 * (_A + 3)) * d
    far_slope = (3 * _A * d - 10 * _A) * d + 8 * _A
    inner = (offsets == 0) | (offsets == 1)
    slope = torch.where(inner, near_slope, far_slope)
    return torch.where(inner, near, far), torch.where(offsets <= 0, slope, -slope)


def _taps(at, mode: int):
    """The neighbours of points [B, P] along one axis, with weights and slopes: [B, taps, P]."""
    if mode == _NEAREST:
        one = torch.ones_like(at).unsqueeze(1)
        return at.round().unsqueeze(1), one, one
    first, end = (-1, 3) if mode == _CUBIC else (0, 2)
    offsets = torch.arange(first, end, device=at.device).to(at.dtype).unsqueeze(1)
    base = at.floor().unsqueeze(1)
    weights, slopes = (_cubic_taps if mode == _CUBIC else _linear_taps)(
        at.unsqueeze(1) - base, offsets)
    return base + offsets, weights, slopes


def _product(factors):
    return functools.reduce(torch.mul, factors)


def _along(taps, axis: int, n: int):
    """[B, taps, P] as [B, 1.., taps, ..1, P], with an axis for each of n that are sampled."""
    batch, count, points = taps.shape
    return taps.reshape([batch, *[count if i == axis else 1 for i in range(n)], points])


def _neighbours(points, sizes, mode, padding, corners):
    """Of points, coordinates by axis: the places of neighbours in the flat image, [B, taps.., P],
    whether they are within it, and weights and slopes by axis."""
    n, place, inside, weights, slopes = len(sizes), 0, None, [], []
    for i, size in enumerate(sizes):
        at, weight, slope = (_along(taps, i, n) for taps in _taps(points[i], mode))
        at = _padded(at, size, padding, corners)[0] if mode == _CUBIC else at
        within = (at >= 0) & (at <= size - 1)
        inside = within if inside is None else inside & within
        place = place * size + torch.where(within, at, 0).long()
        weights.append(weight)
        slopes.append(slope)
    return torch.where(inside, place, 0), inside, weights, slopes


def _grid_gradients(grad, x, grid, mode, padding, corners, wanted):
    n, sizes = x.dim() - 2, list(x.shape[2:])
    if mode == _CUBIC and n != 2:
        return NotImplemented
    if x.is_cuda:
        return NotImplemented  # PyTorch reads a point once, not once a neighbour.
    if 0 in (*x.shape, *grid.shape):
        return (torch.zeros_like(x) if wanted[0] else None,
                torch.zeros_like(grid) if wanted[1] else None)
    dtype, at_dtype = x.dtype, grid.dtype
    grad, x, grid = _opmath(grad), _opmath(x), _opmath(grid)
    batch, channels = x.shape[:2]
    points, scales = [], []
    for i, size in enumerate(sizes):
        # From -1..1 to elements; the last coordinate is along the first axis.
        span = size - 1 if corners else size
        at = (grid[..., n - 1 - i].reshape(batch, -1) + 1) * span * 0.5
        at = at if corners else at - 0.5
        slope = torch.ones_like(at)
        if mode != _CUBIC:
            at, slope = _padded(at, size, padding, corners)
        points.append(at)
        scales.append(slope * span * 0.5)
    g = grad.reshape([batch, channels, *[1] * n, -1])
    flat, taps = x.reshape(batch, channels, -1), list(range(1, 1 + n))
    grad_x = torch.zeros_like(flat)
    place, inside, weights, slopes = _neighbours(points, sizes, mode, padding, corners)
    wide = [batch, channels, *place.shape[1:]]
    places = place.unsqueeze(1).expand(wide).reshape(batch, channels, -1)
    inside = inside.unsqueeze(1)
    if wanted[0]:
        part = torch.where(inside, g * _product(weights).unsqueeze(1), 0).expand(wide)
        grad_x = grad_x.scatter_add(2, places, part.reshape(places.shape))
    by_axis = [torch.zeros_like(scale) for scale in scales]
    if wanted[1] and mode != _NEAREST:
        values = flat.gather(2, places).reshape(wide)
        pull = (torch.where(inside, values, 0) * g).sum(1)
        for i, scale in enumerate(scales):
            slope = _product([*weights[:i], slopes[i], *weights[i + 1:]])
            by_axis[i] = (pull * slope).sum(taps) * scale
    grad_grid = torch.stack(by_axis[::-1], -1).reshape(grid.shape).to(at_dtype)
    grad_x = grad_x.reshape(x.shape).to(dtype)
    return grad_x if wanted[0] else None, grad_grid if wanted[1] else None


@decomposes(aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default)
def _grid_sampler_backward(grad_output, input, grid, interpolation_mode, padding_mode,
                           align_corners, output_mask):
    return _grid_gradients(grad_output, input, grid, interpolation_mode, padding_mode,
                           align_corners, output_mask)


# ---- pooling at random places ----


def _starts(sample, size: int, pool: int, count: int):
    """Where the windows of an axis begin, by a sample of each plane: [planes, count].  Each number
    is rounded to the sample's dtype, as PyTorch's are on a CPU."""
    last = torch.full_like(sample, size - pool).long().unsqueeze(-1)
    if count == 1:
        return last

    def rounded(x):
        return _opmath(x.to(sample.dtype))

    wide = _opmath(sample).unsqueeze(-1)
    alpha = rounded(torch.full_like(wide, (size - pool) / (count - 1)))
    steps = torch.arange(count - 1, device=sample.device).to(wide.dtype)
    begin = rounded(rounded(steps + wide) * alpha).long() - rounded(wide * alpha).long()
    return torch.cat([begin, last], -1)


def _fractional_pool(self, kernel_size, output_size, random_samples):
    n = len(kernel_size)
    sizes, lead = list(self.shape[-n:]), list(self.shape[:-n])
    if _is_open(*sizes, *output_size):
        return NotImplemented
    if self.device.type == "cuda" and self.dtype.itemsize < 4:
        return NotImplemented  # PyTorch's places of windows are others there than on a CPU.
    if 0 in self.shape:
        empty = self.new_zeros([*lead, *output_size])
        return empty, empty.long()
    samples = random_samples.reshape(*lead, n)
    place = None
    for i in range(n):
        # The first sample of an image is along the last axis.
        sample = samples[..., n - 1 - i if n == 2 else i]
        starts = _starts(sample, sizes[i], kernel_size[i], output_size[i])
        at = starts.unsqueeze(-1) + torch.arange(kernel_size[i], device=self.device)
        shape = [*lead, *[1] * (2 * n)]
        shape[len(lead) + i], shape[len(lead) + n + i] = output_size[i], kernel_size[i]
        at = at.reshape(shape)
        place = at if place is None else place * sizes[i] + at
    windows = [*lead, *output_size, -1]
    place = place.reshape(windows)
    flat = self.reshape(*lead, -1)
    values = flat.gather(-1, place.reshape(*lead, -1)).reshape(place.shape)
    best = values.argmax(-1, keepdim=True)
    return values.gather(-1, best).squeeze(-1), place.gather(-1, best).squeeze(-1)


@decomposes(aten.fractional_max_pool2d.default, aten.fractional_max_pool3d.default)
def _fractional_max_pool(self, kernel_size, output_size, random_samples):
    return _fractional_pool(self, kernel_size, output_size, random_samples)


@decomposes(aten.fractional_max_pool2d_backward.default,
            aten.fractional_max_pool3d_backward.default)
def _fractional_max_pool_backward(grad_output, self, kernel_size, output_size, indices):
    lead = self.shape[:-len(kernel_size)]
    if 0 in self.shape:
        return torch.zeros_like(self)
    flat = torch.zeros_like(self).reshape(*lead, -1)
    flat = flat.scatter_add(-1, indices.reshape(*lead, -1), grad_output.reshape(*lead, -1))
    return flat.reshape(self.shape)


# ---- antialiased resizing ----


def _triangles(size: int, count: int, corners: bool, factor, device, dtype):
    """The weights of `size` elements for each of `count`: a triangle as wide as the step is.  (Of
    images of one column PyTorch 2.11 on a CPU gives other rows than for a column among several.)"""
    if corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = 1 / factor if factor else size / count
    support = max(step, 1.0)
    center = (torch.arange(count, device=device, dtype=torch.float64) + 0.5) * step
    first = (center - support + 0.5).clamp_min(0).floor()
    end = (center + support + 0.5).clamp_max(size).floor()
    at = torch.arange(size, device=device, dtype=torch.float64)
    weight = (1 - ((at - center[:, None] + 0.5) / support).abs()).clamp_min(0)
    weight = torch.where((at >= first[:, None]) & (at < end[:, None]), weight, 0)
    return (weight / weight.sum(1, keepdim=True)).to(dtype)


@decomposes(aten._upsample_bilinear2d_aa_backward.default)
def _resize_smoothly_backward(grad_output, output_size, input_size, align_corners, scales_h=None,
                              scales_w=None):
    g = _opmath(grad_output)
    if _is_open(*input_size[2:], *output_size) or 0 in g.shape:
        return NotImplemented
    rows = _triangles(input_size[2], output_size[0], align_corners, scales_h, g.device, g.dtype)
    columns = _triangles(input_size[3], output_size[1], align_corners, scales_w, g.device, g.dtype)
    return (rows.T @ (g @ columns)).to(grad_output.dtype)
