"""Functions of `nereid.language` that are written in the language.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language.core import (
    _get_int_dtype,
    _is_power_of_two,
    _log2,
    argmax,
    argmin,
    cumprod,
    cumsum,
    interleave,
    max,
    min,
    ravel,
    reduce_or,
    sum,
    xor_sum,
    zeros,
    zeros_like,
)
from nereid.language.core import tensor
from nereid.language.types import outside_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "cdiv", "sigmoid", "softmax", "swizzle2d", "atomic_poll", "sort", "topk", "bitonic_merge",
    "flip", "argmax", "argmin", "cumprod", "cumsum", "interleave", "max", "min", "ravel",
    "reduce_or", "sum", "xor_sum", "zeros", "zeros_like", "_log2", "_is_power_of_two",
]


def cdiv(x, div) -> Any:
    """x / div rounded up, of non-negative integers; on the host, of numbers.

    >>> cdiv(10, 4)
    3
    """
    if isinstance(x, tensor) or isinstance(div, tensor):
        raise outside_kernel("cdiv")
    return (x + (div - 1)) // div


def sigmoid(x) -> tensor:
    """1 / (1 + exp(-x))."""
    raise outside_kernel("sigmoid")


def softmax(x, dim=None, keep_dims=False, ieee_rounding=False) -> tensor:
    """Softmax along `dim` (default 0)."""
    raise outside_kernel("softmax")


def swizzle2d(i, j, size_i, size_j, size_g) -> Any:
    """Renumbers the cells of a row-major size_i x size_j grid so that each group of size_g rows is
    walked column by column."""
    raise outside_kernel("swizzle2d")


def atomic_poll(pointer, expected_value, sem=None, scope=None, timeout_ns=None) -> tensor:
    """Waits until each element has had its expected value, or for timeout_ns nanoseconds: whether
    each has."""
    raise outside_kernel("atomic_poll")


def sort(x, dim=None, descending=False) -> tensor:
    """X sorted along `dim` (default: the last)."""
    raise outside_kernel("sort")


def topk(x, k, dim=None, descending=True) -> tensor:
    """The k largest along `dim`, largest first, or the k smallest, smallest first."""
    raise outside_kernel("topk")


def bitonic_merge(x, dim=None, descending=False) -> tensor:
    """Sorts x along `dim` where it is bitonic there (rises, then falls, or the other way round)."""
    raise outside_kernel("bitonic_merge")


def flip(x, dim=None) -> tensor:
    """X in reverse order along `dim` (default: the last)."""
    raise outside_kernel("flip")
