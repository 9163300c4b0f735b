"""Functions that Gluon has beyond the kernel language, or with other parameters."""

from __future__ import annotations

from nereid.language.core import tensor
from nereid.language.types import outside_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def arange(start, end, layout=None, _semantic=None) -> tensor:
    """start, start + 1, ... end - 1, in a layout."""
    raise outside_kernel("arange")


def full(shape, value, dtype, layout=None, _semantic=None) -> tensor:
    """A tensor whose elements all have that value."""
    raise outside_kernel("full")


def zeros(shape, dtype, layout=None, _semantic=None) -> tensor:
    """A tensor of zeros."""
    raise outside_kernel("zeros")


def full_like(input, value, shape=None, dtype=None, layout=None, _semantic=None) -> tensor:
    """A tensor with that value and the shape, dtype and layout of another one."""
    raise outside_kernel("full_like")


def zeros_like(input, shape=None, dtype=None, layout=None, _semantic=None) -> tensor:
    """A tensor of zeros with the shape, dtype and layout of another one."""
    raise outside_kernel("zeros_like")


def convert_layout(value, layout, assert_trivial=False, _semantic=None) -> tensor:
    """The tensor in another layout."""
    raise outside_kernel("convert_layout")


def set_auto_layout(value, layout, _semantic=None) -> tensor:
    """A tensor of AutoLayout in that layout."""
    raise outside_kernel("set_auto_layout")


def histogram(input, num_bins, mask=None, layout=None, _semantic=None) -> tensor:
    """How often each number below `num_bins` occurs."""
    raise outside_kernel("histogram")


def dot_fma(a, b, acc, _semantic=None) -> tensor:
    """a x b + acc."""
    raise outside_kernel("dot_fma")


def fp4_to_fp(src, elem_type, axis, _semantic=None) -> tensor:
    """The numbers of e2m1 in bytes, two a byte along an axis."""
    raise outside_kernel("fp4_to_fp")


def num_warps(_semantic=None) -> int:
    """The number of warps of a program."""
    raise outside_kernel("num_warps")


def num_ctas(_semantic=None) -> int:
    """The number of thread blocks of a program: the option num_ctas."""
    raise outside_kernel("num_ctas")


def thread_barrier(_semantic=None) -> None:
    """Accesses to memory after it see those before it."""
    raise outside_kernel("thread_barrier")


def barrier(_semantic=None) -> None:
    """Accesses to memory after it see those before it."""
    raise outside_kernel("barrier")


def allocate_shared_memory(
    element_ty, shape, layout, value=None, _semantic=None
) -> shared_memory_descriptor:
    """Shared memory for a tile of that shape."""
    raise outside_kernel("allocate_shared_memory")


class shared_memory_descriptor:
    """A view of shared memory."""

    dtype: Any
    shape: Any
    layout: Any
    rank: Any
    numel: Any

    def load(self, layout, _semantic=None) -> tensor:
        """The tile in shared memory, in a layout of threads."""
        raise outside_kernel("shared_memory_descriptor.load")

    def store(self, value, _semantic=None) -> None:
        """Replaces the tile in shared memory."""
        raise outside_kernel("shared_memory_descriptor.store")

    def index(self, index, _semantic=None) -> shared_memory_descriptor:
        """The view at an index of the first axis."""
        raise outside_kernel("shared_memory_descriptor.index")

    def slice(self, start, length, dim=0, _semantic=None) -> shared_memory_descriptor:
        """The view of `length` elements from `start` along an axis."""
        raise outside_kernel("shared_memory_descriptor.slice")

    def permute(self, order, _semantic=None) -> shared_memory_descriptor:
        """The view with its axes in another order."""
        raise outside_kernel("shared_memory_descriptor.permute")

    def reshape(self, shape, _semantic=None) -> shared_memory_descriptor:
        """The view of the elements in another shape."""
        raise outside_kernel("shared_memory_descriptor.reshape")
