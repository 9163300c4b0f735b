"""Memory of large outputs on CPUs, which later calls use again.

The C library returns large blocks to the kernel at once, so that each call of a model would write
pages that the kernel clears at the first access: a page of 4 KiB takes as long as 20 KB of copies.
A block stays here while its tensors live, and is another output's once nobody has them, their
memory, or that memory as an object of Python's.  Threads share blocks without a lock, since an
object's end may call a model while this thread makes a tensor: who takes a block looks once more.
"""

from __future__ import annotations

import bisect
import itertools
import math
import sys
from typing import Callable

import torch

# PyTorch of before 2.6 does not tell who has a tensor.
CAN_TELL = hasattr(torch.Tensor, "_use_count") and hasattr(torch._C, "_storage_Use_Count")

_LEAST = 1 << 20  # bytes of an output; the C library keeps smaller ones itself
_STEPS = 8  # sizes of blocks between two powers of two
_LARGER = 1.5  # times the bytes that an output needs: the largest block that it takes
_STALE = 4  # times as many outputs as there are blocks: a block that none of them took goes
_MOST = 256  # blocks that one output looks at: a caller may hold thousands
_OFTEN = 64  # outputs between two searches for stale blocks


def _rounded(size: int) -> int:
    """The size of the block: at most an eighth more."""
    step = 1 << max(size.bit_length() - _STEPS.bit_length(), 0)
    return -(-size // step) * step


class _Block:
    """Memory, and for each dtype a tensor of all of it."""

    def __init__(self, size: int, dtype: torch.dtype):
        self.size, self.used = size, 0
        with torch.utils._python_dispatch._disable_current_modes(), torch.inference_mode(False):
            first = torch.empty(size // dtype.itemsize, dtype=dtype)
        self.tensors = {dtype: first}
        self.storage = first.untyped_storage()
        self.form = self._form()
        self.owners = self._count() - 1
        self.references = sys.getrefcount(self.storage)

    def _form(self) -> tuple:
        """What differs once an owner has given the storage other memory, shared with another
        process or of another size, or has an array of it, whose size stays."""
        s = self.storage
        return s.data_ptr(), s.nbytes(), s.resizable(), s.is_shared()

    def _count(self) -> int:
        return torch._C._storage_Use_Count(self.storage._cdata)

    def has_others(self, number: int) -> bool:
        """Are there so many tensors beside its own, and no object of the memory?"""
        return (self._count() == self.owners + len(self.tensors) + number
                and sys.getrefcount(self.storage) == self.references)

    def is_same(self) -> bool:
        return self._form() == self.form

    def tensor(self, dtype: torch.dtype):
        found = self.tensors.get(dtype)
        if found is None:
            with torch.utils._python_dispatch._disable_current_modes(), torch.inference_mode(False):
                found = torch.empty(0, dtype=dtype).set_(
                    self.storage, 0, (self.size // dtype.itemsize,), (1,))
            self.tensors[dtype] = found
        return found


class HostMemory:
    """Blocks in the order of their sizes.  A list of them never changes, since other threads go
    through it: it is replaced."""

    def __init__(self, empty: Callable, reinterpret: Callable):
        """`empty` makes small tensors; `reinterpret` is PyTorch's, of a tensor, sizes, strides and
        an offset."""
        self._empty, self._reinterpret = empty, reinterpret
        self._blocks: list = []
        self._outputs = 0

    def empty(self, sizes: tuple, strides: tuple, dtype: torch.dtype):
        """A dense tensor."""
        size = math.prod(sizes) * dtype.itemsize
        if size < _LEAST:
            return self._empty(sizes, strides, dtype)
        self._outputs += 1
        if self._outputs % _OFTEN == 0:
            self._drop(_STALE * len(self._blocks))
        blocks = self._blocks
        first = bisect.bisect_left(blocks, size, key=_size_of)
        for block in itertools.islice(blocks, first, first + _MOST):
            if block.size > _LARGER * size:
                break
            if block.has_others(0) and block.is_same():
                tensor = self._tensor(block, sizes, strides, dtype)
                if tensor is not None:
                    return tensor
        else:
            if len(blocks) >= first + _MOST:
                return self._empty(sizes, strides, dtype)
        block = _Block(_rounded(size), dtype)
        tensor = self._tensor(block, sizes, strides, dtype)
        blocks = list(self._blocks)
        bisect.insort(blocks, block, key=_size_of)
        self._blocks = blocks
        return tensor

    def maker(self, sizes: tuple, dtype: torch.dtype) -> Callable:
        """The function that makes tensors of these sizes as empty() does."""
        size = math.prod(sizes) * dtype.itemsize
        return self._empty if size < _LEAST else self.empty

    def _tensor(self, block: _Block, sizes: tuple, strides: tuple, dtype: torch.dtype):
        """A tensor of the block's memory; None: another call took it meanwhile."""
        block.used = self._outputs
        tensor = self._reinterpret(block.tensor(dtype), sizes, strides, 0)
        return tensor if block.has_others(1) else None

    def _drop(self, age: int) -> None:
        """Forgets blocks that have other memory now, or are free and were not used among the last
        `age` outputs."""
        oldest = self._outputs - age
        self._blocks = [block for block in self._blocks if block.is_same()
                        and not (block.used <= oldest and block.has_others(0))]

    def trim(self) -> None:
        """Returns the memory of all free blocks."""
        self._drop(0)

    def has(self, storage: torch.UntypedStorage) -> bool:
        """Is it a block's?"""
        return any(block.storage is storage for block in self._blocks)


def _size_of(block: _Block) -> int:
    return block.size


def _host_memory() -> HostMemory | None:
    """None: this PyTorch does not tell who has a tensor's memory."""
    from torch._C._dynamo import guards

    made = hasattr(guards, "_reinterpret_tensor") and hasattr(guards, "_empty_strided_cpu")
    return (HostMemory(guards._empty_strided_cpu, guards._reinterpret_tensor)
            if CAN_TELL and made else None)


host_memory = _host_memory()
