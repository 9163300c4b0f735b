# Methods of tensor descriptors that are no views: rows gathered and scattered, and atomics.
# Elements outside the tensor are padding and are not written, as in Triton 3.6.
import triton
import triton.language as tl


@triton.jit
def _along(desc, offset, dim: tl.constexpr):
    """i64: the block's indices along axis `dim`, of extent 1 on the others."""
    index = offset.to(tl.int64) + tl.arange(0, desc.block_shape[dim])
    for d in tl.static_range(len(desc.block_shape)):
        if d != dim:
            index = tl.expand_dims(index, d)
    return index


@triton.jit
def _elements(desc, offsets):
    """Pointers to the block at `offsets`, and which of them are to elements of the tensor."""
    tl.static_assert(
        len(offsets) == len(desc.block_shape),
        f"{len(offsets)} entries for a block of rank {len(desc.block_shape)}")
    pointers = tl.broadcast_to(desc._base, desc.block_shape)
    inside = tl.full(desc.block_shape, True, tl.int1)
    for d in tl.static_range(len(desc.block_shape)):
        index = _along(desc, tl.to_tensor(offsets[d]), d)
        pointers += index * desc.strides[d]
        inside &= (index >= 0) & (index < desc.shape[d])
    return pointers, inside


@triton.jit
def _check_rows(desc, x_offsets):
    tl.static_assert(
        len(desc.block_shape) == 2 and desc.block_shape[0] == 1,
        f"the descriptor's blocks should have one row and not the shape {desc.block_shape}")
    tl.static_assert(
        len(x_offsets.shape) == 1 and x_offsets.dtype.is_int(),
        f"x_offsets should be a vector of integers, not {x_offsets.type}")
    tl.static_assert(
        x_offsets.shape[0] >= 8, f"at least 8 rows are taken, not {x_offsets.shape[0]}")
    columns: tl.constexpr = 32 // desc.dtype.primitive_bitwidth * 8
    tl.static_assert(
        desc.block_shape[1] >= columns,
        f"at least {columns} columns of {desc.dtype} are taken, not {desc.block_shape[1]}")


@triton.jit
def _rows(desc, x_offsets, y_offset):
    """Pointers to the rows `x_offsets`, from column `y_offset` on, and which are of the tensor."""
    x = x_offsets.to(tl.int64)[:, None]
    y = (tl.to_tensor(y_offset).to(tl.int64) + tl.arange(0, desc.block_shape[1]))[None, :]
    inside = (x >= 0) & (x < desc.shape[0]) & (y >= 0) & (y < desc.shape[1])
    return desc._base + x * desc.strides[0] + y * desc.strides[1], inside


@triton.jit
def gather(desc, x_offsets, y_offset):
    """The rows `x_offsets`, from column `y_offset` on."""
    _check_rows(desc, x_offsets)
    pointers, inside = _rows(desc, x_offsets, y_offset)
    if desc._padding == "nan":
        return tl.load(pointers, inside, other=float("nan"))
    else:
        return tl.load(pointers, inside, other=0)


@triton.jit
def scatter(desc, value, x_offsets, y_offset):
    """Stores rows of `value` at the rows `x_offsets`, from column `y_offset` on."""
    _check_rows(desc, x_offsets)
    pointers, inside = _rows(desc, x_offsets, y_offset)
    tl.store(pointers, value, inside)


@triton.jit
def _check_value(desc, value):
    tl.static_assert(
        value.shape == desc.block_shape,
        f"the value has the shape {value.shape}, the block {desc.block_shape}")


@triton.jit
def atomic_add(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_add(pointers, value, inside)


@triton.jit
def atomic_min(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_min(pointers, value, inside)


@triton.jit
def atomic_max(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_max(pointers, value, inside)


@triton.jit
def atomic_and(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_and(pointers, value, inside)


@triton.jit
def atomic_or(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_or(pointers, value, inside)


@triton.jit
def atomic_xor(desc, offsets, value):
    _check_value(desc, value)
    pointers, inside = _elements(desc, offsets)
    tl.atomic_xor(pointers, value, inside)
