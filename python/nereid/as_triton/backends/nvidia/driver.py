"""What `triton.backends.nvidia.driver` has that others use."""

from __future__ import annotations

import os

from nereid.runtime.active import Driver as CudaDriver

include_dirs: list = []
_PLACES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
           "/usr/lib/wsl/lib")  # fmt: skip


def libcuda_dirs() -> list[str]:
    """The folders that have the driver's library."""
    places = os.environ.get("LD_LIBRARY_PATH", "").split(":") + list(_PLACES)
    return [p for p in places if p and os.path.exists(os.path.join(p, "libcuda.so.1"))]


def library_dirs() -> list[str]:
    """The folders of libraries that a program needs which launches kernels."""
    return libcuda_dirs()
