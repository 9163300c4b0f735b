"""Orders of axes in memory.

Nereid's graphs have tensors without gaps in the order of their axes.  PyTorch's may have their
axes in any order (channels_last, transposed), repeat elements (expand) and have gaps (slices).
A tensor without gaps is handed over in the order of its memory, which costs nothing.
"""

from __future__ import annotations

from typing import Sequence


def is_known(condition) -> bool:
    """Does it hold for all sizes that the graph allows?"""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return statically_known_true(condition)


def hint(number):
    """The number, where it is open that of the example; None: data decides it."""
    if isinstance(number, int):
        return number
    known = number.node.hint
    return known if known is None else int(known)


def size_hint(size) -> int:
    """The same, where data decides it one that is as good as any to compare strides by."""
    known = hint(size)
    return 4096 if known is None else known


def _is_dense(sizes: Sequence, strides: Sequence, order: Sequence[int]) -> bool:
    expected = 1
    for axis in reversed(order):
        if is_known(sizes[axis] == 1):
            continue
        if not is_known(strides[axis] == expected):
            return False
        expected = expected * sizes[axis]
    return True


def memory_order(sizes: Sequence, strides: Sequence) -> tuple[int, ...] | None:
    """The axes from the outermost in memory to the innermost; None: the tensor has gaps or repeats
    elements.  Axes of one element are at their own places, as in what others permute."""
    axes = tuple(range(len(sizes)))
    if any(is_known(size == 0) for size in sizes) or _is_dense(sizes, strides, axes):
        return axes
    steps = [size_hint(stride) for stride in strides]
    single = [axis for axis in axes if is_known(sizes[axis] == 1)]
    order = sorted((axis for axis in axes if axis not in single), key=lambda axis: -steps[axis])
    for axis in single:
        order.insert(axis, axis)
    return tuple(order) if _is_dense(sizes, strides, order) else None


def has_plain_strides(sizes: Sequence, strides: Sequence) -> bool:
    """Are the strides of a tensor without gaps those that its order of axes gives?  An axis of one
    element may have any.  Those of a tensor without elements mean nothing: PyTorch's rules and its
    operators differ there."""
    if any(is_known(size == 0) for size in sizes):
        return True
    expected = 1
    for axis in reversed(memory_order(sizes, strides)):
        if not is_known(strides[axis] == expected):
            return False
        expected = expected * sizes[axis]
    return True


def is_plain(order: Sequence[int]) -> bool:
    """Are the axes in memory as they are in the tensor?"""
    return all(axis == i for i, axis in enumerate(order))


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    places = [0] * len(order)
    for place, axis in enumerate(order):
        places[axis] = place
    return tuple(places)


def may_be_nothing(value) -> bool:
    """Has the tensor no elements, or does data decide whether it has some?"""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    if any(is_known(size == 0) for size in value.shape):
        return True
    return value._has_symbolic_sizes_strides and bool(free_unbacked_symbols(value.shape))


def extent(sizes: Sequence, strides: Sequence):
    """One more than the number of the last element from the first."""
    last = 0
    for size, stride in zip(sizes, strides):
        last = last + (size - 1) * stride
    return last + 1
