#!/usr/bin/env python3
"""Models in CUDA graphs that are captured, on a fake driver: a graph runs also after the program's
last owner is gone, so kernels stay loaded; those of other models do not."""
import ctypes
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
from tally import check, report  # noqa: E402

MODEL = b"""
def forward(self, x: "f32[20]"):
    y = torch.ops.aten.mul.Tensor(x, x)
    z = torch.ops.aten.sum.default(y)
    w = torch.ops.aten.div.Tensor(y, z)
    return (w,)
"""
RELAXED = 2


def driver_in(folder):
    """The path of the fake driver's library, and of its log."""
    library, log = folder / "libcuda.so", folder / "log"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", library,
                    ROOT / "tests/support/fake_cuda.c"], check=True)
    os.environ.update(NEREID_LIBCUDA=str(library), NEREID_LIBRARY_PATH="", NEREID_PTXAS="",
                      NEREID_CACHE_DIR=str(folder / "cache"), FAKE_CUDA="unloads=1",
                      FAKE_CUDA_LOG=str(log))
    return ctypes.CDLL(str(library)), log


class OnGpu:
    """An array as CUDA's libraries describe them; the fake GPU's memory is the host's."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, "stream": None}


def unloaded(log):
    return log.read_text().count("unload ")


def run(fake, captured):
    """One run of a model, which is then gone."""
    import nereid
    import numpy as np

    x, out = (OnGpu(np.zeros(20, np.float32)) for _ in range(2))
    model = nereid.load(MODEL, device="cuda")
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    fake.cuStreamCreate(ctypes.byref(stream), 1)
    model(x, out=[out], stream=stream.value)
    if captured:
        check(fake.cuStreamBeginCapture_v2(stream, RELAXED) == 0, "a capture begins")
        model(x, out=[out], stream=stream.value)
        check(fake.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0, "it ends")
    return graph


def main():
    with tempfile.TemporaryDirectory() as folder:
        fake, log = driver_in(pathlib.Path(folder))
        run(fake, False)
        first = unloaded(log)
        check(first > 0, "kernels of a model that is gone are unloaded")
        graph = run(fake, True)
        check(unloaded(log) == first, "those of a graph that was captured are not")
        check(fake.cuGraphLaunch(graph, None) == 0, "and the graph runs")
    return report()


if __name__ == "__main__":
    sys.exit(main())
