#!/usr/bin/env python3
"""Inference of a few layers of models in bf16, by kernels of ours alone, with libraries where
records say that they are faster (the default), and with libraries wherever they can be.

    without_libraries.py [--names bert,vit] [--profiles FOLDER] [--device cuda|cpu]

torch.compile(backend="nereid") on one GPU, as CUDA graphs; the sides in turns, medians, the L2
cache flushed before each run, values compared with f64 before.  A model is a process of its own;
all compile at a time, and then are measured one after the other."""

import argparse
import copy
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIDES = "none", "records", "always"
RUNS = 36


def bert():
    import torch
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(num_hidden_layers=3), add_pooling_layer=False)
    return model, (torch.randint(0, 30000, (8, 128)),)


def vit():
    import torch
    from torchvision.models.vision_transformer import VisionTransformer
    model = VisionTransformer(224, 16, 3, 12, 768, 3072)
    torch.nn.init.normal_(model.heads.head.weight, std=0.02)
    return model, (torch.randn(32, 3, 224, 224),)


def gpt2():
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(n_layer=2, use_cache=False)), (
        torch.randint(0, 50000, (4, 1024)),)


def llama():
    import torch
    from transformers import LlamaConfig, LlamaModel
    config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=2,
                         num_attention_heads=32, num_key_value_heads=8, head_dim=64,
                         vocab_size=32000, use_cache=False)
    return LlamaModel(config), (torch.randint(0, 32000, (1, 2048)),)


def resnet50():
    import torch
    import torchvision
    return torchvision.models.resnet50(weights=None), (torch.randn(32, 3, 224, 224),)


def resnext50():
    import torch
    import torchvision
    return torchvision.models.resnext50_32x4d(weights=None), (torch.randn(32, 3, 224, 224),)


def mlp():
    import torch
    from torch.nn import GELU, Linear, Sequential
    return Sequential(Linear(1000, 3000), GELU(), Linear(3000, 1000)), (torch.randn(512, 1000),)


MODELS = {f.__name__: f for f in (bert, vit, gpt2, llama, resnet50, resnext50, mlp)}


# ---- one model, in a process of its own ----


def first_of(value):
    import torch
    while not isinstance(value, torch.Tensor):
        value = value[0] if isinstance(value, (tuple, list)) else next(iter(value.values()))
    return value


class Side:
    def __init__(self, name, model, args):
        import torch
        torch._dynamo.reset()
        options = {} if name == "records" else {"libraries": name}
        self.name, self.args, self.times = name, args, []
        self.call = torch.compile(model, backend="nereid", options=options)
        begin = time.perf_counter()
        self.out = self.run()
        self.seconds = time.perf_counter() - begin

    def run(self):
        return first_of(self.call(*self.args))

    def capture(self):
        import torch
        for _ in range(2):
            self.run()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.out = self.run()
        self.graph.replay()
        torch.cuda.synchronize()

    def profile(self, path):
        """The kernels of a run: microseconds, how many, name; the longest first."""
        import torch
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
            self.graph.replay()
            torch.cuda.synchronize()
        sums = {}
        for event in found.events():
            if event.device_type == torch.autograd.DeviceType.CUDA:
                us, n = sums.get(event.name, (0, 0))
                sums[event.name] = us + event.device_time, n + 1
        lines = [f"{us:9.1f} {n:4} {name[:160]}\n"
                 for name, (us, n) in sorted(sums.items(), key=lambda x: -x[1][0])]
        path.write_text("".join(lines))
        return "".join(lines[:5])


def wait_for_turn(folder, name, models):
    """All have compiled; then one after the other."""
    (folder / name).write_text("")
    while any(not (folder / other).exists() for other in models):
        time.sleep(0.05)
    lock = open(folder / "lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def measure(sides):
    import torch
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    for _ in range(RUNS):
        for side in sides:
            flush.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            side.graph.replay()
            end.record()
            end.synchronize()
            side.times.append(1e3 * begin.elapsed_time(end))


def run_one(options):
    import torch
    name, folder, device = options.names[0], Path(options.folder), options.device
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    model, args = MODELS[name]()
    model = model.to(device, torch.bfloat16).eval()
    args = tuple(x.to(device, torch.bfloat16 if x.is_floating_point() else None) for x in args)
    if name.startswith("res"):
        model = model.to(memory_format=torch.channels_last)
        args = tuple(x.to(memory_format=torch.channels_last) for x in args)
    exact = first_of(copy.deepcopy(model).double()(*(x.double() if x.is_floating_point() else x
                                                     for x in args)))
    eager = first_of(model(*args))
    sides = [Side(side, model, args) for side in SIDES if device == "cuda" or side != "always"]
    error = lambda y: ((y.double() - exact).norm() / exact.norm()).item()
    row = {"model": name, "eager": error(eager), "error": {s.name: error(s.out) for s in sides},
           "seconds": {s.name: s.seconds for s in sides}}
    if device == "cuda":
        lock = wait_for_turn(folder, name, options.all)
        for side in sides:
            side.capture()
        measure(sides)
        row["us"] = {s.name: statistics.median(s.times) for s in sides}
        if options.profiles:
            for s in sides:
                print(f"{name}, {s.name}:\n"
                      + s.profile(Path(options.profiles) / f"profile-{name}-{s.name}.txt"),
                      file=sys.stderr, flush=True)
        lock.close()
    print(json.dumps(row), flush=True)


# ---- all ----


def show(row):
    us, none = row.get("us", {}), row.get("us", {}).get("none")
    bad = [side for side, e in row["error"].items() if not e < 2 * row["eager"]]
    cells = "".join(f"{us[side]:10.1f}" if side in us else f"{'-':>10}" for side in SIDES)
    best = min(us.values()) if us else None
    ratios = f"{none / us['records']:8.3f}{none / best:8.3f}" if us else ""
    print(f"{row['model']:12}{cells}{ratios}  compiled in "
          + ", ".join(f"{s:.1f}" for s in row["seconds"].values()) + " s"
          + ("  WRONG " + " ".join(f"{s} {row['error'][s]:.1e}" for s in bad) if bad else ""),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", default=list(MODELS), type=lambda text: text.split(","))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profiles", default="")
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    parser.add_argument("--all", default=[], type=lambda text: text.split(","),
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder:
        try:
            run_one(options)
        finally:
            (Path(options.folder) / options.names[0]).write_text("")  # nobody waits for it
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--device", options.device, "--folder", folder,
                   "--profiles", options.profiles, "--all", ",".join(options.names), "--names"]
        started = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True,
                                    env={**os.environ, "OMP_NUM_THREADS": "4"})
                   for name in options.names]
        print(f"{'us':12}" + "".join(f"{side:>10}" for side in SIDES)
              + "  none / records, / best", flush=True)
        for name, process in zip(options.names, started):
            lines = process.communicate()[0].splitlines()
            if process.returncode or not lines:
                print(f"{name}: status {process.returncode}", flush=True)
                continue
            show(json.loads(lines[-1]))
    return 0


sys.exit(main())
