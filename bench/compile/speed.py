#!/usr/bin/env python3
"""Compiled models and training steps, beside eager PyTorch and TorchInductor on the same GPU.

    speed.py [--train] [--sides eager,inductor,nereid,...] [--names ...] [--seconds N] RESULTS

A model is a process; its sides take turns, round by round, and the median of the rounds counts.
With --at-once N so many models compile beside each other; they are measured one after another once
all are ready, so that the GPU's memory must hold them all.
Sides: eager, inductor, nereid, and with CUDA graphs inductor-graphs, nereid-graphs; nereid-aten
leaves products and convolutions to PyTorch, nereid-libraries products to cuBLAS, nereid-none and
nereid-graphs-none have no libraries, and nereid-cudnn and nereid-graphs-cudnn have cuDNN's
attention in the place of Nereid's.  Inference is in bf16; a
training step is forward and backward in bf16 autocast, and a fused AdamW.  RESULTS is a file of
JSON lines, which a later run continues; `--report` prints its table."""

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
READY = "ready"
SIDES = ("eager", "inductor", "nereid", "inductor-graphs", "nereid-graphs")
# What a side whose name has `aten` leaves to PyTorch.
PRODUCTS = ("aten.mm.default", "aten.addmm.default", "aten.bmm.default", "aten.baddbmm.default",
            "aten.convolution.default", "aten.convolution_backward.default")
ATTENTION = ("aten._scaled_dot_product_cudnn_attention.default",
             "aten._scaled_dot_product_cudnn_attention_backward.default")


# ---- one model, in a process of its own ----


def compiled(model, side):
    import torch

    if side == "eager":
        return model
    name, *more = side.split("-")
    mode = "reduce-overhead" if "graphs" in more else None
    if name != "nereid":
        return torch.compile(model, backend=name, mode=mode)
    # Programs are looked at, and PyTorch's cache has none.
    options = {"mode": mode or "default", "cache_autograd": False}
    if "aten" in more:
        options["by_pytorch"] = PRODUCTS
    if "libraries" in more:
        options["libraries"] = "always"
    if "none" in more:
        options["libraries"] = "none"
    if "cudnn" in more:
        options["by_pytorch"] = ATTENTION
    return torch.compile(model, backend=name, options=options)


def attention_of(side):
    """The context in which a side's attention is chosen: cuDNN's, where it can compute it."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if "cudnn" not in side.split("-"):
        return contextlib.nullcontext()
    order = (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION,
             SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH)
    return sdpa_kernel(list(order), set_priority=True)


class Side:
    """A copy of the model, compiled, and a step of it."""

    def __init__(self, name, workload, options):
        import torch
        import workloads

        self.name, self.train, self.device = name, options.train, options.device
        torch.manual_seed(0)
        with torch.device(options.device):  # a billion weights take a GPU no time
            self.model, self.inputs = workload(options.device, options.train, options.small)
        self.model.to(options.device).train(options.train)
        if options.train:
            for part in self.model.modules():
                if isinstance(part, torch.nn.Dropout):
                    part.p = 0.0
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        else:
            dtype = workloads.dtype_of(options.names[0])
            self.model.to(dtype)
            self.inputs = {key: value.to(dtype) if value.is_floating_point() else value
                           for key, value in self.inputs.items()}
        self.call = compiled(self.model, name)
        self.first = workloads.first_tensor
        self.loss_of = workloads.loss_of

    def step(self):
        with attention_of(self.name):
            return self.step_here()

    def step_here(self):
        import torch

        if not self.train:
            with torch.no_grad():
                return self.first(self.call(**self.inputs))
        with torch.autocast(self.device, torch.bfloat16):
            loss = self.loss_of(self.call(**self.inputs))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def start(self):
        """The first step, which compiles: (seconds, result)."""
        import torch

        begin = time.perf_counter()
        out = self.step()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - begin, out.float().clone()

    def milliseconds(self, count, ahead=0.0):
        """A step's time on the device, and until Python goes on.  The device first waits for
        `ahead` ms, so that Python's time is no part of the device's."""
        import torch

        on_gpu = self.device == "cuda"
        if on_gpu:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if ahead:
                torch.cuda._sleep(int(ahead * 2e6))  # cycles; no clock is above 2 GHz
            begin.record()
        start = time.perf_counter()
        for _ in range(count):
            self.step()
        host = (time.perf_counter() - start) * 1e3 / count
        if not on_gpu:
            return host, host
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / count, host

    def peak(self):
        """Bytes that a step takes above what stays."""
        import torch

        if self.device != "cuda":
            return 0
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        self.step()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before

    def profile(self, path):
        """Tables of the kernels of a step, the longest first, and of the time between them."""
        import torch

        kinds = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=kinds) as found:
            self.step()
            torch.cuda.synchronize()
        kernels = [event for event in found.events()
                   if event.device_type == torch.autograd.DeviceType.CUDA
                   and not event.name.startswith("nereid: ")]  # the range of a segment
        kernels.sort(key=lambda event: event.time_range.start)
        with open(path, "w") as file:
            write_sums(file, "kernels", [(event.name[:140], event.device_time)
                                         for event in kernels])
            write_sums(file, "between them", [
                (f"{a.name[:60]} -> {b.name[:60]}", b.time_range.start - a.time_range.end)
                for a, b in zip(kernels, kernels[1:])])


def write_sums(file, title, times):
    """`times` are pairs of a name and microseconds."""
    rows: dict = {}
    for name, spent in times:
        row = rows.setdefault(name, [0, 0.0])
        row[0] += 1
        row[1] += spent
    file.write(f"{title}: {sum(spent for _, spent in times) / 1e3:.3f} ms in {len(times)}\n")
    for name, (count, spent) in sorted(rows.items(), key=lambda item: -item[1][1])[:60]:
        file.write(f"{spent / 1e3:9.3f} ms {count:5} {name}\n")


def fallbacks():
    from nereid import torch_backend

    found: dict = {}
    for program in torch_backend._programs:
        for node, reason in program.reasons.items():
            name = f"{node.target}: {reason}"
            found[name] = found.get(name, 0) + 1
    return found


def measure(options):
    import torch
    import workloads

    table = workloads.TRAIN if options.train else workloads.INFER
    name = options.names[0]
    row = {"name": name, "train": options.train, "sides": {}, "device":
           torch.cuda.get_device_name() if options.device == "cuda" else "cpu"}
    sides, want = [], None
    if "nereid" in options.sides:
        from nereid import torch_backend

        torch_backend._programs.keep()
    # A reset of Dynamo between two sides would have the first compile again in its turn.
    torch._dynamo.config.recompile_limit = 64
    for side_name in options.sides:
        found: dict = {}
        row["sides"][side_name] = found
        try:
            side = Side(side_name, table[name], options)
            found["first"], out = side.start()
            if want is None:
                want = out
            found["error"] = ((out - want).norm() / want.norm()).item()
            for _ in range(3):
                side.step()
            found["times"], found["host"], found["device"] = [], [], []
            sides.append(side)
        except Exception as problem:
            found["problem"] = f"{type(problem).__name__}: {str(problem)[:1500]}"
    print(READY, flush=True)
    sys.stdin.readline()
    measure_sides(sides, row["sides"], options)
    row["fallbacks"] = fallbacks() if any("nereid" in side for side in options.sides) else {}
    print(json.dumps(row), flush=True)
    sys.stdin.readline()
    for side in sides:
        if options.profile and side.name != "eager":
            side.profile(f"{options.profile}.{name}.{side.name}")
    os._exit(0)  # a process with many graphs takes seconds to end


def measure_sides(sides, rows, options):
    for side in sides:
        found = rows[side.name]
        try:
            found["peak"] = side.peak()
        except Exception as problem:
            found["problem"] = f"{type(problem).__name__}: {str(problem)[:1500]}"
    count = max(1, int(200 / max(1.0, sides[0].milliseconds(1)[0]))) if sides else 0
    count = min(count, 20)
    for round_number in range(options.rounds):
        for side in sides[::-1] if round_number % 2 else sides:
            found = rows[side.name]
            try:
                side.milliseconds(1)
                took, host = side.milliseconds(count)
                found["times"].append(took)
                found["host"].append(host)
                found["device"].append(side.milliseconds(count, 1.5 * host * count)[0])
            except Exception as problem:
                found["problem"] = str(problem)[:1500]


# ---- all of them ----


def run_all(options):
    sys.path.insert(0, str(HERE))
    import workloads

    results = Path(options.results)
    names = options.names or list(workloads.TRAIN if options.train else workloads.INFER)
    done = {(row["name"], row["train"]) for row in read(results)}
    begin = time.monotonic()
    names = [name for name in names if (name, options.train) not in done]
    for first in range(0, len(names), options.at_once):
        runs = []
        for name in names[first:first + options.at_once]:
            left = options.seconds - (time.monotonic() - begin)
            if left > 5:
                runs.append(Run(name, options, left))
        for run in runs:
            run.wait_until_ready()
        for run in runs:
            row = run.measure()
            if row:
                with results.open("a") as file:
                    file.write(row)
                report(read(results)[-1:], heads=False)
        for run in runs:  # profiles come last, since a first one takes seconds to begin
            run.finish()


class Run:
    """A model in a process of its own, which compiles by itself and measures when told to."""

    def __init__(self, name, options, seconds):
        self.name = name
        command = [sys.executable, __file__, "--one", "--names", name, "--device", options.device,
                   "--sides", ",".join(options.sides), "--rounds", str(options.rounds),
                   "--profile", options.profile, "-"]
        command += ["--train"] * options.train + ["--small"] * options.small
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.out_of_time = False
        self.timer, self.starting = (threading.Timer(n, self.stop)
                                     for n in (seconds, options.ready))
        for timer in self.timer, self.starting:
            timer.daemon = True
            timer.start()

    def stop(self):
        self.out_of_time = True
        self.process.kill()

    def wait_until_ready(self):
        for line in self.process.stdout:
            if line.strip() == READY:
                break
        self.starting.cancel()

    def say(self):
        """Lets the process go on."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def measure(self):
        """A row of JSON, or None where there is none, of which standard error says why."""
        self.say()
        row = self.process.stdout.readline()
        if row.endswith("\n"):
            return row
        self.process.wait()
        self.errors.seek(0)
        why = "out of time" if self.out_of_time else self.errors.read()[-1500:]
        print(f"{self.name}: {why}", file=sys.stderr)
        return None

    def finish(self):
        """Lets it write profiles, and end."""
        self.say()
        self.process.wait()
        self.timer.cancel()


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def median(side, what="times"):
    return statistics.median(side[what]) if side.get(what) else math.nan


def report(rows, heads=True):
    if heads:
        names = list(rows[0]["sides"]) if rows else SIDES
        print("| model | " + " | ".join(names) + " | the device alone | until Python goes on | "
              "first call, s | peak, MB | error |")
        print("| --- " * (len(names) + 6) + "|")
    for row in rows:
        sides = list(row["sides"].values())
        times = " | ".join(f"{median(side):.3f}" for side in sides)
        device = ", ".join(f"{median(side, 'device'):.3f}" for side in sides)
        host = ", ".join(f"{median(side, 'host'):.2f}" for side in sides)
        first = ", ".join(f"{side.get('first', math.nan):.1f}" for side in sides)
        peak = ", ".join(f"{side.get('peak', math.nan) / 1e6:.0f}" for side in sides)
        error = ", ".join(f"{side.get('error', math.nan):.1e}" for side in sides)
        kind = "train" if row["train"] else "infer"
        columns = (f"{row['name']} {kind}", times, device, host, first, peak, error)
        print(f"| {' | '.join(columns)} |", flush=True)
        for name, side in row["sides"].items():
            if side.get("problem"):
                print(f"  {name}: {side['problem'][:300]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--small", action="store_true", help="few layers")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sides", default=",".join(SIDES), type=lambda text: text.split(","))
    parser.add_argument("--names", default=[], type=lambda text: text.split(","))
    parser.add_argument("--profile", default="", help="files of kernels' times begin with this")
    parser.add_argument("--at-once", type=int, default=1, help="models that compile together")
    parser.add_argument("--ready", type=float, default=3600.0,
                        help="seconds after which a model that still compiles is left out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600.0)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    if options.report:
        report(read(Path(options.results)))
    elif options.one:
        measure(options)
    else:
        run_all(options)


if __name__ == "__main__":
    main()
