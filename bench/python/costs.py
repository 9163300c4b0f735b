#!/usr/bin/env python3
"""What a launch, a first call and a start cost in Python, beside Triton on the same GPU.

Each number is from processes of its own, the sides taking turns; --repeat of them, the median is
shown.  `cold` has an empty cache, `warm` the cache that the process before left."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIDES = ("nereid", "triton")


def run_child(side: str, name: str, cache: str) -> dict:
    package = os.environ.get("NEREID_PYTHON", str(ROOT / "build" / "python"))
    env = dict(os.environ, NEREID_BENCH_SIDE=side, NEREID_CACHE_DIR=cache, TRITON_CACHE_DIR=cache,
               PYTHONPATH=os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]))
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    if name == "tuned":
        env["TRITON_CACHE_AUTOTUNING"] = "1"
    done = subprocess.run([sys.executable, str(HERE / "child.py"), name], env=env, text=True,
                          capture_output=True)
    if done.returncode:
        print(f"{side} {name}: {done.stderr[-2000:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.strip().rsplit("\n", 1)[-1])


def measure(repeat: int) -> dict:
    """{(what, side): [values]}"""
    values: dict = {}

    def add(side, prefix, times):
        for what, value in times.items():
            values.setdefault((prefix + what, side), []).append(value)

    for _ in range(repeat):
        for side in SIDES:
            with tempfile.TemporaryDirectory() as cache:
                add(side, "launch: ", run_child(side, "launches", cache))
            with tempfile.TemporaryDirectory() as cache:
                add(side, "cold: ", run_child(side, "first_calls", cache))
                add(side, "warm: ", run_child(side, "first_calls", cache))
                add(side, "start: ", run_child(side, "start", cache))
            with tempfile.TemporaryDirectory() as cache:
                add(side, "tuned, cold: ", run_child(side, "tuned", cache))
                add(side, "tuned, next process: ", run_child(side, "tuned", cache))
    return values


def print_driver_launch() -> None:
    """Prints the table of the bare driver's call, of bench/launch.c, where that is built."""
    program = ROOT / "build" / "bench" / "launch"
    if program.exists():
        print(subprocess.run([program], text=True, capture_output=True).stdout)


def device_name() -> str:
    import torch

    return torch.cuda.get_device_name(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    try:
        name = device_name()
    except (ImportError, RuntimeError, AssertionError) as e:
        print(f"nothing is measured: PyTorch finds no GPU ({e})")
        return 0
    print_driver_launch()
    values = measure(args.repeat)
    print(f"{name}, microseconds, median of {args.repeat} processes a side\n")
    print(f"| {'what':44} | {'Nereid':>10} | {'Triton':>10} |\n| --- | ---: | ---: |")
    for what in dict.fromkeys(what for what, _ in values):
        cells = []
        for side in SIDES:
            numbers = values.get((what, side))
            cells.append(f"{statistics.median(numbers):.4g}" if numbers else "-")
        print(f"| {what:44} | {cells[0]:>10} | {cells[1]:>10} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
