"""TorchInductor on Nereid: the kernels that it writes are compiled by Nereid, on threads of its
process, and its own launchers load their machine code.

`enable()` makes `import triton` give Nereid, and changes three things in Inductor, as soon as the
modules in question are imported:

- its compile workers, processes of over a gigabyte each, are threads here: the compiler releases
  the interpreter's lock;
- a kernel's machine code is written where Inductor's static launcher looks for it;
- measurements of its autotuner are looked up in the records of Nereid, and kept there.
"""

from __future__ import annotations

import functools
import os
import threading
import time

from nereid.errors import NereidError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def enable(children: bool = False) -> None:
    """Lets TorchInductor compile its kernels by Nereid, in this process; with `children` in the
    Python programs too that this one starts.

    Triton need not be installed.  A RuntimeError says so if something has imported Triton before,
    or torch's compiler has found that there is none."""
    from nereid.drop_in import install_as_triton

    install_as_triton(children=children)


# ---- compiling on threads ----


class Threads:
    """In place of Inductor's pool of processes: the same tasks, on threads of this process."""

    def __init__(self, count: int, compile_in_worker):
        from concurrent.futures import ThreadPoolExecutor

        self._executor = ThreadPoolExecutor(count, thread_name_prefix="nereid-inductor")
        self._compile_in_worker = compile_in_worker

    def submit(self, task, *args):
        """A future of the task's result.  A kernel stays in this process, so that nothing of it is
        taken apart for pickle."""
        if task is self._compile_in_worker:
            return self._executor.submit(_compile, args[0])
        return self._executor.submit(task, *args)

    def wakeup(self) -> None:
        """Threads start with their first task."""

    def shutdown(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)


def _compile(load_kernel) -> tuple[Any, int]:
    """A kernel of Inductor's with all its configurations compiled, and the time in microseconds."""
    begin = time.perf_counter_ns()
    kernel = load_kernel()
    kernel.precompile(warm_cache_only=True)
    return kernel, (time.perf_counter_ns() - begin) // 1000


def patch_async_compile(module) -> None:
    """Gives torch._inductor.async_compile threads in place of processes."""
    compile_class = module.AsyncCompile

    @functools.lru_cache(1)
    def process_pool() -> Threads:
        return Threads(module.get_compile_threads(), module._worker_compile_triton)

    def use_process_pool(cls) -> bool:
        # A user may ask for one thread to see the origin of a failure.
        return module.get_compile_threads() > 1

    compile_class.process_pool = staticmethod(process_pool)
    compile_class.use_process_pool = classmethod(use_process_pool)


# ---- machine code for the static launcher ----


def _use_ptxas_of_torch() -> None:
    """Lets the compiler use the ptxas of PyTorch's wheel where it finds no other."""
    from nereid import _nereid

    if _nereid.find_tool("ptxas") or "NEREID_PTXAS" in os.environ:
        return
    import torch

    path = os.path.join(os.path.dirname(torch.__file__), "bin", "ptxas")
    if os.access(path, os.X_OK):
        os.environ["NEREID_PTXAS"] = path


def _write_whole(path: str, data: bytes) -> None:
    """Writes a file, which others see as a whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}.{threading.get_ident()}"
    with open(draft, "wb") as f:
        f.write(data)
    os.replace(draft, path)


def _put_machine_code(kernel, path: str) -> None:
    """Writes a kernel's machine code to a file, unless it is there."""
    if os.path.exists(path):
        with open(path, "rb") as f:
            kernel.asm.keep("cubin", f.read())
        return
    _use_ptxas_of_torch()
    _write_whole(path, kernel.machine_code())


# ---- measurements ----


def _queries(tuner, images: dict, args: tuple) -> list[tuple] | None:
    """What records know each of a tuner's launchers by; None: they know nothing of one."""
    sizes = [f"{name}={value}" for name, value in zip(tuner.fn.arg_names, args)
             if isinstance(value, int)]
    out = []
    for launcher in tuner.launchers:
        image = images.get(launcher.cache_hash)
        if image is None:  # of a cache of Inductor's
            return None
        signature = ", ".join(type_ for _, type_, _ in image.params)
        config = launcher.config
        options = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
        text = " ".join(f"{name}={value}" for name, value in options.items())
        out.append((image.name, signature, " ".join(["inductor", *sizes]), text,
                    bytes.fromhex(image.key), image))
    return out


def _recorded(device, queries: list[tuple]) -> list[float] | None:
    """The times in milliseconds, if records have them all."""
    from nereid import _nereid

    found = _nereid.records_find(device, queries)
    if not all(result and result[0] == _nereid.TUNE_OK for result in found):
        return None
    return [median / 1e3 for _, median, _, _ in found]


def _record(device, queries: list[tuple], times: list[float]) -> None:
    from nereid import _nereid

    # Inductor tells neither the spread of a measurement nor the number of its runs.
    _nereid.records_store(device, [(*query, _nereid.TUNE_OK, time * 1e3, 0.0, 1)
                                   for query, time in zip(queries, times)
                                   if 0 < time < float("inf")])


def _with_records(theirs, images: dict):
    """Inductor's method that measures all configurations of a kernel, which asks records first."""

    def benchmark_all_configs(self, *args, **kwargs):
        from nereid.runtime import driver

        on_gpu = self.device_props.type == "cuda" and len(self.launchers) > 1
        queries = None
        if on_gpu and not self.inductor_meta.get("force_disable_caches", False):
            queries = _queries(self, images, args)
        if queries is None:
            return theirs(self, *args, **kwargs)
        try:
            device = driver.device(f"cuda:{self.device_props.index or 0}")
            times = _recorded(device, queries)
        except NereidError:
            return theirs(self, *args, **kwargs)
        if times is None:
            timings = theirs(self, *args, **kwargs)
            try:
                _record(device, queries, [timings[launcher] for launcher in self.launchers])
            except NereidError:  # the database can't be written: the next process measures
                pass
            return timings
        for launcher, milliseconds in zip(self.launchers, times):
            self.coordesc_tuner.cache_benchmark_result(launcher.config, milliseconds)
        return dict(zip(self.launchers, times))

    return benchmark_all_configs


def patch_triton_heuristics(module) -> None:
    """Lets torch._inductor.runtime.triton_heuristics find machine code for its static launcher,
    and look up measurements."""
    images: dict = {}  # by the key that launchers know
    tuner_class = module.CachingAutotuner
    tuner_class.benchmark_all_configs = _with_records(tuner_class.benchmark_all_configs, images)
    result_class = module.StaticTritonCompileResult
    theirs = result_class.can_statically_launch

    def can_statically_launch(kernel, inductor_meta, triton_meta, heuristic_type):
        config = module.torch._inductor.config
        key = module.triton_hash_to_path_key(kernel.hash)
        if hasattr(kernel, "image"):
            images[key] = kernel.image
        wanted = config.use_static_triton_launcher and not config.cpp_wrapper
        if wanted and triton_meta.get("device_type") == "cuda" and hasattr(kernel, "machine_code"):
            folder = module.triton_cache_dir(triton_meta.get("device", 0))
            path = os.path.join(folder, key, f"{kernel.src.fn.__name__}.cubin")
            try:
                _put_machine_code(kernel, path)
            except (NereidError, OSError) as error:  # it is launched without the static launcher
                module.log.info("no machine code in %s: %s", path, error)
        return theirs(kernel, inductor_meta, triton_meta, heuristic_type)

    result_class.can_statically_launch = staticmethod(can_statically_launch)
