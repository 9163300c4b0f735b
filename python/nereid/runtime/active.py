"""The active device as Triton's programs ask for it: `triton.runtime.driver.active`."""

from __future__ import annotations

import sys


class GPUTarget:
    """What kernels are compiled for: "cuda", the compute capability (90: 9.0), lanes of a warp."""

    def __init__(self, backend: str, arch: int | str, warp_size: int):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size

    def _key(self):
        return self.backend, self.arch, self.warp_size

    def __eq__(self, other):
        return isinstance(other, GPUTarget) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (
            f"GPUTarget(backend={self.backend!r}, arch={self.arch!r}, "
            f"warp_size={self.warp_size!r})"
        )


class DriverBase:
    """The base of drivers; a program may make one of its own active."""

    @classmethod
    def is_active(cls) -> bool:
        return False

    def get_current_target(self) -> GPUTarget:
        raise NotImplementedError

    def get_active_torch_device(self):
        raise NotImplementedError

    def get_benchmarker(self):
        raise NotImplementedError

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type of C++ for an argument's type: `int32_t` of i32."""
        names = {"i1": "int8_t", "u1": "uint8_t", "fp16": "double", "bf16": "double"}
        names.update({"fp32": "double", "f32": "double", "fp64": "double"})
        if ty[0] == "*":
            return "CUdeviceptr"
        if ty in names:
            return names[ty]
        return f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"


class GPUDriver(DriverBase):
    """The base of drivers of GPUs."""


class Utils:
    """Facts about devices."""

    def get_device_properties(self, device: int = 0) -> dict:
        """A device's shared memory, registers, multiprocessors, warp size, clocks (kHz), and the
        width of its memory's bus (bits)."""
        info = _device(device).info()
        return {
            "max_shared_mem": info["shared_bytes"],
            "max_num_regs": 65536,
            "multiprocessor_count": info["processors"],
            "warpSize": 32,
            "sm_clock_rate": info["clock_khz"],
            "mem_clock_rate": info["memory_clock_khz"],
            "mem_bus_width": info["memory_bus_bits"],
        }


def _torch():
    """PyTorch, if it is imported and has a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None


def _device(index: int):
    from nereid.runtime import driver

    return driver.device(f"cuda:{index}" if driver.has_gpu() else "cpu")


class Driver(GPUDriver):
    """The GPU, on PyTorch's current device and stream; without one, the processor."""

    def __init__(self):
        self.utils = Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def _has_gpu(self) -> bool:
        from nereid.runtime import driver

        return driver.has_gpu()

    def get_current_device(self) -> int:
        torch = _torch()
        return torch.cuda.current_device() if torch else 0

    def set_current_device(self, device: int) -> None:
        torch = _torch()
        if torch:
            torch.cuda.set_device(device)
        elif device:
            raise RuntimeError("PyTorch is not imported, or has no GPU: there is no current device")

    def get_current_stream(self, device: int | None = None) -> int:
        """The address of the stream that PyTorch works on; 0 is the default stream."""
        torch = _torch()
        if not torch:
            return 0
        index = self.get_current_device() if device is None else device
        return torch.cuda.current_stream(index).cuda_stream

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        torch = _torch()
        if torch:
            return torch.cuda.get_device_capability(device)
        name = _device(device or 0).info()["target"]  # "sm_90a"
        digits = "".join(c for c in name if c.isdigit())
        return int(digits[:-1] or 0), int(digits[-1:] or 0)

    def get_current_target(self) -> GPUTarget:
        if not self._has_gpu():
            import platform

            return GPUTarget("cpu", platform.machine(), 32)  # as tl.extra.cuda.num_threads()
        major, minor = self.get_device_capability(self.get_current_device())
        return GPUTarget("cuda", major * 10 + minor, 32)

    def get_active_torch_device(self):
        import torch

        if not self._has_gpu():
            return torch.device("cpu")
        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch

        return torch.cuda if self._has_gpu() else torch.cpu

    def get_benchmarker(self):
        """The function that measures the time of a call."""
        from nereid.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """A tensor that is larger than the GPU's L2 cache, to be written between runs."""
        import torch

        device = "cuda" if self._has_gpu() else "cpu"
        return torch.empty(256 * 1024 * 1024 // 4, dtype=torch.int, device=device)

    def clear_cache(self, cache) -> None:
        cache.zero_()


class DriverConfig:
    """The active driver, and the one that is active before a program chooses."""

    def __init__(self):
        self._default: DriverBase | None = None
        self._active: DriverBase | None = None

    @property
    def default(self) -> DriverBase:
        if self._default is None:
            self._default = Driver()
        return self._default

    @property
    def active(self) -> DriverBase:
        if self._active is None:
            self._active = self.default
        return self._active

    def set_active(self, driver: DriverBase) -> None:
        self._active = driver

    def reset_active(self) -> None:
        self._active = self.default


driver = DriverConfig()
