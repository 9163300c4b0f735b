#!/usr/bin/env python3
"""nereid_kernel_run() on a device: threads with streams of their own, overlapping arguments, and on
GPUs the caller's context and a stream that is captured.

    kernel_run.py [--device cpu|cuda]
"""
import argparse
import ctypes
import os
import pathlib
import sys
import threading

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "bench")]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
os.environ.setdefault("NEREID_LIBRARY", str(BUILD / "libnereid.so"))
import binding  # noqa: E402
from tally import check, report  # noqa: E402

N, THREADS, TURNS = 1000, 8, 50
lib = binding.lib
for name in ("nereid_stream_native", "nereid_device_native"):
    getattr(lib, name).restype = ctypes.c_void_p
    getattr(lib, name).argtypes = [ctypes.c_void_p]


class Vector:
    """Numbers in the device's memory."""

    def __init__(self, device, values):
        self.device, self.values = device, np.asarray(values, np.float32)
        self.address = device.alloc(self.values.nbytes)
        device.copy_in(self.address, self.values)

    def read(self):
        out = np.empty_like(self.values)
        self.device.copy_out(out, self.address)
        return out

    def close(self):
        self.device.free(self.address)


def run(kernel, stream, addresses, n, grid=None, extents=True):
    """out = x + y on n elements; `stream` is a native one."""
    args = (ctypes.c_uint64 * 4)(*addresses, n)
    known = (binding.Extent * 4)(*[(0, 4 * n)] * 3) if extents else None
    grid = (ctypes.c_uint32 * 3)(-(-n // 1024) if grid is None else grid, 1, 1)
    lib.nereid_kernel_run(kernel.handle, stream, grid, args, known, None)


def compile_add(device):
    pointer = binding.Pointer("fp32", 8)  # of no alignment that the compiler could use
    args = dict(x_ptr=pointer, y_ptr=pointer, out_ptr=pointer, n="i32")
    return device.compile(ROOT / "examples/kernels/vector_add.py", None, args, dict(BLOCK=1024))


def native(stream):
    """The CUstream; None where streams have none."""
    return lib.nereid_stream_native(stream)


def context_of(device):
    return lib.nereid_device_native(device.handle)


def work(device, kernel, seed, results):
    stream, right = device.stream(), True
    x, y = np.arange(N, dtype=np.float32) + seed, np.full(N, seed, np.float32)
    vectors = [Vector(device, v) for v in (x, y, np.zeros(N))]
    for turn in range(1, TURNS):
        n = 1 + turn * 37 * (seed + 1) % N
        run(kernel, native(stream), [v.address for v in vectors], n)
        lib.nereid_stream_sync(stream)
        right &= bool((vectors[2].read()[:n] == (x + y)[:n]).all())
    for v in vectors:
        v.close()
    lib.nereid_stream_free(stream)
    results[seed] = right


def check_threads(device, kernel):
    results = {}
    threads = [threading.Thread(target=work, args=(device, kernel, i, results))
               for i in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(results == dict.fromkeys(range(THREADS), True), f"{THREADS} threads: {results}")


def check_arguments(device, kernel):
    x = Vector(device, np.arange(2 * N))
    y = Vector(device, np.ones(2 * N))
    run(kernel, None, [x.address, y.address, x.address], N)
    device.sync()
    check((x.read()[:N] == np.arange(N) + 1).all(), "in place")
    run(kernel, None, [x.address, y.address, x.address], N, grid=0)
    device.sync()
    check((x.read()[:N] == np.arange(N) + 1).all(), "an empty grid runs nothing")
    before = x.read()
    for extents in (True, False):
        run(kernel, None, [x.address, y.address, x.address + 4], N, extents=extents)
        device.sync()
        check((x.read()[1:N + 1] == before[:N] + 1).all(), "an element further, in order")
        before = x.read()
    x.close()
    y.close()


# ---- GPUs ----

def driver():
    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuCtxSetCurrent.argtypes = [ctypes.c_void_p]
    return cuda


def current_context(cuda):
    out = ctypes.c_void_p()
    cuda.cuCtxGetCurrent(ctypes.byref(out))
    return out.value


def check_context(device, kernel):
    """The caller's context is the same after a launch, whether it is the device's or another."""
    cuda = driver()
    other = ctypes.c_void_p()
    check(cuda.cuCtxCreate_v2(ctypes.byref(other), 0, 0) == 0, "a context of the caller's")
    x = Vector(device, np.ones(N))
    for context in (other.value, context_of(device)):
        cuda.cuCtxSetCurrent(context)
        run(kernel, None, [x.address] * 3, N)
        check(current_context(cuda) == context, "the caller's context after a launch")
        device.sync()
        check(current_context(cuda) == context, "and after waiting")
    check((x.read() == 4).all(), "what the launches gave")
    x.close()
    cuda.cuCtxDestroy_v2(other)


def check_capture(device, kernel):
    """A launch into a stream that is captured runs when the graph does."""
    cuda = driver()
    cuda.cuCtxSetCurrent(context_of(device))
    stream = device.stream()
    at = ctypes.c_void_p(native(stream))
    x = Vector(device, np.ones(N))
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuStreamBeginCapture_v2(at, 0) == 0, "begin of a capture")
    run(kernel, at, [x.address] * 3, N)
    check(cuda.cuStreamEndCapture(at, ctypes.byref(graph)) == 0, "end of a capture")
    check((x.read() == 1).all(), "nothing ran so far")
    status = cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph,
                                              ctypes.c_ulonglong(0))
    check(status == 0, "a graph")
    for _ in range(3):
        cuda.cuGraphLaunch(executable, at)
    lib.nereid_stream_sync(stream)
    check((x.read() == 8).all(), "the graph ran three times")
    cuda.cuGraphExecDestroy(executable)
    cuda.cuGraphDestroy(graph)
    x.close()
    lib.nereid_stream_free(stream)


def check_device(name):
    device = binding.Device(name)
    kernel = compile_add(device)
    check_threads(device, kernel)
    check_arguments(device, kernel)
    if name.startswith("cuda"):
        check_context(device, kernel)
        check_capture(device, kernel)
    kernel.close()
    device.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    check_device(device)
    if device == "cuda":
        for i in range(1, min(lib.nereid_device_count(b"cuda"), 2)):
            check_device(f"cuda:{i}")
    return report()


if __name__ == "__main__":
    sys.exit(main())
