"""Products of matrices, and copies to shared memory."""

from __future__ import annotations

from nereid.language.core import tensor
from nereid.language.types import outside_kernel


def mma_v2(a, b, acc, input_precision=None, _semantic=None) -> tensor:
    """a x b + acc."""
    raise outside_kernel("mma_v2")


class async_copy:
    """Copies to shared memory."""

    @staticmethod
    def async_copy_global_to_shared(
        smem, pointer, mask=None, cache_modifier="", eviction_policy="", volatile=False,
        _semantic=None
    ) -> None:
        """Copies a tile from pointers to shared memory; zeros where the mask is false."""
        raise outside_kernel("async_copy_global_to_shared")

    @staticmethod
    def commit_group(_semantic=None) -> None:
        """Ends a group of copies."""
        raise outside_kernel("commit_group")

    @staticmethod
    def wait_group(num_outstanding=0, _semantic=None) -> None:
        """Waits until no more groups than these are under way."""
        raise outside_kernel("wait_group")
