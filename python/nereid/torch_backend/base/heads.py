"""The heads of attention that there are kernels for."""

from __future__ import annotations

import torch

from nereid import _nereid


def widths_most(query, gradients: bool) -> tuple[int, int]:
    """The most columns of keys, and of values, that a kernel has."""
    major, minor = 0, 0
    if query.is_cuda and torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability(query.device)
    return _nereid.attention_widths(10 * major + minor, 8 * query.element_size(), gradients)
