"""Devices of this process, and the streams that other libraries work on."""

import sys
import threading

from nereid import _nereid

# DLPack's device types.
CPU, CUDA = 1, 2

_devices: dict = {}
_lock = threading.Lock()


def device(name: str) -> "_nereid.Device":
    """The device of this name, opened once in a process: "cuda:0", "cpu", "interp", "nest"."""
    with _lock:
        if name not in _devices:
            _devices[name] = _nereid.Device(name)
        return _devices[name]


def has_gpu() -> bool:
    """Is there a GPU that a driver can use?"""
    return _nereid.device_count("cuda") > 0


def current_device() -> int:
    """The GPU that PyTorch works on, or 0."""
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch and torch.cuda.is_available() else 0


def current_stream(index: int) -> int:
    """The address of the stream that PyTorch works on, or 0: the default stream."""
    torch = sys.modules.get("torch")
    if not torch or not torch.cuda.is_available():
        return 0
    return torch._C._cuda_getCurrentRawStream(index)


def with_free_memory(make):
    """What make() gives; if a GPU lacks memory for it, again without what PyTorch keeps."""
    try:
        return make()
    except MemoryError:
        torch = sys.modules.get("torch")
        if not torch or not torch.cuda.is_initialized() or not torch.cuda.memory_reserved():
            raise
        torch.cuda.empty_cache()
        return make()


def device_of_launch(device_type: int, index: int) -> "_nereid.Device":
    """The device for tensors of DLPack's `device_type`; 0: the launch has no tensors."""
    if not device_type:
        device_type, index = (CUDA, current_device()) if has_gpu() else (CPU, 0)
    return device("cpu" if device_type == CPU else f"cuda:{index}")


def set_allocator(allocator) -> None:
    """Memory that a kernel needs beside its arguments comes from a function of size, alignment and
    stream (a number), whose result has data_ptr(); None: from the driver's pools, in the order of
    the stream.  No kernel of this version needs any."""
    if allocator is not None and not callable(allocator):
        raise TypeError("an allocator is a function of size, alignment and stream")
    _nereid.set_allocator(allocator)
