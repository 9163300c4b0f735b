"""What `triton.backends` has: Nereid's devices, under the names of Triton's backends."""

from triton.backends.compiler import BaseBackend
from triton.backends.driver import DriverBase


class Backend:
    """A compiler and a driver."""

    def __init__(self, compiler, driver):
        self.compiler, self.driver = compiler, driver


def _backends():
    from triton.backends.nvidia.compiler import CPUBackend, CUDABackend
    from nereid.runtime.active import Driver

    return {"nvidia": Backend(CUDABackend, Driver), "cpu": Backend(CPUBackend, Driver)}


backends = _backends()
