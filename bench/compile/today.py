#!/usr/bin/env python3
"""What models of today ask of torch.compile, beside TorchInductor on the same GPU: FlexAttention,
mixtures of experts (experts.py), linear layers in 8-bit floats (float8.py), weights of few bits
(packed.py), and parts of language models (language.py); with --users, programs of users.py.

    today.py [--sides inductor,nereid] [--rows A:B] [--warm N] [--deadline S] [--users] [--graphs]
             [NAME...]

Of the cases only those whose name has a NAME, of these those from A to B.  Each prints the median
time of a forward pass, of a forward and backward pass, and the largest error of the results and
gradients between the sides, relative to the largest number; the sides take turns, call by call.
With --warm N processes compile the cases first, N at a time, so that a run of all is short: seconds
of first calls are theirs.  At the end the geometric mean of the ratios, and what was not reached.
--graphs: forward passes are replays of CUDA graphs.  --small: tiny sizes, also on a CPU."""

import argparse
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import experts
import float8
import language
import packed
import users


def causal(tables):
    return lambda b, h, q, k: q >= k


def window(tables):
    return lambda b, h, q, k: (q >= k) & (q - k < 512)


def documents(tables):
    of = tables["document"]
    return lambda b, h, q, k: (q >= k) & (of[q] == of[k])


def prefix(tables):
    return lambda b, h, q, k: (q >= k) | (k < 1024)


def soft_alibi(tables):
    import torch

    slopes = tables["slopes"]
    return lambda s, b, h, q, k: torch.tanh((s + slopes[h] * (k - q)) / 20) * 20


def relative(tables):
    of = tables["relative"]
    return lambda s, b, h, q, k: s + of[h, q - k + 4095]


# name: mask, function of scores, batch, heads, heads of keys, rows, keys, width
FLEX = {
    "causal": (causal, None, 4, 16, 16, 4096, 4096, 64),
    "window of 512": (window, None, 4, 16, 16, 4096, 4096, 64),
    "documents of 700": (documents, None, 4, 16, 16, 4096, 4096, 64),
    "prefix of 1024": (prefix, None, 4, 16, 16, 4096, 4096, 64),
    "ALiBi, soft cap": (causal, soft_alibi, 4, 16, 16, 4096, 4096, 64),
    "relative bias": (causal, relative, 4, 16, 16, 4096, 4096, 64),
    "no mask": (None, None, 4, 16, 16, 4096, 4096, 64),
    "causal, 128 columns, shared keys": (causal, None, 2, 32, 8, 4096, 4096, 128),
    "documents, 128 columns": (documents, None, 2, 16, 16, 4096, 4096, 128),
    "decoding": (None, None, 8, 32, 8, 1, 8192, 128),
}


def device():
    return language.device()


def problem(case, small=False):
    """The function, its inputs, and the gradient of its result; without rows to train, None."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask, score, batch, heads, key_heads, rows, keys, width = case
    if small:
        batch, rows, keys, width = 1, min(rows, 256), 256, 32
    torch.manual_seed(0)
    tables = {"document": torch.arange(keys, device=device()) // 700,
              "slopes": torch.exp2(-8 * torch.arange(1, heads + 1, device=device()) / heads),
              "relative": torch.randn(heads, 8192, device=device())}
    blocks = mask and create_block_mask(mask(tables), None, None, rows, keys, device=device())
    function = score and score(tables)

    def attend(query, key, value):
        return flex_attention(query, key, value, function, blocks, enable_gqa=key_heads != heads)

    draw = language.draw
    inputs = [draw(batch, heads, rows, width), draw(batch, key_heads, keys, width),
              draw(batch, key_heads, keys, width)]
    trains = rows > 1 and device() == "cuda"  # PyTorch has no gradient of it on a CPU
    return attend, inputs, draw(batch, heads, rows, width) if trains else None


CASES = {name: functools.partial(problem, case) for name, case in FLEX.items()}
CASES |= experts.CASES | float8.CASES | packed.CASES | language.CASES


# ---- times ----


def took(call):
    import torch

    if device() == "cpu":
        begin = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - begin)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def medians(calls, rounds=20):
    """The median of each call, by turns."""
    for _ in range(3):
        for call in calls:
            call()
    times = [[took(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def off(got, want):
    return max(((a - b).float().abs().max() / b.float().abs().max()).item()
               for a, b in zip(got, want))


def leaves_of(model, inputs):
    """What gradients are taken of: parameters of a module, else inputs that are floats; and the
    inputs with these in their places."""
    import torch

    if isinstance(model, torch.nn.Module):
        return list(model.parameters()), inputs
    given = [x.clone().requires_grad_() if x.dtype.is_floating_point else x for x in inputs]
    return [x for x in given if x.requires_grad], given


class Side:
    """A case by one compiler; makes its first calls."""

    def __init__(self, model, inputs, grad, backend):
        import torch

        self.model, self.inputs, self.grad = model, inputs, grad
        self.call = torch.compile(model, backend=backend, mode=getattr(model, "mode", None))
        begin = time.perf_counter()
        self.results = [self.forward().clone()]
        if device() == "cuda":
            torch.cuda.synchronize()
        self.first = time.perf_counter() - begin
        if grad is not None:
            self.leaves, self.given = leaves_of(model, inputs)
            self.results += self.both()

    def forward(self):
        import torch

        with torch.no_grad():
            return self.call(*self.inputs)

    def record(self):
        """From now on a forward pass is a replay of a CUDA graph."""
        import torch

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.forward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.kept = self.forward()
        self.forward = graph.replay

    def both(self):
        import torch

        return torch.autograd.grad(self.call(*self.given), self.leaves, self.grad)


def first_calls(name, sides, small):
    """Each side that compiles the case."""
    import torch

    problem_of_case = (CASES | users.CASES)[name](small=small)
    torch._dynamo.reset()
    found = {}
    for side in sides:
        try:
            found[side] = Side(*problem_of_case, side)
        except Exception as error:  # of whatever compiler it is
            lines = [line for line in str(error).splitlines() if line.strip()]
            print(f"{name}: {side}: {(lines or [repr(error)])[0]}", file=sys.stderr)
    return found


def measure(name, options, firsts):
    """Prints the row of a case; its ratios."""
    sides = options.sides.split(",")
    found = first_calls(name, sides, options.small)
    if not found:
        print(f"| {name} | fails |", flush=True)
        return []
    if options.graphs:
        for side in found.values():
            side.record()
    rows = [medians([side.forward for side in found.values()], options.rounds)]
    if next(iter(found.values())).grad is not None:
        rows.append(medians([side.both for side in found.values()], options.rounds))
    cells, ratios = [], []
    for times in rows:
        of = dict(zip(found, times))
        cells += [f"{of[side]:.3f}" if side in of else "fails" for side in sides]
        if len(of) == len(sides):
            ratios.append(of[sides[0]] / of[sides[-1]])
        cells.append(f"{ratios[-1]:.2f}" if len(of) == len(sides) else "")
    cells += [""] * (2 * (len(sides) + 1) - len(cells))
    results = [side.results for side in found.values()]
    cells.append(f"{off(results[-1], results[0]):.0e}" if len(found) > 1 else "")
    first = firsts.get(name, {}) | {side: x.first for side, x in found.items()
                                    if side not in firsts.get(name, {})}
    cells.append(", ".join(f"{first[side]:.1f}" if side in first else "-" for side in sides))
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return ratios


# ---- first calls in several processes ----


def warm(names, options, until):
    """Compiles all cases in processes of their own, which leave what they made in the caches of
    both compilers; the seconds of first calls, by case and side."""
    folder = tempfile.mkdtemp()
    parts = [names[i::options.warm] for i in range(options.warm)]
    team, one_thread = [], os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
    for i, part in enumerate(parts):
        command = [sys.executable, __file__, "--sides", options.sides, "--compile-only",
                   f"{folder}/{i}", *(["--small"] if options.small else []),
                   *(["--users"] if options.users else []), "--exactly", *part]
        if part:
            team.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, env=one_thread))
    for process in team:
        try:
            process.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    found = {}
    for i in range(options.warm):
        if os.path.exists(f"{folder}/{i}"):
            with open(f"{folder}/{i}", encoding="utf-8") as file:
                found |= dict(map(json.loads, file))
    return found


def compile_only(names, options):
    with open(options.compile_only, "w", encoding="utf-8") as file:
        for name in names:
            found = first_calls(name, options.sides.split(","), options.small)
            print(json.dumps([name, {side: x.first for side, x in found.items()}]), file=file,
                  flush=True)


def chosen(options):
    if options.exactly:
        return options.names
    names = [name for name in (users.CASES if options.users else CASES)
             if not options.names or any(part in name for part in options.names)]
    begin, _, end = options.rows.partition(":")
    return names[int(begin or 0):int(end) if end else None]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", default="inductor,nereid")
    parser.add_argument("--rows", default=":", help="A:B, as a slice of the cases")
    parser.add_argument("--warm", type=int, default=0, help="processes that compile first")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--deadline", type=float, default=math.inf, help="seconds of the run")
    parser.add_argument("--users", action="store_true", help="the cases of users.py")
    parser.add_argument("--graphs", action="store_true", help="forward passes in CUDA graphs")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--list", action="store_true", help="prints the cases' names")
    parser.add_argument("--compile-only", help=argparse.SUPPRESS)
    parser.add_argument("--exactly", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    begin, options = time.monotonic(), parsed()
    names = chosen(options)
    if options.list:
        print("\n".join(names))
        return
    import torch

    if options.compile_only:
        compile_only(names, options)
        return
    on = torch.cuda.get_device_name() if device() == "cuda" else "cpu"
    print(f"{on}, PyTorch {torch.__version__}, bf16; ms: "
          f"{' and '.join(options.sides.split(','))}, forward; forward and backward", flush=True)
    firsts = {}
    if options.warm:
        firsts = warm(names, options, begin + options.deadline / 2)
        print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
    ratios, left = [], list(names)
    while left and time.monotonic() - begin < options.deadline - 5:
        ratios += measure(left.pop(0), options, firsts)
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean of {len(ratios)} ratios: {mean:.2f}; "
              f"{sum(r < 1 for r in ratios)} under 1; {time.monotonic() - begin:.0f} s")
    if left:
        print(f"not reached: {', '.join(left)}")


if __name__ == "__main__":
    sys.exit(main())
