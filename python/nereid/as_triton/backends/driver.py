"""What `triton.backends.driver` has."""

from nereid.runtime.active import DriverBase, GPUDriver
