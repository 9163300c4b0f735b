"""Random numbers of `nereid.language`: Philox, as Triton's.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language.core import tensor
from nereid.language.types import outside_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "philox_impl", "philox", "randint4x", "randint", "uint_to_uniform_float", "rand", "rand4x",
    "pair_uniform_to_normal", "randn", "randn4x",
]


def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=10) -> Any:
    """N_rounds rounds of Philox on the counter c0..c3 with key (k0, k1), all u32 or all u64."""
    raise outside_kernel("philox_impl")


def philox(seed, c0, c1, c2, c3, n_rounds=10) -> Any:
    """Philox with a 64-bit seed as the key; counters of 32 bits or of 64 bits."""
    raise outside_kernel("philox")


def randint4x(seed, offset, n_rounds=10) -> Any:
    """Four blocks of random u32 for a scalar seed and a block of offsets, i32 or i64."""
    raise outside_kernel("randint4x")


def randint(seed, offset, n_rounds=10) -> tensor:
    """A block of random u32."""
    raise outside_kernel("randint")


def uint_to_uniform_float(x) -> tensor:
    """A random integer as an f32 in [0, 1): its distance from 0, or -1 if negative, scaled so that
    the largest one stays below 1."""
    raise outside_kernel("uint_to_uniform_float")


def rand(seed, offset, n_rounds=10) -> tensor:
    """A block of f32, uniform in [0, 1)."""
    raise outside_kernel("rand")


def rand4x(seed, offsets, n_rounds=10) -> Any:
    """Four blocks of float32, uniform in [0, 1)."""
    raise outside_kernel("rand4x")


def pair_uniform_to_normal(u1, u2) -> Any:
    """Box-Muller: two independent normal values from two uniform ones."""
    raise outside_kernel("pair_uniform_to_normal")


def randn(seed, offset, n_rounds=10) -> tensor:
    """A block of f32, normal with mean 0 and deviation 1."""
    raise outside_kernel("randn")


def randn4x(seed, offset, n_rounds=10) -> Any:
    """Four blocks of float32, normal with mean 0 and deviation 1."""
    raise outside_kernel("randn4x")
