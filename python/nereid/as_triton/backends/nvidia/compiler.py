"""What `triton.backends.nvidia.compiler` has: the backends of Nereid's devices."""

from triton.backends.compiler import BaseBackend


class CUDABackend(BaseBackend):
    """Kernels for an NVIDIA GPU."""

    @staticmethod
    def supports_target(target) -> bool:
        return target.backend == "cuda"


class CPUBackend(BaseBackend):
    """Kernels for the processor."""

    binary_ext = "so"

    @staticmethod
    def supports_target(target) -> bool:
        return target.backend == "cpu"


def make_backend(target) -> BaseBackend:
    """The backend of a target."""
    for backend in (CUDABackend, CPUBackend):
        if backend.supports_target(target):
            return backend(target)
    raise RuntimeError(f"Nereid has no backend for the target {target}")
