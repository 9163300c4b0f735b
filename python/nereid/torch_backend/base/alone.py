"""Tensors whose memory has no other owner: what is written there nobody sees."""

from __future__ import annotations

import sys
from typing import Callable

import torch

from nereid.host_memory import CAN_TELL


def _counts(values: list, i: int) -> tuple:
    """How many own the object of Python's, the tensor, its memory, and that as an object."""
    tensor = values[i]
    storage = tensor.untyped_storage()
    memory = torch._C._storage_Use_Count(storage._cdata)
    return sys.getrefcount(tensor), tensor._use_count(), memory, sys.getrefcount(storage)


_ALONE = _counts([torch.empty(1)], 0) if CAN_TELL else None


def is_alone(values: list, i: int, is_kept: Callable) -> bool:
    """Has the list the only reference to its tensor i, and that the only one to its memory?  Of a
    storage that `is_kept`, host_memory has one tensor and one object more."""
    counts = _counts(values, i)
    if counts == _ALONE:
        return True
    tensor, users, memory, objects = counts
    return ((tensor, users, memory - 1, objects - 1) == _ALONE
            and is_kept(values[i].untyped_storage()))
