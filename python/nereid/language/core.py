"""Functions of `nereid.language` that the compiler itself has.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language import types
from nereid.language.types import *
from nereid.language.types import (
    CONSTEXPR_0,
    TRITON_BUILTIN,
    _aggregate,
    _DtypeClass,
    _normalize_tuple,
    _unwrap_if_constexpr,
    _unwrap_shape,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from typing import Any

_get_int_dtype = types.get_int_dtype


class tensor(base_value):
    """A tensor of a kernel: values or pointers in a static shape; the type of its expressions."""

    shape: Any
    numel: Any
    type: Any
    dtype: Any

    def __init__(self, handle, type):
        self.handle = handle
        extents = type.shape if type.is_block() else ()
        self.shape = tuple([constexpr(extent) for extent in extents])
        numel = 1
        for extent in extents:
            numel *= extent
        self.numel = constexpr(numel)
        self.type = type
        self.dtype = type.scalar

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(str(extent) for extent in self.shape)}]"

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise outside_kernel("tensor")

    def __getitem__(self, index) -> tensor:
        raise outside_kernel("tensor")

    @property
    def T(self) -> tensor:
        """The tensor with its last two axes exchanged."""
        raise outside_kernel("tensor.T")

    def zeros_like(self, _semantic=None) -> tensor:
        """A tensor of zeros with the shape and dtype of another one."""
        raise outside_kernel("tensor.zeros_like")

    def cast(self, dtype, fp_downcast_rounding=None, bitcast=False, _semantic=None) -> tensor:
        """The tensor as another dtype, by value, or with `bitcast` by bits."""
        raise outside_kernel("tensor.cast")

    def to(self, dtype, fp_downcast_rounding=None, bitcast=False, _semantic=None) -> tensor:
        """The tensor as another dtype, by value, or with `bitcast` by bits."""
        raise outside_kernel("tensor.to")

    def broadcast_to(self, *shape, _semantic=None) -> tensor:
        """The tensor repeated along axes of extent 1 to a shape."""
        raise outside_kernel("tensor.broadcast_to")

    def expand_dims(self, axis, _semantic=None) -> tensor:
        """The tensor with an axis of extent 1, or several, put in."""
        raise outside_kernel("tensor.expand_dims")

    def unsqueeze(self, dim, _semantic=None) -> tensor:
        """The tensor with an axis of extent 1 put in."""
        raise outside_kernel("tensor.unsqueeze")

    def squeeze(self, dim, _semantic=None) -> tensor:
        """The tensor without an axis of extent 1."""
        raise outside_kernel("tensor.squeeze")

    def permute(self, *dims, _semantic=None) -> tensor:
        """The tensor with its axes in another order."""
        raise outside_kernel("tensor.permute")

    def trans(self, *dims, _semantic=None) -> tensor:
        """The tensor with its axes in another order, by default the last two exchanged."""
        raise outside_kernel("tensor.trans")

    def reshape(self, *shape, can_reorder=False, _semantic=None) -> tensor:
        """The elements, in row-major order, in another shape."""
        raise outside_kernel("tensor.reshape")

    def view(self, *shape, _semantic=None) -> tensor:
        """The elements in another shape."""
        raise outside_kernel("tensor.view")

    def ravel(self, can_reorder=False, _semantic=None) -> tensor:
        """The elements along one axis."""
        raise outside_kernel("tensor.ravel")

    def item(self, _semantic=None) -> tensor:
        """The only element of a tensor, as a scalar."""
        raise outside_kernel("tensor.item")

    def split(self, _semantic=None) -> builtins.tuple[tensor, tensor]:
        """The two halves of a last axis of extent 2."""
        raise outside_kernel("tensor.split")

    def abs(self, _semantic=None) -> tensor:
        """Absolute values."""
        raise outside_kernel("tensor.abs")

    def logical_and(self, y, _semantic=None) -> tensor:
        """Whether both elements are true."""
        raise outside_kernel("tensor.logical_and")

    def logical_or(self, y, _semantic=None) -> tensor:
        """Whether one of the elements is true."""
        raise outside_kernel("tensor.logical_or")

    def store(
        self,
        value,
        mask=None,
        boundary_check=(),
        cache_modifier="",
        eviction_policy="",
        _semantic=None,
    ) -> None:
        """Writes elements to pointers, where the mask is true."""
        raise outside_kernel("tensor.store")

    def advance(self, offsets, _semantic=None) -> tensor:
        """A block pointer moved by offsets."""
        raise outside_kernel("tensor.advance")

    def atomic_add(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """Adds to elements in memory, atomically, and returns what was there."""
        raise outside_kernel("tensor.atomic_add")

    def atomic_max(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The maximum of elements in memory and values, atomically; returns what was there."""
        raise outside_kernel("tensor.atomic_max")

    def atomic_min(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The minimum of elements in memory and values, atomically; returns what was there."""
        raise outside_kernel("tensor.atomic_min")

    def atomic_and(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The bitwise and of elements in memory and values, atomically; returns what was there."""
        raise outside_kernel("tensor.atomic_and")

    def atomic_or(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The bitwise or of elements in memory and values, atomically; returns what was there."""
        raise outside_kernel("tensor.atomic_or")

    def atomic_xor(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The bitwise xor of elements in memory and values, atomically; returns what was there."""
        raise outside_kernel("tensor.atomic_xor")

    def atomic_xchg(self, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """Exchanges elements in memory, atomically, and returns what was there."""
        raise outside_kernel("tensor.atomic_xchg")

    def atomic_cas(self, cmp, val, sem=None, scope=None, _semantic=None) -> tensor:
        """Writes `val` where memory holds `cmp`, atomically, and returns what was there."""
        raise outside_kernel("tensor.atomic_cas")

    def atomic_load(self, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
        """The elements at pointers, each loaded atomically."""
        raise outside_kernel("tensor.atomic_load")

    def atomic_store(self, val, mask=None, sem=None, scope=None, _semantic=None) -> None:
        """Writes elements to pointers, each atomically."""
        raise outside_kernel("tensor.atomic_store")

    def reduce(self, axis, combine_fn, keep_dims=False, _semantic=None) -> Any:
        """Elements along an axis combined by a function."""
        raise outside_kernel("tensor.reduce")

    def sum(self, axis=None, keep_dims=False, dtype=None, _semantic=None) -> tensor:
        """The sum along an axis."""
        raise outside_kernel("tensor.sum")

    def xor_sum(self, axis=None, keep_dims=False, _semantic=None) -> tensor:
        """The bitwise xor along an axis."""
        raise outside_kernel("tensor.xor_sum")

    def reduce_or(self, axis=None, keep_dims=False, _semantic=None) -> tensor:
        """The bitwise or along an axis."""
        raise outside_kernel("tensor.reduce_or")

    def max(
        self,
        axis=None,
        return_indices=False,
        return_indices_tie_break_left=True,
        keep_dims=False,
        _semantic=None,
    ) -> Any:
        """The maximum along an axis, and with `return_indices` its index."""
        raise outside_kernel("tensor.max")

    def min(
        self,
        axis=None,
        return_indices=False,
        return_indices_tie_break_left=True,
        keep_dims=False,
        _semantic=None,
    ) -> Any:
        """The minimum along an axis, and with `return_indices` its index."""
        raise outside_kernel("tensor.min")

    def argmax(self, axis, tie_break_left=True, keep_dims=False, _semantic=None) -> tensor:
        """The index of the maximum along an axis."""
        raise outside_kernel("tensor.argmax")

    def argmin(self, axis, tie_break_left=True, keep_dims=False, _semantic=None) -> tensor:
        """The index of the minimum along an axis."""
        raise outside_kernel("tensor.argmin")

    def associative_scan(self, axis, combine_fn, reverse=False, _semantic=None) -> Any:
        """The combination of each element and all before it along an axis."""
        raise outside_kernel("tensor.associative_scan")

    def cumsum(self, axis=0, reverse=False, dtype=None, _semantic=None) -> tensor:
        """The sum of each element and all before it along an axis."""
        raise outside_kernel("tensor.cumsum")

    def cumprod(self, axis=0, reverse=False, dtype=None, _semantic=None) -> tensor:
        """The product of each element and all before it along an axis."""
        raise outside_kernel("tensor.cumprod")

    def histogram(self, num_bins, mask=None, _semantic=None) -> tensor:
        """How often each of the integers from 0 to `num_bins` - 1 occurs."""
        raise outside_kernel("tensor.histogram")

    def gather(self, index, axis, _semantic=None) -> tensor:
        """Elements of `src` at the indices along an axis."""
        raise outside_kernel("tensor.gather")

    def cdiv(self, div, _semantic=None) -> Any:
        """x / div rounded up, of non-negative integers."""
        raise outside_kernel("tensor.cdiv")

    def sigmoid(self, _semantic=None) -> tensor:
        """1 / (1 + exp(-x))."""
        raise outside_kernel("tensor.sigmoid")

    def softmax(self, dim=None, keep_dims=False, ieee_rounding=False, _semantic=None) -> tensor:
        """Softmax along `dim` (default 0)."""
        raise outside_kernel("tensor.softmax")

    def atomic_poll(
        self,
        expected_value,
        sem=None,
        scope=None,
        timeout_ns=None,
        _semantic=None,
    ) -> tensor:
        """Waits until each element has had its expected value, or for timeout_ns nanoseconds:
        whether each has."""
        raise outside_kernel("tensor.atomic_poll")

    def sort(self, dim=None, descending=False, _semantic=None) -> tensor:
        """X sorted along `dim` (default: the last)."""
        raise outside_kernel("tensor.sort")

    def topk(self, k, dim=None, descending=True, _semantic=None) -> tensor:
        """The k largest along `dim`, largest first, or the k smallest, smallest first."""
        raise outside_kernel("tensor.topk")

    def bitonic_merge(self, dim=None, descending=False, _semantic=None) -> tensor:
        """Sorts x along `dim` where it is bitonic there (rises, then falls, or the other way
        round)."""
        raise outside_kernel("tensor.bitonic_merge")

    def flip(self, dim=None, _semantic=None) -> tensor:
        """X in reverse order along `dim` (default: the last)."""
        raise outside_kernel("tensor.flip")

    def exp(self, _semantic=None) -> tensor:
        """e to the power of x."""
        raise outside_kernel("tensor.exp")

    def exp2(self, _semantic=None) -> tensor:
        """2 to the power of x."""
        raise outside_kernel("tensor.exp2")

    def log(self, _semantic=None) -> tensor:
        """The natural logarithm."""
        raise outside_kernel("tensor.log")

    def log2(self, _semantic=None) -> tensor:
        """The logarithm to base 2."""
        raise outside_kernel("tensor.log2")

    def sin(self, _semantic=None) -> tensor:
        """The sine."""
        raise outside_kernel("tensor.sin")

    def cos(self, _semantic=None) -> tensor:
        """The cosine."""
        raise outside_kernel("tensor.cos")

    def erf(self, _semantic=None) -> tensor:
        """The error function."""
        raise outside_kernel("tensor.erf")

    def sqrt(self, _semantic=None) -> tensor:
        """The square root."""
        raise outside_kernel("tensor.sqrt")

    def sqrt_rn(self, _semantic=None) -> tensor:
        """The square root, correctly rounded."""
        raise outside_kernel("tensor.sqrt_rn")

    def rsqrt(self, _semantic=None) -> tensor:
        """1 / sqrt(x)."""
        raise outside_kernel("tensor.rsqrt")

    def floor(self, _semantic=None) -> tensor:
        """The next integer towards minus infinity."""
        raise outside_kernel("tensor.floor")

    def ceil(self, _semantic=None) -> tensor:
        """The next integer towards infinity."""
        raise outside_kernel("tensor.ceil")

    def __add__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __radd__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __sub__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rsub__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __mul__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rmul__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __truediv__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rtruediv__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __floordiv__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rfloordiv__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __mod__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rmod__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __and__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rand__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __or__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __ror__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __xor__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rxor__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __lshift__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rlshift__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __rshift__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __rrshift__(self, other) -> tensor:  # type: ignore[misc]
        raise outside_kernel("tensor")

    def __lt__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __le__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __gt__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __ge__(self, other) -> tensor:
        raise outside_kernel("tensor")

    def __eq__(self, other) -> tensor:  # type: ignore[override]
        raise outside_kernel("tensor")

    def __ne__(self, other) -> tensor:  # type: ignore[override]
        raise outside_kernel("tensor")

    def __neg__(self) -> tensor:
        raise outside_kernel("tensor")

    def __pos__(self) -> tensor:
        raise outside_kernel("tensor")

    def __invert__(self) -> tensor:
        raise outside_kernel("tensor")


class tensor_descriptor_base_type(base_type):
    """The type of a descriptor: that of its blocks."""

    def __init__(self, block_type):
        self.block_type = block_type

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and self.block_type == other.block_type

    def __hash__(self):
        return hash(self.block_type)

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}"


class tensor_descriptor_type(tensor_descriptor_base_type):
    """The type of a descriptor with its shape and strides."""

    def __init__(self, block_type, shape_type, strides_type):
        self.block_type = block_type
        self.shape_type = shape_type
        self.strides_type = strides_type

    def __eq__(self, other) -> bool:
        return (
            super().__eq__(other)
            and self.shape_type == other.shape_type
            and self.strides_type == other.strides_type
        )

    __hash__ = tensor_descriptor_base_type.__hash__


class tensor_descriptor_base(base_value):
    """A descriptor of an array in memory, of which blocks are loaded and stored."""

    type: Any

    def __init__(self, handle, block_type):
        self.handle = handle
        self.type = tensor_descriptor_base_type(block_type)

    @property
    def block_type(self) -> Any:
        return self.type.block_type

    @property
    def block_shape(self) -> Any:
        return self.type.block_type.shape

    @property
    def dtype(self) -> Any:
        return self.type.block_type.element_ty

    def __str__(self) -> str:
        return str(self.type)

    def load(self, offsets, _semantic=None) -> tensor:
        """The block at offsets."""
        raise outside_kernel("tensor_descriptor.load")

    def store(self, offsets, value, _semantic=None) -> None:
        """Writes a block at offsets."""
        raise outside_kernel("tensor_descriptor.store")

    def gather(self, x_offsets, y_offset, _semantic=None) -> tensor:
        """The rows `x_offsets`, from column `y_offset` on."""
        raise outside_kernel("tensor_descriptor.gather")

    def scatter(self, value, x_offsets, y_offset, _semantic=None) -> None:
        """Writes rows of `value` at the rows `x_offsets`, from column `y_offset` on."""
        raise outside_kernel("tensor_descriptor.scatter")

    def atomic_add(self, offsets, value, _semantic=None) -> None:
        """Adds a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_add")

    def atomic_min(self, offsets, value, _semantic=None) -> None:
        """The minimum with a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_min")

    def atomic_max(self, offsets, value, _semantic=None) -> None:
        """The maximum with a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_max")

    def atomic_and(self, offsets, value, _semantic=None) -> None:
        """The bitwise and with a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_and")

    def atomic_or(self, offsets, value, _semantic=None) -> None:
        """The bitwise or with a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_or")

    def atomic_xor(self, offsets, value, _semantic=None) -> None:
        """The bitwise xor with a block at offsets, atomically."""
        raise outside_kernel("tensor_descriptor.atomic_xor")


class tensor_descriptor(tensor_descriptor_base):
    """A descriptor with its shape and strides."""

    shape: Any
    strides: Any

    def __init__(self, handle, shape, strides, block_type):
        super().__init__(handle, block_type)
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.type = tensor_descriptor_type(block_type, self.shape.type, self.strides.type)


def program_id(axis, _semantic=None) -> tensor:
    """The index of this program along an axis (0, 1 or 2) of the grid."""
    raise outside_kernel("program_id")


def num_programs(axis, _semantic=None) -> tensor:
    """The number of programs along an axis (0, 1 or 2) of the grid."""
    raise outside_kernel("num_programs")


def arange(start, end, _semantic=None) -> tensor:
    """The integers from `start` up to, but without, `end`, as int32."""
    raise outside_kernel("arange")


def full(shape, value, dtype, _semantic=None) -> tensor:
    """A tensor of a shape that holds one value everywhere."""
    raise outside_kernel("full")


def zeros(shape, dtype, _semantic=None) -> tensor:
    """A tensor of zeros."""
    raise outside_kernel("zeros")


def zeros_like(input, _semantic=None) -> tensor:
    """A tensor of zeros with the shape and dtype of another one."""
    raise outside_kernel("zeros_like")


def cast(input, dtype, fp_downcast_rounding=None, bitcast=False, _semantic=None) -> tensor:
    """The tensor as another dtype, by value, or with `bitcast` by bits."""
    raise outside_kernel("cast")


def to_tensor(x, _semantic=None) -> tensor:
    """A number as a scalar tensor."""
    raise outside_kernel("to_tensor")


def broadcast(input, other, _semantic=None) -> builtins.tuple[tensor, tensor]:
    """Both operands in the shape that they have together."""
    raise outside_kernel("broadcast")


def broadcast_to(input, *shape, _semantic=None) -> tensor:
    """The tensor repeated along axes of extent 1 to a shape."""
    raise outside_kernel("broadcast_to")


def expand_dims(input, axis, _semantic=None) -> tensor:
    """The tensor with an axis of extent 1, or several, put in."""
    raise outside_kernel("expand_dims")


def unsqueeze(input, dim, _semantic=None) -> tensor:
    """The tensor with an axis of extent 1 put in."""
    raise outside_kernel("unsqueeze")


def squeeze(input, dim, _semantic=None) -> tensor:
    """The tensor without an axis of extent 1."""
    raise outside_kernel("squeeze")


def permute(input, *dims, _semantic=None) -> tensor:
    """The tensor with its axes in another order."""
    raise outside_kernel("permute")


def trans(input, *dims, _semantic=None) -> tensor:
    """The tensor with its axes in another order, by default the last two exchanged."""
    raise outside_kernel("trans")


def reshape(input, *shape, can_reorder=False, _semantic=None) -> tensor:
    """The elements, in row-major order, in another shape."""
    raise outside_kernel("reshape")


def view(input, *shape, _semantic=None) -> tensor:
    """The elements in another shape."""
    raise outside_kernel("view")


def ravel(x, can_reorder=False, _semantic=None) -> tensor:
    """The elements along one axis."""
    raise outside_kernel("ravel")


def item(input, _semantic=None) -> tensor:
    """The only element of a tensor, as a scalar."""
    raise outside_kernel("item")


def join(a, b, _semantic=None) -> tensor:
    """Two tensors along a new last axis."""
    raise outside_kernel("join")


def interleave(a, b, _semantic=None) -> tensor:
    """The elements of two tensors by turns along the last axis."""
    raise outside_kernel("interleave")


def split(a, _semantic=None) -> builtins.tuple[tensor, tensor]:
    """The two halves of a last axis of extent 2."""
    raise outside_kernel("split")


def cat(input, other, can_reorder=False, dim=0, _semantic=None) -> tensor:
    """Two tensors one after the other."""
    raise outside_kernel("cat")


def where(condition, x, y, _semantic=None) -> tensor:
    """`x` where the condition is true, else `y`."""
    raise outside_kernel("where")


def add(x, y, sanitize_overflow=True, _semantic=None) -> tensor:
    """The sum of two tensors."""
    raise outside_kernel("add")


def sub(x, y, sanitize_overflow=True, _semantic=None) -> tensor:
    """The difference of two tensors."""
    raise outside_kernel("sub")


def mul(x, y, sanitize_overflow=True, _semantic=None) -> tensor:
    """The product of two tensors."""
    raise outside_kernel("mul")


def minimum(x, y, propagate_nan=None, _semantic=None) -> tensor:
    """The smaller of two elements."""
    raise outside_kernel("minimum")


def maximum(x, y, propagate_nan=None, _semantic=None) -> tensor:
    """The larger of two elements."""
    raise outside_kernel("maximum")


def clamp(x, min, max, propagate_nan=None, _semantic=None) -> tensor:
    """Elements limited to the range from `min` to `max`."""
    raise outside_kernel("clamp")


def abs(x, _semantic=None) -> tensor:
    """Absolute values."""
    raise outside_kernel("abs")


def fdiv(x, y, ieee_rounding=False, approx=False, _semantic=None) -> tensor:
    """The quotient of floats."""
    raise outside_kernel("fdiv")


def fma(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded once."""
    raise outside_kernel("fma")


def umulhi(x, y, _semantic=None) -> tensor:
    """The upper half of the product of unsigned integers."""
    raise outside_kernel("umulhi")


def map_elementwise(scalar_fn, *args, pack=1, _semantic=None) -> Any:
    """A function of scalars, applied to each element."""
    raise outside_kernel("map_elementwise")


def inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack, _semantic=None) -> Any:
    """Inline assembly, applied to each element."""
    raise outside_kernel("inline_asm_elementwise")


def extern_elementwise(
    lib_name,
    lib_path,
    args,
    arg_type_symbol_dict,
    is_pure=True,
    _semantic=None,
) -> tensor:
    """A function of libdevice, chosen by the dtypes of the arguments."""
    raise outside_kernel("extern_elementwise")


def expect_zero(x, mask, _semantic=None) -> tensor:
    """The tensor, whose elements are zero where the mask is false."""
    raise outside_kernel("expect_zero")


def dot(
    input,
    other,
    acc=None,
    input_precision=None,
    allow_tf32=None,
    max_num_imprecise_acc=None,
    out_dtype=None,
    _semantic=None,
) -> tensor:
    """The matrix product of two tensors, added to `acc`."""
    raise outside_kernel("dot")


def load(
    pointer,
    mask=None,
    other=None,
    boundary_check=(),
    padding_option="",
    cache_modifier="",
    eviction_policy="",
    volatile=False,
    _semantic=None,
) -> Any:
    """The elements at pointers, where the mask is true; elsewhere `other`."""
    raise outside_kernel("load")


def store(
    pointer,
    value,
    mask=None,
    boundary_check=(),
    cache_modifier="",
    eviction_policy="",
    _semantic=None,
) -> None:
    """Writes elements to pointers, where the mask is true."""
    raise outside_kernel("store")


def make_block_ptr(
    base,
    shape,
    strides,
    offsets,
    block_shape,
    order=None,
    _semantic=None,
) -> tensor:
    """A pointer to a block of a matrix in memory."""
    raise outside_kernel("make_block_ptr")


def make_tensor_descriptor(
    base,
    shape,
    strides,
    block_shape,
    padding_option="zero",
    _semantic=None,
) -> tensor_descriptor:
    """A descriptor of an array in memory, of which blocks are loaded and stored."""
    raise outside_kernel("make_tensor_descriptor")


def _experimental_make_tensor_descriptor(
    base,
    shape,
    strides,
    block_shape,
    padding_option="zero",
    _semantic=None,
) -> tensor_descriptor:
    """An older name of `make_tensor_descriptor`."""
    raise outside_kernel("_experimental_make_tensor_descriptor")


def load_tensor_descriptor(desc, offsets, _semantic=None) -> tensor:
    """The block at offsets of an array that a descriptor states."""
    raise outside_kernel("load_tensor_descriptor")


def store_tensor_descriptor(desc, offsets, value, _semantic=None) -> None:
    """Writes a block at offsets of an array that a descriptor states."""
    raise outside_kernel("store_tensor_descriptor")


def _experimental_descriptor_load(desc_pointer, offsets, shape, dtype, _semantic=None) -> tensor:
    """An older name of `load_tensor_descriptor`."""
    raise outside_kernel("_experimental_descriptor_load")


def _experimental_descriptor_store(desc_pointer, value, offsets, _semantic=None) -> None:
    """An older name of `store_tensor_descriptor`."""
    raise outside_kernel("_experimental_descriptor_store")


def _experimental_reinterpret_tensor_descriptor(
    desc_ptr,
    block_shape,
    dtype,
    _semantic=None,
) -> tensor_descriptor:
    """A descriptor with another block and dtype."""
    raise outside_kernel("_experimental_reinterpret_tensor_descriptor")


def advance(base, offsets, _semantic=None) -> tensor:
    """A block pointer moved by offsets."""
    raise outside_kernel("advance")


def atomic_add(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """Adds to elements in memory, atomically, and returns what was there."""
    raise outside_kernel("atomic_add")


def atomic_max(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The maximum of elements in memory and values, atomically; returns what was there."""
    raise outside_kernel("atomic_max")


def atomic_min(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The minimum of elements in memory and values, atomically; returns what was there."""
    raise outside_kernel("atomic_min")


def atomic_and(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The bitwise and of elements in memory and values, atomically; returns what was there."""
    raise outside_kernel("atomic_and")


def atomic_or(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The bitwise or of elements in memory and values, atomically; returns what was there."""
    raise outside_kernel("atomic_or")


def atomic_xor(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The bitwise xor of elements in memory and values, atomically; returns what was there."""
    raise outside_kernel("atomic_xor")


def atomic_xchg(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """Exchanges elements in memory, atomically, and returns what was there."""
    raise outside_kernel("atomic_xchg")


def atomic_cas(pointer, cmp, val, sem=None, scope=None, _semantic=None) -> tensor:
    """Writes `val` where memory holds `cmp`, atomically, and returns what was there."""
    raise outside_kernel("atomic_cas")


def atomic_load(pointer, mask=None, sem=None, scope=None, _semantic=None) -> tensor:
    """The elements at pointers, each loaded atomically."""
    raise outside_kernel("atomic_load")


def atomic_store(pointer, val, mask=None, sem=None, scope=None, _semantic=None) -> None:
    """Writes elements to pointers, each atomically."""
    raise outside_kernel("atomic_store")


def debug_barrier(_semantic=None) -> None:
    """All threads of the program wait for each other."""
    raise outside_kernel("debug_barrier")


def reduce(input, axis, combine_fn, keep_dims=False, _semantic=None) -> Any:
    """Elements along an axis combined by a function."""
    raise outside_kernel("reduce")


def sum(input, axis=None, keep_dims=False, dtype=None, _semantic=None) -> tensor:
    """The sum along an axis."""
    raise outside_kernel("sum")


def xor_sum(input, axis=None, keep_dims=False, _semantic=None) -> tensor:
    """The bitwise xor along an axis."""
    raise outside_kernel("xor_sum")


def reduce_or(input, axis=None, keep_dims=False, _semantic=None) -> tensor:
    """The bitwise or along an axis."""
    raise outside_kernel("reduce_or")


def max(
    input,
    axis=None,
    return_indices=False,
    return_indices_tie_break_left=True,
    keep_dims=False,
    _semantic=None,
) -> Any:
    """The maximum along an axis, and with `return_indices` its index."""
    raise outside_kernel("max")


def min(
    input,
    axis=None,
    return_indices=False,
    return_indices_tie_break_left=True,
    keep_dims=False,
    _semantic=None,
) -> Any:
    """The minimum along an axis, and with `return_indices` its index."""
    raise outside_kernel("min")


def argmax(input, axis, tie_break_left=True, keep_dims=False, _semantic=None) -> tensor:
    """The index of the maximum along an axis."""
    raise outside_kernel("argmax")


def argmin(input, axis, tie_break_left=True, keep_dims=False, _semantic=None) -> tensor:
    """The index of the minimum along an axis."""
    raise outside_kernel("argmin")


def associative_scan(input, axis, combine_fn, reverse=False, _semantic=None) -> Any:
    """The combination of each element and all before it along an axis."""
    raise outside_kernel("associative_scan")


def cumsum(input, axis=0, reverse=False, dtype=None, _semantic=None) -> tensor:
    """The sum of each element and all before it along an axis."""
    raise outside_kernel("cumsum")


def cumprod(input, axis=0, reverse=False, dtype=None, _semantic=None) -> tensor:
    """The product of each element and all before it along an axis."""
    raise outside_kernel("cumprod")


def histogram(input, num_bins, mask=None, _semantic=None) -> tensor:
    """How often each of the integers from 0 to `num_bins` - 1 occurs."""
    raise outside_kernel("histogram")


def gather(src, index, axis, _semantic=None) -> tensor:
    """Elements of `src` at the indices along an axis."""
    raise outside_kernel("gather")


def multiple_of(input, values, _semantic=None) -> tensor:
    """Tells the compiler that values are multiples of some numbers."""
    raise outside_kernel("multiple_of")


def max_contiguous(input, values, _semantic=None) -> tensor:
    """Tells the compiler how many values follow each other."""
    raise outside_kernel("max_contiguous")


def max_constancy(input, values, _semantic=None) -> tensor:
    """Tells the compiler how many values in a row are equal."""
    raise outside_kernel("max_constancy")


def assume(cond, _semantic=None) -> None:
    """Tells the compiler that a condition holds."""
    raise outside_kernel("assume")


def static_assert(cond, msg="", _semantic=None) -> None:
    """An error of the compiler if a constant is false."""
    raise outside_kernel("static_assert")


def static_print(*values, sep=" ", end="", file=None, flush=False, _semantic=None) -> None:
    """Prints values while the kernel is compiled."""
    raise outside_kernel("static_print")


def device_assert(cond, msg="", mask=None, _semantic=None) -> None:
    """An error of the launch if an element is false, on devices that check."""
    raise outside_kernel("device_assert")


def device_print(prefix, *args, hex=False, _semantic=None) -> None:
    """Prints values when the kernel runs."""
    raise outside_kernel("device_print")


def _log2(i, _semantic=None) -> int:
    """The logarithm of a power of two."""
    raise outside_kernel("_log2")


def _is_power_of_two(i, _semantic=None) -> bool:
    """Whether a number is a power of two."""
    raise outside_kernel("_is_power_of_two")


def dot_scaled(
    lhs,
    lhs_scale,
    lhs_format,
    rhs,
    rhs_scale,
    rhs_format,
    acc=None,
    fast_math=False,
    lhs_k_pack=True,
    rhs_k_pack=True,
    out_dtype=float32,
    _semantic=None,
) -> tensor:
    """Lhs @ rhs + acc, of operands in a format of `e2m1` (two a byte), `e4m3`, `e5m2`, `bf16`,
    `fp16`, times scales of e8m0 (uint8) or e4m3 for each 32 or 16 elements along K."""
    raise outside_kernel("dot_scaled")


for _value in list(globals().values()):
    if type(_value) is type(program_id) and _value.__module__ == __name__:
        setattr(_value, TRITON_BUILTIN, True)
