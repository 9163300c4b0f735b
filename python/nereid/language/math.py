"""Elementary functions of `nereid.language`.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language.core import abs, fdiv, fma, umulhi, maximum, minimum, tensor
from nereid.language.types import outside_kernel

__all__ = [
    "exp", "exp2", "log", "log2", "sin", "cos", "erf", "sqrt", "sqrt_rn", "rsqrt", "floor", "ceil",
    "div_rn", "abs", "fdiv", "fma", "umulhi",
]


def exp(x, _semantic=None) -> tensor:
    """e to the power of x."""
    raise outside_kernel("exp")


def exp2(x, _semantic=None) -> tensor:
    """2 to the power of x."""
    raise outside_kernel("exp2")


def log(x, _semantic=None) -> tensor:
    """The natural logarithm."""
    raise outside_kernel("log")


def log2(x, _semantic=None) -> tensor:
    """The logarithm to base 2."""
    raise outside_kernel("log2")


def sin(x, _semantic=None) -> tensor:
    """The sine."""
    raise outside_kernel("sin")


def cos(x, _semantic=None) -> tensor:
    """The cosine."""
    raise outside_kernel("cos")


def erf(x, _semantic=None) -> tensor:
    """The error function."""
    raise outside_kernel("erf")


def sqrt(x, _semantic=None) -> tensor:
    """The square root."""
    raise outside_kernel("sqrt")


def sqrt_rn(x, _semantic=None) -> tensor:
    """The square root, correctly rounded."""
    raise outside_kernel("sqrt_rn")


def rsqrt(x, _semantic=None) -> tensor:
    """1 / sqrt(x)."""
    raise outside_kernel("rsqrt")


def floor(x, _semantic=None) -> tensor:
    """The next integer towards minus infinity."""
    raise outside_kernel("floor")


def ceil(x, _semantic=None) -> tensor:
    """The next integer towards infinity."""
    raise outside_kernel("ceil")


def div_rn(x, y, _semantic=None) -> tensor:
    """X / y, correctly rounded."""
    raise outside_kernel("div_rn")


def __getattr__(name):
    """Other names are libdevice's; `max` and `min` are elementwise here."""
    if name in ("max", "min"):
        return maximum if name == "max" else minimum
    from nereid.language.extra import libdevice

    if name in libdevice.__all__:
        return getattr(libdevice, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
