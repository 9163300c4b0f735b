#!/usr/bin/env python3
"""Compiled models and steps of training on a CPU, beside eager PyTorch and TorchInductor.

    cpu.py [--sides eager,inductor,nereid] [--threads N] [--rounds N] [--seconds S]
           [--processor-time] [--beside] [--json FILE] [NAME...]

Models (cpu_models.py) have random weights, in f32; NAME is a part of names.  A model is a process;
with --beside, processes run beside each other, each on N cores of its own.  A process's sides have
the same weights and inputs and take turns, round by round, for S seconds at most; a turn is a call
that is not counted and one that is.  The table has the medians and the least of the rounds, and the
seconds of the first call, in caches of the process's own.  Results of a side that differ from
eager's by more than TOLERANCE end the process.  With --processor-time, which is for one thread on a
machine that others use, the time is the processor's.  Inductor needs a C++ compiler; the time of
its precompiled headers is in no first call.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import time

from cpu_models import MODELS

SIDES = ("eager", "inductor", "nereid")
# A part of the norm.  An element of gradients whose ReLU is 0 in one side alone, as rounding has
# it, is a share of a channel's sum: eager's own are up to 2e-3 from those in f64, Nereid's 1e-2
# (U-Net).
TOLERANCE = {"inference": 1e-3, "training": 3e-2}
CASES = [f"{name} {kind}" for name in MODELS for kind in ("inference", "training")]


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--sides", default="eager,inductor,nereid")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--processor-time", action="store_true")
    p.add_argument("--beside", action="store_true")
    p.add_argument("--json")
    p.add_argument("--case", help=argparse.SUPPRESS)
    return p.parse_args()


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


def differs(result, right, tolerance):
    least = tolerance * max(y.norm() for y in right)  # gradients that are noise are this small
    return any((x - y).norm() > tolerance * (y.norm() + least) for x, y in zip(result, right))


def measure(case, args):
    import torch
    name, kind = case.split()
    torch._dynamo.config.allow_rnn = True
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
                                                            sides["eager"].result,
                                                            TOLERANCE[kind]):
            sys.exit(f"{case}: {side} differs from eager")
    clock = time.process_time if args.processor_time else time.perf_counter
    times = {side: [] for side in sides}
    end = time.perf_counter() + args.seconds
    for _ in range(args.rounds):
        if time.perf_counter() > end:
            break
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


def make_headers(folder):
    """TorchInductor's precompiled headers, which belong to a folder."""
    code = ("import torch; f = torch.compile(lambda x: x.sin() + 1, backend='inductor'); "
            "f(torch.ones(9))")
    subprocess.run([sys.executable, "-c", code],
                   env=dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder))


def run_case(case, args, headers, cores):
    with tempfile.TemporaryDirectory() as folder:
        threads = str(args.threads)
        env = dict(os.environ, OMP_NUM_THREADS=threads, NEREID_THREADS=threads,
                   TORCHINDUCTOR_FX_GRAPH_CACHE="0", NEREID_CACHE_DIR=folder,
                   TORCHINDUCTOR_CACHE_DIR=headers or folder)
        command = [sys.executable, __file__, "--case", case, "--sides", args.sides,
                   "--threads", threads, "--rounds", str(args.rounds),
                   "--seconds", str(args.seconds)]
        command += ["--processor-time"] if args.processor_time else []
        command = ["taskset", "-c", ",".join(map(str, cores))] * bool(cores) + command
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def groups_of_cores(args):
    """Cores of its own for each process, as many as threads, where cases run beside each other."""
    if not args.beside:
        return [[]]
    cores = sorted(os.sched_getaffinity(0))
    return [cores[i:i + args.threads]
            for i in range(0, len(cores) - args.threads + 1, args.threads)]


def main():
    args = parse()
    if args.case:
        print(json.dumps(measure(args.case, args)))
        return
    sides = args.sides.split(",")
    compiled = ", ".join(s for s in sides if s != "eager")
    cases = list(dict.fromkeys(c for n in args.names or [""] for c in CASES if n in c))
    print(f"| model | {' | '.join(sides)} | of the best | first call, s: {compiled} |")
    print("|" + " --- |" * (len(sides) + 3), flush=True)
    free = queue.SimpleQueue()
    groups = groups_of_cores(args)
    for g in groups:
        free.put(g)

    def run(case):
        cores = free.get()
        try:
            result = run_case(case, args, headers, cores)
        finally:
            free.put(cores)
        print(row(result, sides) if result else f"| {case} | failed |", flush=True)
        if result and args.json:
            with pathlib.Path(args.json).open("a") as f:
                f.write(json.dumps(result) + "\n")

    with tempfile.TemporaryDirectory() as headers:
        if "inductor" in sides:
            make_headers(headers)
        else:
            headers = None
        with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
            list(pool.map(run, cases))


if __name__ == "__main__":
    main()
