"""Benchmarks and comparisons: do_bench, perf_report, assert_close, and what a GPU could do.

Neither NumPy nor PyTorch is needed but where a function is about their arrays."""

from __future__ import annotations

import functools
import math
import os
import time
from contextlib import contextmanager

_MODES = {"min": min, "max": max, "mean": lambda times: math.fsum(times) / len(times),
          "median": lambda times: quantiles_of(times, (0.5,))[0], "all": lambda times: times}


# ---- statistics ----


def quantiles_of(values: list[float], shares) -> list[float]:
    """The quantiles of `values` at the shares, which are from 0 to 1: linear between neighbours."""
    ordered = sorted(values)
    out = []
    for share in shares:
        if not 0 <= share <= 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        at = share * (len(ordered) - 1)
        below, above = math.floor(at), math.ceil(at)
        out.append(ordered[below] + (at - below) * (ordered[above] - ordered[below]))
    return out


def _summary(times: list[float], quantiles, return_mode: str):
    if quantiles is None:
        return _MODES[return_mode](times)
    out = quantiles_of(times, quantiles)
    return out[0] if len(out) == 1 else out


def _check_mode(return_mode: str) -> None:
    if return_mode not in _MODES:
        raise ValueError(f"return_mode must be one of {', '.join(_MODES)}, not {return_mode!r}")


# ---- clocks ----


class _HostClock:
    """The time on a CPU: calls have ended when they return."""

    def begin(self) -> None:
        self._begin = time.perf_counter_ns()

    def end(self) -> None:
        self._times.append((time.perf_counter_ns() - self._begin) / 1e6)

    def __init__(self):
        self._times: list[float] = []

    def read(self) -> list[float]:
        times, self._times = self._times, []
        return times

    def sync(self) -> None:
        pass

    def times(self, call, n: int, before=None, after=None) -> list[float]:
        """Milliseconds of each of n calls; `before` and `after` each, untimed, run something."""
        for _ in range(n):
            if before:
                before()
            self.begin()
            call()
            self.end()
            if after:
                after()
        return self.read()


class _DeviceClock(_HostClock):
    """The time on a GPU, on the stream that PyTorch works on: by events, with the L2 cache flushed
    before each call."""

    def __init__(self, name: str):
        from nereid import _nereid
        from nereid.runtime import driver

        self._device = driver.device(name)
        index = int(name.partition(":")[2] or 0)
        stream = driver.current_stream(index)
        self._timer = driver.with_free_memory(lambda: _nereid.Timer(self._device, stream))
        self.begin, self.end = self._timer.begin, self._timer.end

    def read(self) -> list[float]:
        return [us / 1e3 for us in self._timer.read()]

    def sync(self) -> None:
        self._device.sync()


def clock_of(name: str | None = None):
    """A clock for what runs on this device; None: on the GPU that is in use, or else on the CPU."""
    if name is None:
        from nereid.runtime import driver

        name = f"cuda:{driver.current_device()}" if driver.has_gpu() else "cpu"
    return _DeviceClock(name) if name.startswith("cuda") else _HostClock()


# ---- benchmarks ----


def _forget_gradients(tensors) -> None:
    for x in tensors or ():
        x.grad = None


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The time of fn() in milliseconds, on the GPU or, where there is none, on the CPU.

    It is called for about `warmup` ms, and then measured for about `rep` ms; before each call, the
    gradients of the tensors `grad_to_none` are forgotten and a GPU's L2 cache is flushed.  The
    result is the "min", "max", "mean", "median" or list of "all" times, as `return_mode` says, or
    with `quantiles` their list (of one: a number).

    >>> do_bench(lambda: None, warmup=1, rep=1) < 1
    True
    """
    _check_mode(return_mode)
    clock = clock_of()
    fn()
    clock.sync()
    begin = time.perf_counter()
    clock.times(fn, 5)
    estimate = max((time.perf_counter() - begin) * 1e3 / 5, 1e-6)
    for _ in range(max(1, int(warmup / estimate))):
        fn()
    times = clock.times(fn, max(1, int(rep / estimate)), lambda: _forget_gradients(grad_to_none))
    return _summary(times, quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The time of fn() in milliseconds without the cost of launching from Python: as many calls as
    fill `rep` ms are captured into a CUDA graph of PyTorch's, which runs ten times."""
    import torch

    _check_mode(return_mode)
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for x in grad_to_none or ():
            x.detach_()
            x.requires_grad_(True)
            x.grad = None

        def timed(calls) -> float:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            calls()
            end.record()
            torch.cuda.synchronize()
            return begin.elapsed_time(end)

        estimate = timed(lambda: [fn() for _ in range(5)]) / 5
        n = max(1, int(rep / estimate)) if estimate else 1000
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(n):
                _forget_gradients(grad_to_none)
                fn()
        torch.cuda.synchronize()
        return _summary([timed(graph.replay) / n for _ in range(10)], quantiles, return_mode)


# ---- comparing ----


def _as_array(x):
    """A number, list or tensor as a NumPy array."""
    import numpy as np

    if hasattr(x, "detach"):
        x = x.detach()
        x = (x.float() if str(x.dtype) == "torch.bfloat16" else x).cpu().numpy()
    return np.asarray(x)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises an AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaN is close to NaN.

    `x` and `y` are numbers, lists, NumPy arrays or tensors; `atol` (0.01 by default) and `rtol` (0)
    are numbers, or functions of a dtype."""
    import numpy as np

    dtypes = [getattr(v, "dtype", None) for v in (x, y)]
    x, y = _as_array(x), _as_array(y)
    atol = 1e-2 if atol is None else atol
    rtol = 0.0 if rtol is None else rtol
    atol = atol(dtypes[0] or x.dtype) if callable(atol) else atol
    rtol = rtol(dtypes[0] or x.dtype) if callable(rtol) else rtol
    if x.size > 1 or y.size > 1:
        np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not np.allclose(x, y, atol=atol, rtol=rtol):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


# ---- reports ----


class Benchmark:
    """A plot: a line for each of `line_vals`, which argument `line_arg` takes, over `x_vals`, which
    the arguments `x_names` take (a value for all, or a tuple with one for each)."""

    def __init__(self, x_names: list[str], x_vals: list, line_arg: str, line_vals: list,
                 line_names: list[str], plot_name: str, args: dict[str, object], xlabel: str = "",
                 ylabel: str = "", x_log: bool = False, y_log: bool = False, styles=None):
        self.x_names, self.x_vals = x_names, x_vals
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel = xlabel, ylabel
        self.x_log, self.y_log = x_log, y_log
        self.styles = styles


def _as_rows(bench: Benchmark, fn, more: dict) -> list[list]:
    """[x ..., mean of each line ..., least ..., greatest ...] for each x; None: not known."""
    rows = []
    for x in bench.x_vals:
        xs = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
        if len(xs) != len(bench.x_names):
            raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
        results = []
        for value in bench.line_vals:
            named = dict(zip(bench.x_names, xs))
            result = fn(**named, **{bench.line_arg: value}, **bench.args, **more)
            try:
                mean, least, greatest = result
            except TypeError:
                mean, least, greatest = result, None, None
            results.append((mean, least, greatest))
        rows.append(xs + [r[i] for i in range(3) for r in results])
    return rows


def _cell(value) -> str:
    if value is None:
        return ""
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _as_text(columns: list[str], rows: list[list]) -> str:
    """A table for people: columns to the right, each row with its number."""
    table = [["", *columns], *([str(i), *map(_cell, row)] for i, row in enumerate(rows))]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths)) for row in table)


class Mark:
    """A function with its benchmarks, made by perf_report(): run() runs them."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def _plot(self, bench: Benchmark, rows: list[list], save_path: str, show: bool):
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            import warnings

            warnings.warn("a plot needs matplotlib: there is none", stacklevel=3)
            return
        plt.figure()
        ax = plt.subplot()
        columns = list(zip(*rows))
        x, n, first = columns[0], len(bench.line_names), len(bench.x_names)
        for i, name in enumerate(bench.line_names):
            mean, low, high = columns[first + i :: n][:3]
            color, style = bench.styles[i][:2] if bench.styles else (None, None)
            ax.plot(x, mean, label=f"{name} ({bench.ylabel})", color=color, ls=style)
            if None not in low and None not in high:
                ax.fill_between(x, low, high, alpha=0.15, color=color)
        ax.legend()
        ax.set_xlabel(bench.xlabel or bench.x_names[0])
        ax.set_ylabel(bench.ylabel)
        ax.set_xscale("log" if bench.x_log else "linear")
        ax.set_yscale("log" if bench.y_log else "linear")
        if show:
            plt.show()
        if save_path:
            plt.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))

    def _run(self, bench: Benchmark, save_path: str, show_plots: bool, print_data: bool,
             diff_col=False, save_precision=6, **kwargs):
        """(columns, rows) of its table."""
        all_rows = _as_rows(bench, self.fn, kwargs)
        if bench.plot_name and (show_plots or save_path):
            self._plot(bench, all_rows, save_path, show_plots)
        columns = [*bench.x_names, *(f"{name} ({bench.ylabel})" for name in bench.line_names)]
        rows = [row[: len(columns)] for row in all_rows]
        if diff_col and len(columns) == 2:
            columns.append("Diff")
            rows = [[*row, row[1] - row[0]] for row in rows]
        if print_data:
            print(bench.plot_name + ":")
            print(_as_text(columns, rows))
        if save_path:
            import csv

            with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w", newline="") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(columns)
                out.writerows([f"{v:.{save_precision}f}" if isinstance(v, float) else v
                               for v in row] for row in rows)
        return columns, rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Runs all benchmarks, and shows, prints or saves (plots, tables and results.html in a
        folder) their results, or returns them as tables of pandas.  Plots need matplotlib."""
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if single else self.benchmarks
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        tables: list = []
        try:
            for bench in benchmarks:
                tables.append(self._run(bench, save_path, show_plots, print_data, **kwargs))
        finally:
            if save_path:
                images = [f'<image src="{b.plot_name}.png"/>\n' for b in benchmarks[: len(tables)]]
                with open(os.path.join(save_path, "results.html"), "w") as html:
                    html.write("<html><body>\n" + "".join(images) + "</body></html>\n")
        if not return_df:
            return None
        import pandas

        frames = [pandas.DataFrame(rows, columns=columns) for columns, rows in tables]
        return frames[0] if single else frames


def perf_report(benchmarks):
    """Makes a Mark of a function: perf_report(Benchmark(...) or a list of them)(function)."""
    return lambda fn: Mark(fn, benchmarks)


# ---- what a GPU is, and could do ----


def nvsmi(attrs) -> list[int]:
    """Attributes of GPU 0, as nvidia-smi has them: nvsmi(["clocks.current.sm"])."""
    out = _smi("--query-gpu=" + ",".join(attrs), "--format=csv,noheader,nounits")
    return [int(x) for x in out.split(",")]


def _smi(*options: str) -> str:
    import subprocess

    return subprocess.check_output(["nvidia-smi", "-i", "0", *options], text=True)


def _gpu_info(device) -> dict:
    from nereid.runtime import driver

    index = driver.current_device() if device is None else device
    return driver.device(f"cuda:{index}").info()


def get_dram_gbps(device=None) -> float:
    """The bandwidth of a GPU's memory in GB/s: two transfers a clock."""
    info = _gpu_info(device)
    return info["memory_clock_khz"] * info["memory_bus_bits"] * 2 / 1e6 / 8


def _is_ampere(info: dict) -> bool:
    return int("".join(c for c in info["target"] if c.isdigit()) or 0) >= 80


# Operations a clock of each of a multiprocessor's four parts.
_TENSOR_OPS = {"float32": 256, "int32": 256, "float16": 512, "bfloat16": 512, "int16": 512,
               "int8": 1024, "float8e4nv": 1024, "float8e4b15": 1024, "float8e5": 1024,
               "fp8e4nv": 1024, "fp8e4b15": 1024, "fp8e5": 1024, "float8_e4m3fn": 1024,
               "float8_e5m2": 1024, "fp32": 256, "fp16": 512, "bf16": 512}
_SIMD_OPS = {"float32": 32, "float16": 64, "bfloat16": 64, "fp32": 32, "fp16": 64, "bf16": 64}


def _tflops(table: dict, dtype, clock_rate, device) -> float:
    name = str(getattr(dtype, "name", None) or dtype).rsplit(".", 1)[-1]
    if name not in table:
        raise RuntimeError("dtype not supported")
    info = _gpu_info(device)
    if not _is_ampere(info):
        raise RuntimeError(f"{info['description']} is older than this compiler's GPUs")
    return info["processors"] * 4 * clock_rate * table[name] * 1e-9


def get_max_tensorcore_tflops(dtype, clock_rate, device=None) -> float:
    """What the tensor cores of a GPU could do at `clock_rate` kHz, in TFLOPS."""
    return _tflops(_TENSOR_OPS, dtype, clock_rate, device)


def get_max_simd_tflops(dtype, clock_rate, device=None) -> float:
    """The same of its other arithmetic."""
    return _tflops(_SIMD_OPS, dtype, clock_rate, device)


@contextmanager
def set_gpu_clock(ref_sm_clock=1350, ref_mem_clock=1215):
    """Holds the clocks of GPU 0 at these MHz, with nvidia-smi, which needs the rights for it;
    gives (TFLOPS, GB/s) of an A100 at them, as Triton does."""
    try:
        _smi("-pm", "1")
        _smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        _smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        sm, memory = nvsmi(["clocks.current.sm"])[0], nvsmi(["clocks.current.memory"])[0]
        if abs(sm - ref_sm_clock) >= 10 or abs(memory - ref_mem_clock) >= 10:
            raise AssertionError(f"the GPU runs at {sm} and {memory} MHz, not at {ref_sm_clock} "
                                 f"and {ref_mem_clock}")
        yield 1e-6 * 2 * 108 * 4 * 256 * ref_sm_clock, 640 * 2 * ref_mem_clock * 1e-3
    finally:
        _smi("-pm", "0")
        _smi("-rgc")
        _smi("-rmc")


def cuda_memcheck(**target_kwargs):
    """A decorator of tests, which Triton runs under cuda-memcheck if they get these arguments; here
    device "interp" looks for what that finds (NEREID_INTERPRET=1), and the test runs as it is."""

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            return test(*args, **kwargs)

        return run

    return decorate
