"""Where the inputs of a graph are in memory, and which of them overlap."""

from __future__ import annotations

import operator
from typing import NamedTuple

import torch

from nereid.torch_backend.base.layout import hint

_FAR = 1 << 80  # more than the addresses of a storage


class _Range(NamedTuple):
    """The memory from the first element of an input to its last one."""
    start: int
    end: int
    index: int
    written: bool


def _bytes(shape, stride, size: int) -> int:
    """From the first element to the end of the last one; 0 without elements."""
    if 0 in shape:
        return 0
    return (sum((n - 1) * step for n, step in zip(shape, stride)) + 1) * size


def _overlaps(ranges: list[_Range]) -> dict:
    """{(index, index): bytes from start to start} of ranges that overlap, one of which is written.
    Ranges that interleave count."""
    found: dict = {}
    reached: list[_Range] = []
    for one in sorted(ranges):
        reached = [other for other in reached if other.end > one.start]
        for other in reached:
            if one.written or other.written:
                first, second = sorted((one, other), key=operator.attrgetter("index"))
                found[first.index, second.index] = second.start - first.start
        reached.append(one)
    return found


def _may_overlap(starts: list, lengths: list, written: list) -> bool:
    """Does a range overlap another one, and one of them is written?  Most calls ask no more."""
    end = end_of_written = 0
    for start, length, writes in sorted(zip(starts, lengths, written)):
        if start < end_of_written or writes and start < end:
            return True
        end = max(end, start + length)
        if writes:
            end_of_written = end
    return False


def _is_open(tensor: torch.Tensor) -> bool:
    return isinstance(tensor.storage_offset(), torch.SymInt)


def tensors_of(inputs) -> dict:
    """{index: tensor} of those that have memory of their own."""
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    return {i: value for i, value in enumerate(inputs)
            if isinstance(value, torch.Tensor) and value.layout is torch.strided
            and value.device.type != "meta" and not is_traceable_wrapper_subclass(value)}


def storage_of(value):
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


class Overlaps:
    """Where the inputs of a graph were when it was compiled."""

    def __init__(self, tensors: dict, written: frozenset):
        self.indices = [*tensors]
        self.written = [i in written for i in tensors]
        places = {storage_of(tensor): i * _FAR for i, tensor in tensors.items()}
        known = [[hint(number) for number in (*t.shape, *t.stride(), t.storage_offset())]
                 for t in tensors.values()]
        fixed = all(isinstance(number, int) for t in tensors.values()
                    for number in (*t.shape, *t.stride()))
        self.lengths = None
        ranges = []
        for numbers, (i, tensor) in zip(known, tensors.items()):
            size, rank = tensor.element_size(), tensor.dim()
            if None in numbers:
                continue  # data decides it: the memory is new
            start = places[storage_of(tensor)] + numbers[-1] * size
            length = _bytes(numbers[:rank], numbers[rank:-1], size)
            if not length:
                continue
            ranges.append(_Range(start, start + length, i, i in written))
        self.overlaps = _overlaps(ranges)
        self.open = {pair for pair in self.overlaps if any(_is_open(tensors[i]) for i in pair)}
        if fixed:
            self.lengths = [_bytes(t.shape, t.stride(), t.element_size())
                            for t in tensors.values()]
        self.last: list = []

    def holds(self, args) -> bool:
        """Do the inputs of a call overlap as those of the compiled one do?"""
        tensors = [args[i] for i in self.indices]
        try:
            starts = [tensor.data_ptr() for tensor in tensors]
        except RuntimeError:
            return True  # PyTorch traces the call
        lengths = self.lengths
        if lengths is None:
            lengths = [_bytes(t.shape, t.stride(), t.element_size()) for t in tensors]
        elif starts == self.last:
            return True
        found: dict = {}
        if _may_overlap(starts, lengths, self.written):
            ranges = zip(starts, lengths, self.indices, self.written)
            found = _overlaps([_Range(start, start + length, i, written)
                               for start, length, i, written in ranges if length])
        for pair in self.open & found.keys():
            found[pair] = self.overlaps[pair]
        if found != self.overlaps:
            return False
        self.last = starts
        return True


def overlaps_of(inputs) -> list:
    """Which inputs overlap, and where if that is known: ((index, index), bytes)."""
    tensors = tensors_of(inputs)
    found = Overlaps(tensors, frozenset(tensors))
    return [(pair, None if pair in found.open else distance)
            for pair, distance in sorted(found.overlaps.items())]
