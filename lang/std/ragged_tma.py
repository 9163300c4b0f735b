# Rows of several sequences in one tensor, which descriptors load and store one sequence at a time.
#
# `create_ragged_descriptor` puts two axes in front of the tensor's, along which a hardware that
# wraps addresses around would move to a sequence.  Here the sequence is a descriptor of its own, of
# the tensor's axes alone; elements outside of it are padding and are not written.
import triton
import triton.language as tl

_ROWS: tl.constexpr = 0x40000000  # the extent of the ragged axis
_AHEAD: tl.constexpr = 0x7FFF0000  # those of the axes in front


@triton.jit
def _sequence(desc, offset, size, ragged_dim: tl.constexpr):
    """The rows [offset, offset + size)."""
    axis: tl.constexpr = 2 + ragged_dim
    tl.static_assert(
        len(desc.block_shape) > axis, "the descriptor is none of create_ragged_descriptor")
    start = tl.to_tensor(offset).to(tl.int64) * desc.strides[axis]
    return tl.make_tensor_descriptor(
        desc._base + start, desc.shape[2:axis] + (size,) + desc.shape[axis + 1:], desc.strides[2:],
        desc.block_shape[2:], desc._padding)


@triton.jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    return _sequence(TMA, slice_off, slice_size, ragged_dim).load(coords)


@triton.jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Stores a block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    _sequence(TMA, slice_off, slice_size, ragged_dim).store(coords, data)


@triton.jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds a block at `coords` of the rows [slice_off, slice_off + slice_size)."""
    _sequence(TMA, slice_off, slice_size, ragged_dim).atomic_add(coords, data)


@triton.jit
def to_ragged_indices(slice_off, slice_size, row):
    """The indices of a row on the two axes in front and on the ragged one."""
    return _ROWS, slice_off + slice_size, _ROWS - slice_size + row


@triton.jit
def _stride_back(stride):
    """The stride of the first axis, which takes _ROWS steps along the ragged one back."""
    return tl.full((), 1 << 34, tl.int64) - stride


@triton.jit
def create_ragged_descriptor_device_2d(
        base_ptr, shape_0, shape_1, stride_0, stride_1: tl.constexpr, block_shape_0: tl.constexpr,
        block_shape_1: tl.constexpr, ragged_dim: tl.constexpr):
    """The descriptor of a matrix whose rows are those of several sequences."""
    tl.static_assert(ragged_dim == 0, "the last axis can't be ragged")
    return tl.make_tensor_descriptor(
        base_ptr, [_AHEAD, _AHEAD, _ROWS, shape_1],
        [_stride_back(stride_0), stride_0, stride_0, stride_1],
        [1, 1, block_shape_0, block_shape_1])


@triton.jit
def create_ragged_descriptor_device_3d(
        base_ptr, shape_0, shape_1, shape_2, stride_0, stride_1, stride_2: tl.constexpr,
        block_shape_0: tl.constexpr, block_shape_1: tl.constexpr, block_shape_2: tl.constexpr,
        ragged_dim: tl.constexpr):
    """The descriptor of a tensor of three axes, of which axis 0 or 1 is that of the sequences."""
    tl.static_assert(ragged_dim == 0 or ragged_dim == 1, "the last axis can't be ragged")
    if ragged_dim == 0:
        return tl.make_tensor_descriptor(
            base_ptr, [_AHEAD, _AHEAD, _ROWS, shape_1, shape_2],
            [_stride_back(stride_0), stride_0, stride_0, stride_1, stride_2],
            [1, 1, block_shape_0, block_shape_1, block_shape_2])
    else:
        return tl.make_tensor_descriptor(
            base_ptr, [_AHEAD, _AHEAD, shape_0, _ROWS, shape_2],
            [_stride_back(stride_1), stride_1, stride_0, stride_1, stride_2],
            [1, 1, block_shape_0, block_shape_1, block_shape_2])
