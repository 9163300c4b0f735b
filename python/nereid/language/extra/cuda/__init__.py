"""Functions of an NVIDIA GPU.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language.core import tensor
from nereid.language.types import outside_kernel

__all__ = [
    "gdc_wait", "gdc_launch_dependents", "globaltimer", "smid", "num_threads", "num_warps",
    "convert_custom_float8_sm70", "convert_custom_float8_sm80",
]


def gdc_wait(_semantic=None) -> None:
    """Waits until the grids that this one depends on have ended."""
    raise outside_kernel("extra.cuda.gdc_wait")


def gdc_launch_dependents(_semantic=None) -> None:
    """Lets the grids that depend on this one start."""
    raise outside_kernel("extra.cuda.gdc_launch_dependents")


def globaltimer(_semantic=None) -> tensor:
    """Nanoseconds of the device's clock."""
    raise outside_kernel("extra.cuda.globaltimer")


def smid(_semantic=None) -> tensor:
    """The number of the multiprocessor that runs this program."""
    raise outside_kernel("extra.cuda.smid")


def num_threads(_semantic=None) -> int:
    """The threads of a program."""
    raise outside_kernel("extra.cuda.num_threads")


def num_warps(_semantic=None) -> int:
    """The warps of a program."""
    raise outside_kernel("extra.cuda.num_warps")


def convert_custom_float8_sm70(
    arg,
    dst_ty,
    fp_downcast_rounding=None,
    _bitcast=False,
    _semantic=None,
) -> tensor:
    """The cast from and to float8e4b15."""
    raise outside_kernel("extra.cuda.convert_custom_float8_sm70")


def convert_custom_float8_sm80(
    arg,
    dst_ty,
    fp_downcast_rounding=None,
    _bitcast=False,
    _semantic=None,
) -> tensor:
    """The cast from and to float8e4b15."""
    raise outside_kernel("extra.cuda.convert_custom_float8_sm80")


def __getattr__(name):
    """libdevice is imported when it is asked for."""
    if name == "libdevice":
        from nereid.language.extra import libdevice

        return libdevice
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
