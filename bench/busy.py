#!/usr/bin/env python3
"""Models on a CPU that several processes share: how long a run takes, by how many run at once.

    bench/busy.py [--processes 1,2,4] [--rounds N] [--nereid NAME=PATH]... [MODEL...]

Each round starts so many `nereid graph MODEL --time` together, for each program in turn and again
with NEREID_THREADS=1.  A cell is the median over all processes of their medians, and behind it the
worst process's median, in us.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["chain", "kv_decode", "hf_bert", "hf_gpt2", "mlp"]


def command(program, model):
    folder = ROOT / "tests/models" / model
    inputs = sorted(folder.glob("input_*.npy"), key=lambda p: int(p.stem.split("_")[1]))
    return [program, "graph", folder / "model.pt2", *inputs, "--time"]


def run_together(program, model, n, threads):
    env = dict(os.environ)
    if threads:
        env["NEREID_THREADS"] = env["OMP_NUM_THREADS"] = str(threads)
    started = [subprocess.Popen(command(program, model), stdout=subprocess.PIPE, text=True, env=env)
               for _ in range(n)]
    texts = [p.communicate()[0] for p in started]
    return [float(re.search(r"^time ([\d.]+) us", text, re.M)[1]) for text in texts]


def measure(ways, model, n, rounds):
    found = {way: [] for way in ways}
    for _ in range(rounds):
        for way, (program, threads) in ways.items():
            found[way] += run_together(program, model, n, threads)
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--processes", default="1,2,4")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--nereid", action="append", default=[])
    options.add_argument("models", nargs="*", default=MODELS)
    o = options.parse_args()
    programs = dict(p.split("=", 1) for p in o.nereid) or {"nereid": str(ROOT / "build/nereid")}
    ways = {name: (path, 0) for name, path in programs.items()}
    ways |= {f"{name}, 1 thread": (path, 1) for name, path in programs.items()}
    print("| model | at once |", *(f"{way} |" for way in ways))
    print("| --- | ---: |", *("---: |" for _ in ways))
    for model in o.models or MODELS:
        for path, threads in ways.values():
            run_together(path, model, 1, threads)  # compiles
        for n in map(int, o.processes.split(",")):
            found = measure(ways, model, n, o.rounds)
            cells = (f"{statistics.median(us):.0f} ({max(us):.0f}) |" for us in found.values())
            print(f"| {model} | {n} |", *cells, flush=True)


main()
