"""Attention of doubles on a CPU, by products."""

from __future__ import annotations

import math

import torch

from nereid.torch_backend.base.layout import is_known
from nereid.torch_backend.decompositions.eager_strides import in_order, like_first
from nereid.torch_backend.decompositions.registry import decomposes

aten = torch.ops.aten

# A backward graph that takes the operator's sums would get others than it was compiled for.
_ROWS_FIRST = (0, 2, 1, 3)
_SUMS = "PyTorch's rule gives the sums of doubles another dtype than its operator"


def _is_of_doubles(query, key, value, dropout_p) -> bool:
    """Each head of keys and values is that of as many heads of the query."""
    heads = query.shape[1]
    return query.dtype == torch.float64 and not dropout_p and all(
        is_known(heads % other.shape[1] == 0) for other in (key, value))


def _for_heads_of(query, x):
    sharing = query.shape[1] // x.shape[1]
    return x if is_known(sharing == 1) else x.repeat_interleave(sharing, 1)


def _sum_for_heads_of(x, gradient):
    sharing = gradient.shape[1] // x.shape[1]
    if is_known(sharing == 1):
        return gradient
    return gradient.unflatten(1, (x.shape[1], sharing)).sum(2)


def _scores(query, key, mask, is_causal, scale):
    scores = (query * scale) @ key.mT
    if is_causal:
        rows, columns = (torch.arange(n, device=query.device) for n in scores.shape[-2:])
        scores = scores.masked_fill(columns > rows[:, None], -math.inf)
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, -math.inf)
    return scores + mask


def _shares(scores, sums):
    """A row that sees nothing has no shares."""
    return torch.where(scores == -math.inf, 0.0, (scores - sums.unsqueeze(-1)).exp())


def _scale(query, scale):
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


@decomposes(aten._scaled_dot_product_flash_attention_for_cpu.default, because=_SUMS)
def _attention_of_doubles(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None,
                          scale=None):
    if not _is_of_doubles(query, key, value, dropout_p):
        return NotImplemented
    key, value = _for_heads_of(query, key), _for_heads_of(query, value)
    scores = _scores(query, key, attn_mask, is_causal, _scale(query, scale))
    sums = scores.logsumexp(-1)
    sums = torch.where(sums == -math.inf, 0.0, sums)
    out = _shares(scores, sums) @ value
    return in_order(out, like_first(out, query)), in_order(sums, (0, 2, 1))


@decomposes(aten._scaled_dot_product_flash_attention_for_cpu_backward.default, because=_SUMS)
def _attention_of_doubles_backward(grad_out, query, key, value, out, logsumexp, dropout_p,
                                   is_causal, *, attn_mask=None, scale=None):
    if not _is_of_doubles(query, key, value, dropout_p):
        return NotImplemented
    scale, of_key, of_value = _scale(query, scale), key, value
    key, value = _for_heads_of(query, key), _for_heads_of(query, value)
    shares = _shares(_scores(query, key, attn_mask, is_causal, scale), logsumexp)
    of_shares = grad_out @ value.mT - (grad_out * out).sum(-1, keepdim=True)
    of_scores = shares * of_shares * scale
    found = (of_scores @ key, _sum_for_heads_of(of_key, of_scores.mT @ query),
             _sum_for_heads_of(of_value, shares.mT @ grad_out))
    return tuple(in_order(x, _ROWS_FIRST) for x in found)
