"""Descriptors of tensors, which kernels load and store blocks of."""

from __future__ import annotations

from nereid import _nereid
from nereid.language.types import validate_block_shape


def _address(tensor) -> int:
    if hasattr(tensor, "data_ptr"):
        return tensor.data_ptr()
    from nereid.runtime.arguments import describe

    return describe(tensor)[0]


def strides_of(tensor) -> list[int]:
    """In elements, of tensors and of NumPy's arrays."""
    if hasattr(tensor, "stride"):
        return tensor.stride()
    return [s // tensor.dtype.itemsize for s in tensor.strides]


def _is_floating(dtype) -> bool:
    kind = getattr(dtype, "kind", None)
    return kind == "f" if kind else dtype.is_floating_point


class TensorDescriptor:
    """A tensor in memory by its base, shape and strides (in elements), and the shape of the blocks
    that a kernel loads and stores; elements outside read as 0, or as NaN with padding "nan"."""

    base: object
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str

    def __init__(self, base, shape, strides, block_shape, padding: str = "zero"):
        self.base = base
        self.shape = shape
        self.strides = strides
        self.block_shape = block_shape
        self.padding = padding
        self.__post_init__()

    def __post_init__(self):
        rank = len(self.shape)
        assert len(self.strides) == rank, f"rank mismatch: {self}"
        assert len(self.block_shape) == rank, f"rank mismatch: {self}"
        assert rank > 0, "rank must not be zero"
        assert rank <= 5, "rank cannot be more than 5"
        validate_block_shape(self.block_shape)
        # Tensors that stand for others while a graph is traced have no address.
        if type(self.base).__name__ not in ("FakeTensor", "FunctionalTensor"):
            assert _address(self.base) % 16 == 0, "base must be 16-byte aligned"
        size = self.base.dtype.itemsize
        for stride in self.strides[:-1]:
            assert stride * size % 16 == 0, "strides must be 16-byte aligned"
        for extent in self.shape:
            assert extent > 0, "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert self.padding in ("zero", "nan"), "Illegal value for padding"
        if self.padding == "nan":
            message = "Padding option `nan` is only supported for floating point tensors"
            assert _is_floating(self.base.dtype), message

    @staticmethod
    def from_tensor(tensor, block_shape, padding: str = "zero") -> TensorDescriptor:
        """The descriptor of a whole tensor."""
        return TensorDescriptor(tensor, tensor.shape, strides_of(tensor), block_shape, padding)

    def __eq__(self, other):
        if type(other) is not TensorDescriptor:
            return NotImplemented
        return self.base is other.base and self._shapes() == other._shapes()

    def _shapes(self):
        return [*map(list, (self.shape, self.strides, self.block_shape)), self.padding]

    def __repr__(self):
        return (
            f"TensorDescriptor(base={self.base!r}, shape={self.shape}, strides={self.strides}, "
            f"block_shape={self.block_shape}, padding={self.padding!r})"
        )


_nereid.register("descriptor", TensorDescriptor)
