"""Compile the kernels that a suite launches for sm_90a instead of launching them, on any machine.

A tool that finds refusals before a GPU is at hand: the tests themselves fail, since nothing writes
their outputs; what a kernel's compilation says is appended to the file CONFORMANCE_REFUSALS, a JSON
object a line. Of an autotuned kernel the first and the last configuration are compiled.
"""

import json
import os
import time

import nereid
from nereid import _nereid, compiler
from nereid.runtime import active, autotuner

TARGET = "sm_90a"
KIND = getattr(_nereid, "KIND_" + os.environ.get("CONFORMANCE_STAGE", "ptx"))
seen = set()


def note(**row):
    with open(os.environ["CONFORMANCE_REFUSALS"], "a") as file:
        file.write(json.dumps({**row, "test": os.environ.get("PYTEST_CURRENT_TEST", "")}) + "\n")


def specialize(fn, device_type, index, described, bound, options, is_warmup=False):
    """In place of the compiler's: compiles once for each kind of arguments, and launches nothing."""
    key = fn.__module__, fn.__qualname__, repr(described), repr(options)
    if key in seen:
        return None
    seen.add(key)
    start = time.monotonic()
    row = {"kernel": f"{fn.__module__}:{fn.__qualname__}", "options": repr(options)}
    try:
        plan = compiler.Plan(fn, 1, 0, described, options)
        _nereid.compile(*plan._request, target=TARGET, kind=KIND, **plan._common)
        note(**row, ok=True, seconds=round(time.monotonic() - start, 3))
    except Exception as error:
        note(**row, ok=False, error=f"{type(error).__name__}: {error}", described=repr(described))
    return None


def tune(self, key, args, nargs, kwargs):
    configs = self._pruned(nargs, kwargs)
    if configs[0].pre_hook is None:
        self.fn.run(*args, **kwargs, **configs[-1].all_kwargs())
    self.cache[key] = configs[0]


class Pretended(active.Driver):
    """An H200."""

    def get_current_target(self):
        return active.GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")


class Utils:
    def get_device_properties(self, device=0):
        numbers = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132}
        numbers.update(warpSize=32, sm_clock_rate=1980000, mem_clock_rate=3201000)
        return {**numbers, "mem_bus_width": 6144}


compiler.specialize = specialize
autotuner.Autotuner._tune = tune
driver = Pretended()
driver.utils = Utils()
active.driver.set_active(driver)
nereid.testing.do_bench = lambda call, *args, **kwargs: call() or 1.0
