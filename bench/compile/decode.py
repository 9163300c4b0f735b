#!/usr/bin/env python3
"""One row times a billion numbers on a CPU: bytes of weights that a second reads, as a token's
decode does, beside STREAM's triad.

    decode.py [--threads N] [--rounds N] [--rows N,...] [--pairs N] [--sides eager,inductor,nereid]

Weights are inputs of torch.compile: pairs of linear layers from 2,048 columns to 8,192 and back,
32 pairs in bf16 (2.1 GB) and in four bits (two a byte along the sum, scales of 128 in bf16, as a
model unpacks them), of which eager mode has one pair.  PyTorch's packed kernel of four bits is
a side too.  The triad is a[i] = b[i] + 3 * c[i] of 100 MB arrays of f64 on the same threads, 24
bytes an element.  Figures are GB/s by the least time of the rounds.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

TRIAD = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100000000 / 8, ROUNDS = 20 };
int main(void) {
  double *a = malloc(8L * N), *b = malloc(8L * N), *c = malloc(8L * N), least = 1e9;
  for (int r = 0; r < ROUNDS; r++) {
    double start = omp_get_wtime();
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++) if (r) a[i] = b[i] + 3 * c[i]; else a[i] = b[i] = c[i] = i;
    double t = omp_get_wtime() - start;
    if (r && t < least) least = t;
  }
  printf("%f\\n", 24.0 * N / least / 1e9 + 0 * a[N / 2]);
}
"""
WIDE, NARROW, GROUP = 8192, 2048, 128


def triad(threads):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "triad.c")
        path.write_text(TRIAD)
        subprocess.run(["gcc", "-O3", "-march=native", "-fopenmp", "-o", f"{folder}/triad", path],
                       check=True)
        done = subprocess.run([f"{folder}/triad"], check=True, capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
    return float(done.stdout)


def shapes(pairs):
    return [s for _ in range(pairs) for s in ((WIDE, NARROW), (NARROW, WIDE))]


def floats(pairs):
    import torch
    drawn = torch.randn(WIDE * NARROW).to(torch.bfloat16)
    weights = [drawn.view(s) * s[1] ** -0.5 for s in shapes(pairs)]

    def run(x):
        for w in weights:
            x = x @ w.t()
        return x
    return run, sum(2 * w.numel() for w in weights)


def four_bits(pairs):
    import torch
    drawn = torch.randint(0, 256, (WIDE * NARROW // 2,), dtype=torch.uint8)
    weights = [drawn.view(rows, columns // 2).clone() for rows, columns in shapes(pairs)]
    scales = [torch.rand(rows, columns // GROUP, dtype=torch.bfloat16) / 128
              for rows, columns in shapes(pairs)]

    def run(x):
        for w, s in zip(weights, scales):
            q = torch.stack([w & 15, w >> 4], -1).view(w.shape[0], -1, GROUP)
            x = x @ ((q.to(x.dtype) - 8) * s[..., None]).flatten(1).t()
        return x
    return run, sum(w.numel() + 2 * s.numel() for w, s in zip(weights, scales))


def packed(pairs):
    import torch
    pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
    drawn = torch.randint(0, 16, (WIDE * NARROW,), dtype=torch.int32)
    weights = [pack(drawn.view(s), 1) for s in shapes(1)]
    weights = [w.clone() for _ in range(pairs) for w in weights]
    scales = [torch.rand(columns // GROUP, rows, 2, dtype=torch.bfloat16) / 128
              for rows, columns in shapes(pairs)]

    def run(x):
        for w, s in zip(weights, scales):
            x = torch.ops.aten._weight_int4pack_mm_for_cpu(x, w, GROUP, s)
        return x
    return run, sum(w.numel() + 2 * s.numel() for w, s in zip(weights, scales))


def rate(run, size, x, rounds):
    import torch
    least = float("inf")
    with torch.no_grad():
        run(x)
        for _ in range(rounds):
            start = time.perf_counter()
            run(x)
            least = min(least, time.perf_counter() - start)
    return size / least / 1e9


def measure(name, make, side, args):
    import torch
    run, size = make(1 if side == "eager" and make is four_bits else args.pairs)
    cells = []
    for rows in args.rows:
        torch.manual_seed(0)
        x = torch.randn(rows, NARROW, dtype=torch.bfloat16)
        torch._dynamo.reset()
        call = run if side in ("eager", "packed") else torch.compile(run, backend=side)
        cells += [f"{rate(call, size, x, 2 if side == 'eager' else args.rounds):.1f}"]
    print(f"| {name}, {side} | " + " | ".join(cells) + " |", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--pairs", type=int, default=32)
    p.add_argument("--rows", default="1,4")
    p.add_argument("--sides", default="eager,inductor,nereid")
    args = p.parse_args()
    args.rows = [int(r) for r in args.rows.split(",")]
    os.environ["OMP_NUM_THREADS"] = os.environ["NEREID_THREADS"] = str(args.threads)
    print(f"{args.threads} threads, GB/s; triad {triad(args.threads):.1f}\n")
    print("| weights | " + " | ".join(f"{r} rows" for r in args.rows) + " |")
    print("| --- |" + " ---: |" * len(args.rows), flush=True)
    import torch
    torch.set_num_threads(args.threads)
    sides = args.sides.split(",")
    for side in sides:
        measure("bf16", floats, side, args)
    for side in sides:
        measure("four bits", four_bits, side, args)
    measure("four bits, PyTorch's kernel", packed, "packed", args)
    print(f"\ntriad again: {triad(args.threads):.1f}", flush=True)


if __name__ == "__main__":
    main()
