#!/usr/bin/env python3
"""Compiled models and steps of training on a CPU, beside eager PyTorch and TorchInductor.

    cpu.py [--sides eager,inductor,nereid] [--threads N] [--rounds N] [--processor-time]
           [--json FILE] [NAME...]

Models are of PyTorch's own modules, with random weights, in f32; NAME is a part of names.  A model
is a process.  Its sides have the same weights and inputs and take turns, round by round; a turn is
a call that is not counted and one that is.  The table has the medians and the least of the rounds,
and the seconds of the first call, in caches of the process's own.  Results of a side that differ
from eager's by more than TOLERANCE end the run.  With --processor-time, which is for one thread on
a machine that others use, the time is the processor's.  Inductor needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SIDES = ("eager", "inductor", "nereid")
TOLERANCE = 1e-3  # of the norm


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--sides", default="eager,inductor,nereid")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--processor-time", action="store_true")
    p.add_argument("--json")
    p.add_argument("--case", help=argparse.SUPPRESS)
    return p.parse_args()


# ---- models: each gives a module, and its inputs ----


def mlp():
    from torch import nn, randn
    layers = [nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
              nn.Linear(4096, 1024)]
    return nn.Sequential(*layers), (randn(32, 1024),)


def convolutions():
    from torch import nn, randn
    layers = [nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
              nn.Conv2d(32, 64, 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*layers), (randn(8, 3, 32, 32),)


def transformer(layers, width, heads, causal, vocabulary=0):
    """Blocks with norms before or, as in BERT, after their parts."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def attend(self, x):
            b, n, _ = x.shape
            q, k, v = self.qkv(x).view(b, n, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return self.out(y.transpose(1, 2).reshape(b, n, width))

        def forward(self, x):
            if causal:
                x = x + self.attend(self.norm1(x))
                return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.down(F.gelu(self.up(x))))

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.places = nn.Parameter(torch.randn(512, width) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary, bias=False) if causal else nn.Identity()

        def forward(self, ids):
            x = self.words(ids) + self.places[:ids.shape[1]]
            return self.head(self.norm(self.blocks(x)))

    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, 16)
            self.places = nn.Parameter(torch.randn(196, width) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.blocks(x)).mean(1))

    return Words() if vocabulary else Patches()


def bert():
    import torch
    return transformer(4, 768, 12, False, 30522), (torch.randint(0, 30522, (8, 128)),)


def gpt2():
    import torch
    return transformer(4, 768, 12, True, 50257), (torch.randint(0, 50257, (1, 256)),)


def vit():
    import torch
    return transformer(4, 768, 12, False), (torch.randn(4, 3, 224, 224),)


MODELS = {"convolutions": convolutions, "mlp": mlp, "bert": bert, "gpt2": gpt2, "vit": vit}
CASES = [f"{name} {kind}" for name in MODELS for kind in ("inference", "training")]


# ---- one case, in a process of its own ----


class Side:
    """A copy of the model, compiled, and a call or a step of training of it."""

    def __init__(self, name, model, inputs, train):
        import copy
        import torch
        self.model, self.inputs, self.train = copy.deepcopy(model), inputs, train
        self.call = self.model
        if name != "eager":
            self.call = torch.compile(self.model, backend=name)
        start = time.perf_counter()
        self.result = self.run()
        self.first = time.perf_counter() - start

    def run(self):
        import torch
        if not self.train:
            with torch.no_grad():
                return [self.call(*self.inputs)]
        for p in self.model.parameters():
            p.grad = None
        self.call(*self.inputs).square().mean().backward()
        return [p.grad for p in self.model.parameters()]


def differs(result, right):
    least = TOLERANCE * max(y.norm() for y in right)  # gradients that are noise are this small
    return any((x - y).norm() > TOLERANCE * (y.norm() + least) for x, y in zip(result, right))


def measure(case, args):
    import torch
    name, kind = case.split()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    train = kind == "training"
    model.train(train)
    sides = {}
    for side in args.sides.split(","):
        torch._dynamo.reset()
        sides[side] = Side(side, model, inputs, train)
        if side != "eager" and "eager" in sides and differs(sides[side].result,
                                                            sides["eager"].result):
            sys.exit(f"{case}: {side} differs from eager")
    clock = time.process_time if args.processor_time else time.perf_counter
    times = {side: [] for side in sides}
    for _ in range(args.rounds):
        for side, s in sides.items():
            s.run()
            start = clock()
            s.run()
            times[side].append(1e3 * (clock() - start))
    return {"case": case, "threads": args.threads,
            **{side: {"median": statistics.median(t), "least": min(t), "first": sides[side].first}
               for side, t in times.items()}}


# ---- all of them ----


def row(r, sides):
    least = min(r[s]["least"] for s in sides if s != "nereid")
    cells = [r["case"]]
    cells += [f'{r[s]["median"]:.4g}, {r[s]["least"]:.4g}' for s in sides]
    cells += [f'{least / r["nereid"]["least"]:.2f}'] if "nereid" in sides else []
    cells += [", ".join(f'{r[s]["first"]:.1f}' for s in sides if s != "eager")]
    return "| " + " | ".join(cells) + " |"


def main():
    args = parse()
    if args.case:
        print(json.dumps(measure(args.case, args)))
        return
    sides = args.sides.split(",")
    compiled = ", ".join(s for s in sides if s != "eager")
    print(f"| model | {' | '.join(sides)} | of the best | first call, s: {compiled} |")
    print("|" + " --- |" * (len(sides) + 3), flush=True)
    for case in CASES:
        if args.names and not any(n in case for n in args.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            threads = str(args.threads)
            env = dict(os.environ, OMP_NUM_THREADS=threads, NEREID_THREADS=threads,
                       TORCHINDUCTOR_CACHE_DIR=folder, NEREID_CACHE_DIR=folder)
            command = [sys.executable, __file__, "--case", case, "--sides", args.sides,
                       "--threads", threads, "--rounds", str(args.rounds)]
            command += ["--processor-time"] if args.processor_time else []
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"| {case} | failed |", flush=True)
            continue
        result = json.loads(done.stdout.splitlines()[-1])
        print(row(result, sides), flush=True)
        if args.json:
            with pathlib.Path(args.json).open("a") as f:
                f.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
