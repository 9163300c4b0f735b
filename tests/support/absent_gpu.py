"""A GPU for TorchInductor where there is none: an H200 as far as PyTorch's code in Python asks.

Import it after torch.  Inside FakeTensorMode tensors are "on" it, and a function under
torch.compile is compiled as for it; `loaded` has (path, symbol, shared bytes) of each kernel that
the static launcher was given.  Running a compiled function raises Ran."""
import types

import torch
import torch._subclasses.fake_tensor as fake_tensor
from torch._dynamo import device_interface

loaded = []
PROPERTIES = types.SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=64 << 30,
    warp_size=32, shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472, regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048, max_threads_per_block=1024, L2_cache_size=50 << 20,
    gcnArchName="", clock_rate=1980000, memory_clock_rate=2619000, memory_bus_width=6016, uuid="0",
)


class Ran(Exception):
    """A compiled function has come to its first access to the GPU."""


class Launcher:
    """In place of torch._C._StaticCudaLauncher."""

    @staticmethod
    def _load_kernel(path, name, shared, device):
        loaded.append((path, name, shared))
        return len(loaded), 32, 0

    @staticmethod
    def _launch_kernel(*args):
        raise Ran


class Stream:
    cuda_stream = device_index = stream_id = 0
    device_type = 1

    def wait_stream(self, other):
        pass


def constant(value):
    """A function of its own, since PyTorch's compiler tells functions apart by identity."""
    return lambda *args, **kwargs: value


def _set(place, **values):
    for name, value in values.items():
        setattr(place, name, staticmethod(constant(value)) if isinstance(place, type)
                else constant(value))


def _on_cpu(lazy_init):
    """Patterns are traced on the CPU: their devices are no part of them."""
    return lambda device=None: lazy_init(torch.device("cpu"))


def install():
    _set(torch.cuda, is_available=True, is_initialized=True, device_count=1, current_device=0,
         get_device_capability=(9, 0), get_device_name="NVIDIA H200", set_device=None,
         get_device_properties=PROPERTIES, synchronize=None, _lazy_init=None, init=None,
         mem_get_info=(64 << 30, 64 << 30), memory_allocated=0, max_memory_allocated=0,
         is_bf16_supported=True, get_rng_state=torch.zeros(16, dtype=torch.uint8),
         set_rng_state=None, current_stream=Stream(), default_stream=Stream(), _exchange_device=0,
         _maybe_exchange_device=0)
    _set(torch._C, _cuda_getCurrentRawStream=0, _cuda_getDevice=0, _cuda_exchangeDevice=0,
         _cuda_maybeExchangeDevice=0, _accelerator_getDeviceIndex=0)
    _set(torch.accelerator, is_available=False, current_stream=None, current_accelerator=None)
    torch._C._StaticCudaLauncher = Launcher
    device_interface.device_interfaces.clear()
    device_interface._device_initialized = False
    _set(device_interface.CudaInterface, is_available=True, current_device=0, device_count=1,
         get_raw_stream=0, get_compute_capability=90, synchronize=None, set_device=None,
         exchange_device=0, maybe_exchange_device=0, is_triton_capable=True,
         raise_if_triton_unavailable=None, get_device_properties=PROPERTIES)
    _set(device_interface.CudaInterface.Worker, get_device_properties=PROPERTIES, current_device=0)
    fake_tensor.init_gpu_context = constant(None)
    from torch._inductor.fx_passes import joint_graph, post_grad

    for module in (joint_graph, post_grad):
        module.lazy_init = _on_cpu(module.lazy_init)
    empty = torch._C._dynamo.guards._empty_strided_cuda

    def empty_strided_cuda(*args):
        raise Ran

    torch._C._dynamo.guards._empty_strided_cuda = empty_strided_cuda
    return empty
