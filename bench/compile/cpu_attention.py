#!/usr/bin/env python3
"""Attention on CPUs by torch.compile beside eager mode's scaled_dot_product_attention.

    cpu_attention.py [--threads 1,6] [--kinds forward,decode,train,other] [--dtypes f32,bf16]
                     [--names PART,...] [--seconds N] [--rounds N]

Microseconds, the least of runs in turns in one process, and eager's time over ours: 0.97 counts as
level.  Values are compared with eager mode in f64 before, gradients too: the largest error of the
norm.  Layers of models give heads of a token beside each other; eager mode gets the same tensors.
FlexAttention is beside scaled_dot_product_attention with the same numbers as a mask."""
import argparse
import gc
import math
import time

# kind, name: batches, heads, heads of keys, rows, keys, columns, mask
CASES = {
    "forward": {
        "4x12 of 128, 64": (4, 12, 12, 128, 128, 64, ""),
        "12 of 512, 64": (1, 12, 12, 512, 512, 64, ""),
        "8 of 1024, 64": (1, 8, 8, 1024, 1024, 64, ""),
        "8 of 1024, 128": (1, 8, 8, 1024, 1024, 128, ""),
        "4 of 4096, 64": (1, 4, 4, 4096, 4096, 64, ""),
        "4x12 of 197, 64": (4, 12, 12, 197, 197, 64, ""),
        "16 of 256, 32": (1, 16, 16, 256, 256, 32, ""),
        "16 of 256, 40": (1, 16, 16, 256, 256, 40, ""),
        "16 of 256, 72": (1, 16, 16, 256, 256, 72, ""),
        "16 of 256, 80": (1, 16, 16, 256, 256, 80, ""),
        "16 of 256, 96": (1, 16, 16, 256, 256, 96, ""),
        "8 of 256, 256": (1, 8, 8, 256, 256, 256, ""),
        "16x16 of 49, 32": (16, 16, 16, 49, 49, 32, ""),
        "256x4 of 49, 32": (256, 4, 4, 49, 49, 32, ""),
        "causal, 8 of 1024, 64": (1, 8, 8, 1024, 1024, 64, "causal"),
        "causal, 12 of 256, 64": (1, 12, 12, 256, 256, 64, "causal"),
    },
    "other": {
        "added, 12 of 512, 64": (1, 12, 12, 512, 512, 64, "added"),
        "seen, 4x12 of 128, 64": (4, 12, 12, 128, 128, 64, "seen"),
        "table a head, 64x4 of 49, 32": (64, 4, 4, 49, 49, 32, "table"),
        "ALiBi, 8 of 1024, 64": (1, 8, 8, 1024, 1024, 64, "alibi"),
        "cross, 8 of 4096 by 77, 40": (1, 8, 8, 4096, 77, 40, ""),
        "cross, 12 of 64 by 1500, 64": (1, 12, 12, 64, 1500, 64, ""),
    },
    "decode": {
        "12, 512 keys, 64": (1, 12, 12, 1, 512, 64, ""),
        "16, 4096 keys, 128": (1, 16, 16, 1, 4096, 128, ""),
        "32 of 8, 4096, 128": (1, 32, 8, 1, 4096, 128, ""),
        "8x12, 1024, 64": (8, 12, 12, 1, 1024, 64, ""),
        "16, 8 rows, 2048, 64": (1, 16, 16, 8, 2048, 64, ""),
        "12, 2 rows, 512, 64": (1, 12, 12, 2, 512, 64, ""),
        "8, 16 rows, 1024, 128": (1, 8, 8, 16, 1024, 128, ""),
        "seen, 12, 1024, 64": (1, 12, 12, 1, 1024, 64, "seen"),
    },
    "train": {
        "4x12 of 128, 64": (4, 12, 12, 128, 128, 64, ""),
        "4x12 of 196, 64": (4, 12, 12, 196, 196, 64, ""),
        "8 of 1024, 64": (1, 8, 8, 1024, 1024, 64, ""),
        "64x4 of 49, 32": (64, 4, 4, 49, 49, 32, ""),
        "causal, 12 of 512, 64": (1, 12, 12, 512, 512, 64, "causal"),
        "causal, 8 of 256, 128": (1, 8, 8, 256, 256, 128, "causal"),
    },
}
BOUNDS = {"f32": 5e-6, "bf16": 8e-3, "f16": 1e-3, "f64": 1e-14}
NAMES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "f64": "float64"}


class Case:
    def __init__(self, torch, kind, name, dtype):
        self.torch, self.kind, self.name, self.dtype = torch, kind, name, dtype
        batch, heads, key_heads, rows, keys, columns, self.mask_kind = CASES[kind][name]
        self.type = getattr(torch, NAMES[dtype])
        self.groups = heads != key_heads
        self.trains = kind == "train"
        cached = kind == "decode"
        self.q = self.draw(batch, heads, rows, columns, False)
        self.k, self.v = (self.draw(batch, key_heads, keys, columns, cached) for _ in range(2))
        self.grad = torch.randn(batch, heads, rows, columns).to(self.type)
        self.mask = self.draw_mask(batch, heads, rows, keys)
        added = self.mask is not None and self.mask.is_floating_point()
        self.masks = {t: self.mask.to(t) for t in (self.type, torch.float64)} if added else {}

    def draw(self, batch, heads, rows, columns, heads_first):
        """Heads of a token are neighbors; those of a cache are not."""
        torch = self.torch
        shape = (batch, heads, rows, columns) if heads_first else (batch, rows, heads, columns)
        x = torch.randn(*shape).to(self.type)
        x = x if heads_first else x.transpose(1, 2)
        return x.requires_grad_(self.trains)

    def draw_mask(self, batch, heads, rows, keys):
        torch = self.torch
        if self.mask_kind == "added":
            return torch.randn(1, 1, rows, keys).to(self.type)
        if self.mask_kind == "table":
            return torch.randn(1, heads, rows, keys).to(self.type)
        if self.mask_kind == "seen":
            ends = torch.randint(keys // 2, keys + 1, (batch, 1, 1, 1))
            return torch.arange(keys).expand(batch, 1, rows, keys) < ends
        if self.mask_kind == "alibi":
            slopes = 2.0 ** -torch.arange(1, heads + 1)
            apart = torch.arange(keys) - torch.arange(rows)[:, None]
            return (slopes[:, None, None] * apart).double()[None]
        return None

    def by_torch(self, q, k, v):
        mask = self.masks.get(q.dtype, self.mask)
        return self.torch.nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=self.mask_kind == "causal", enable_gqa=self.groups)

    def forward(self):
        """The function that is compiled."""
        causal, groups, mask = self.mask_kind == "causal", self.groups, self.mask
        attend = self.torch.nn.functional.scaled_dot_product_attention
        if self.mask_kind == "alibi":
            from torch.nn.attention.flex_attention import flex_attention
            slopes = 2.0 ** -self.torch.arange(1, self.q.shape[1] + 1)

            def by_slopes(q, k, v):
                def added(score, batch, head, row, key):
                    return score + slopes[head] * (key - row)
                return flex_attention(q, k, v, added)
            return by_slopes
        if mask is None:
            return lambda q, k, v: attend(q, k, v, is_causal=causal, enable_gqa=groups)
        return lambda q, k, v: attend(q, k, v, mask)

    def results(self, function, *operands):
        """The result, and gradients where the case trains."""
        y = function(*operands)
        if not self.trains:
            return [y]
        return [y, *self.torch.autograd.grad(y, operands, self.grad.to(y.dtype))]

    def error(self, function):
        exact = [x.detach().double().requires_grad_(self.trains) for x in (self.q, self.k, self.v)]
        wanted = self.results(self.by_torch, *exact)
        got = self.results(function, self.q, self.k, self.v)
        return max(((x.double() - w).norm() / w.norm()).item() for x, w in zip(got, wanted))


def least(runs, rounds, seconds, clock):
    """The least time of each function, which take turns, us."""
    best = [math.inf] * len(runs)
    for run in runs:
        run()
    stop = time.perf_counter() + seconds
    for i in range(rounds):
        for j, run in enumerate(runs):
            begin = clock()
            run()
            best[j] = min(best[j], clock() - begin)
        if i >= 4 and time.perf_counter() > stop:
            break
    return [1e6 * x for x in best]


def measure(torch, case, threads, options):
    """[eager us, ours us, our error] for a number of threads.  One has its processor's time, which
    other work on the machine does not lengthen."""
    torch.set_num_threads(threads)
    torch.compiler.reset()
    ours = torch.compile(case.forward(), backend="nereid", dynamic=False)
    operands = case.q, case.k, case.v
    with torch.set_grad_enabled(case.trains):
        error = case.error(ours)
        times = least([lambda: case.results(case.by_torch, *operands),
                       lambda: case.results(ours, *operands)], options.rounds, options.seconds,
                      time.thread_time if threads == 1 else time.perf_counter)
    return [*times, error]


def run_all(options):
    import torch

    import nereid  # noqa: F401
    torch.manual_seed(0)
    ratios, wrong = {}, 0
    print(f"PyTorch {torch.__version__}, us of eager mode / ours = ratio, by threads", flush=True)
    for kind in options.kinds:
        for name in CASES[kind]:
            if options.names and not any(part in name for part in options.names):
                continue
            for dtype in options.dtypes:
                case, cells, worst = Case(torch, kind, name, dtype), [], 0.0
                for threads in options.threads:
                    eager, ours, error = measure(torch, case, threads, options)
                    cells.append(f"{eager:9.0f} /{ours:9.0f} = {eager / ours:5.2f}")
                    ratios.setdefault((kind, dtype, threads), []).append(eager / ours)
                    worst = max(worst, error)
                fits = worst < BOUNDS[dtype]
                wrong += not fits
                print(f"{kind:8}{dtype:5}{name:30} " + "  ".join(cells)
                      + f"  error {worst:.1e}" + "" * fits + "  WRONG" * (not fits), flush=True)
                case = None
                gc.collect()
    for (kind, dtype, threads), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{kind} {dtype}, {threads} threads: geometric mean {mean:.2f}, least "
              f"{min(values):.2f}, level {sum(x >= 0.97 for x in values)} of {len(values)}")
    return wrong != 0


def main():
    def words(text):
        return text.split(",")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default=[1], type=lambda text: [*map(int, text.split(","))])
    parser.add_argument("--kinds", default=list(CASES), type=words)
    parser.add_argument("--dtypes", default=["f32", "bf16"], type=words)
    parser.add_argument("--names", default=[], type=words)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a case's turns")
    parser.add_argument("--rounds", type=int, default=200)
    return run_all(parser.parse_args())


if __name__ == "__main__":
    raise SystemExit(main())
