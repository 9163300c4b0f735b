"""Let suites that name the device `cuda` run on a machine without one: tensors are made on the CPU.

A tool to find refusals and wrong results before a GPU is at hand; its figures are no conformance.
"""

import contextlib
import types

import torch
from torch.overrides import TorchFunctionMode


def on_cpu(value):
    """A device, or its name, with the CPU in place of any CUDA device."""
    if isinstance(value, str) and value.split(":")[0] == "cuda":
        return "cpu"
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return value


class OnCpu(TorchFunctionMode):
    """Replaces CUDA devices in the arguments of PyTorch's functions."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        kwargs = {name: on_cpu(value) for name, value in (kwargs or {}).items()}
        if function is torch.Tensor.cuda:
            return args[0]
        if function is torch.Tensor.pin_memory:
            return args[0]
        return function(*[on_cpu(value) for value in args], **kwargs)


class Event:
    """A CUDA event that measures nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def record(self, *args):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return 1.0


class Stream(Event):
    cuda_stream = 0

    def wait_stream(self, other):
        pass


cuda = torch.cuda
properties = types.SimpleNamespace(
    name="CPU",
    major=9,
    minor=0,
    multi_processor_count=132,
    total_memory=64 << 30,
    warp_size=32,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    L2_cache_size=50 << 20,
    gcnArchName="",
)


def constant(value):
    """A function of its own, since torch's compiler tells functions apart by identity."""
    return lambda *args, **kwargs: value


cuda.is_available = lambda: True
cuda.is_initialized = lambda: False
cuda.device_count = lambda: 1
cuda.current_device = lambda: 0
cuda.is_bf16_supported = lambda *args, **kwargs: True
cuda.get_device_capability = lambda *args: (9, 0)
cuda.get_device_name = lambda *args: "CPU"
cuda.get_device_properties = lambda *args: properties
cuda.mem_get_info = lambda *args: (64 << 30, 64 << 30)
cuda.current_stream = lambda *args: Stream()
cuda.default_stream = lambda *args: Stream()
cuda.Stream = Stream
cuda.Event = Event
cuda.device = lambda *args: contextlib.nullcontext()
cuda.stream = lambda *args: contextlib.nullcontext()
for name in ("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "set_device"):
    setattr(cuda, name, constant(None))
for name in ("reset_peak_memory_stats", "init", "_lazy_init"):
    setattr(cuda, name, constant(None))
for name in ("max_memory_allocated", "memory_allocated", "memory_reserved"):
    setattr(cuda, name, constant(0))
torch.Tensor.is_cuda = property(lambda self: True)
OnCpu().__enter__()
