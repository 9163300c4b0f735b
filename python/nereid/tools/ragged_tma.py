"""Rows of several sequences in one tensor, which kernels load and store one sequence at a time."""

from __future__ import annotations

from nereid.language.core import tensor, tensor_descriptor
from nereid.language.types import outside_kernel
from nereid.tools.tensor_descriptor import TensorDescriptor, strides_of

_ROWS = 0x40000000  # the extent of the ragged axis
_AHEAD = 0x7FFF0000  # those of the axes in front


def create_ragged_descriptor(T, block_shape, ragged_dim=0) -> TensorDescriptor:
    """The descriptor of a tensor of 2 or 3 axes, whose rows along axis `ragged_dim` are those of
    several sequences, for `load_ragged`, `store_ragged` and `atomic_add_ragged`."""
    shape, strides = list(T.shape), list(strides_of(T))
    rank = len(shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    assert 0 <= axis < rank - 1, "last dimension cannot be ragged"
    assert rank <= 3, "read-write ragged descriptors must have at most 3 dimensions"
    assert len(block_shape) == rank, "block shape must have same length as tensor shape"
    assert shape[axis] <= _ROWS, "number of rows may not exceed 2**30"
    # Along the first axis, _ROWS steps lead as far back as those along the ragged axis lead ahead,
    # in addresses of 64 bits, which wrap around.
    shape[axis] = _ROWS
    step = strides[axis]
    return TensorDescriptor(T, [_AHEAD, _AHEAD, *shape], [2**34 - step, step, *strides],
                            [1, 1, *block_shape])


def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim=0) -> tensor:
    """The block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    raise outside_kernel("load_ragged")


def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim=0) -> None:
    """Stores a block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    raise outside_kernel("store_ragged")


def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim=0) -> None:
    """Adds a block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    raise outside_kernel("atomic_add_ragged")


def to_ragged_indices(slice_off, slice_size, row):
    """The indices of a row on the two axes in front and on the ragged one."""
    raise outside_kernel("to_ragged_indices")


def create_ragged_descriptor_device_2d(base_ptr, shape_0, shape_1, stride_0, stride_1,
                                       block_shape_0, block_shape_1,
                                       ragged_dim) -> tensor_descriptor:
    """The descriptor of a matrix whose rows are those of several sequences."""
    raise outside_kernel("create_ragged_descriptor_device_2d")


def create_ragged_descriptor_device_3d(base_ptr, shape_0, shape_1, shape_2, stride_0, stride_1,
                                       stride_2, block_shape_0, block_shape_1, block_shape_2,
                                       ragged_dim) -> tensor_descriptor:
    """The descriptor of a tensor of three axes, of which axis 0 or 1 is that of the sequences."""
    raise outside_kernel("create_ragged_descriptor_device_3d")
