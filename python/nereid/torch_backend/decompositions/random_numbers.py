"""Operators that draw random numbers, by uniform and normal numbers."""

from __future__ import annotations

import torch

from nereid.torch_backend.decompositions.registry import decomposes, drawing

aten = torch.ops.aten
_SMALLEST = 2.0**-33  # below all drawn numbers but 0
_SEEDS = "PyTorch's generator gives seeds of the numbers that it draws"


@decomposes(aten.uniform.default, table=drawing, because=_SEEDS)
def _uniform(self, low=0.0, high=1.0, *, generator=None):
    if generator is not None or not self.is_floating_point():
        return NotImplemented
    return (torch.rand_like(self, dtype=_wide(self)) * (high - low) + low).to(self.dtype)


@decomposes(aten.normal_functional.default, table=drawing, because=_SEEDS)
def _normal_of(self, mean=0.0, std=1.0, *, generator=None):
    if generator is not None or not self.is_floating_point():
        return NotImplemented
    return (torch.randn_like(self, dtype=_wide(self)) * std + mean).to(self.dtype)


@decomposes(torch.ops.prims.normal.default, table=drawing)
def _normal(shape, *, mean, std, dtype, device, requires_grad, generator=None):
    if generator is not None or not dtype.is_floating_point:
        return NotImplemented
    return torch.randn(shape, dtype=dtype, device=device) * std + mean


@decomposes(aten.bernoulli.p, table=drawing, because=_SEEDS)
def _bernoulli(self, p=0.5, *, generator=None):
    if generator is not None:
        return NotImplemented
    return (torch.rand_like(self, dtype=torch.float32) < p).to(self.dtype)


@decomposes(aten.multinomial.default, table=drawing, because=_SEEDS)
def _multinomial(self, num_samples, replacement=False, *, generator=None):
    # The choice is the first of independent exponential waiting times, each at its category's rate.
    if generator is not None or 0 in self.shape:
        return NotImplemented
    rates = self.to(_wide(self))
    if replacement:
        rates = rates.unsqueeze(-2).expand(*self.shape[:-1], num_samples, self.shape[-1])
    drawn = torch.rand(rates.shape, dtype=rates.dtype, device=self.device)
    rates = rates / -drawn.clamp_min(_SMALLEST).log()
    if replacement or num_samples == 1:
        return rates.argmax(-1, keepdim=not replacement)
    return rates.topk(num_samples, -1).indices


def _wide(tensor) -> torch.dtype:
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32
