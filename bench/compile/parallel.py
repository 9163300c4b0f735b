#!/usr/bin/env python3
"""Training of a language model by two processes, each on a GPU of its own, by TorchInductor and
Nereid: data parallel (DDP), tensor parallel with sequences cut at norms, and sharded (FSDP2) by
block and as a whole.

    parallel.py [--kinds ddp,tensor,block,whole] [--sides inductor,nereid] [--turns 3] [--small]

For each kind the median time of a step with its optimizer, the sides in turns; the peak of memory
above what is held between steps; the seconds of the first step; how far gradients are from eager
mode's; with --peaks the tensors that are alive at the peak.  --small: tiny sizes, also on CPUs."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import step_times

KINDS = {"ddp": "DDP", "tensor": "tensor parallel", "block": "FSDP2 by block",
         "whole": "FSDP2, whole"}
PROCESSES = 2
# layers, width, hidden width, heads, vocabulary, sequences, tokens
SIZES, SMALL = (8, 1024, 4096, 16, 32000, 8, 1024), (2, 64, 128, 4, 256, 2, 32)


def modules():
    import torch
    from torch import nn
    from torch.nn import functional as F

    def linear(inputs, outputs):
        return nn.Linear(inputs, outputs, bias=False)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.head = width // heads
            self.q, self.k, self.v, self.o = (linear(width, width) for _ in range(4))

        def forward(self, x):
            q, k, v = (f(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
                       for f in (self.q, self.k, self.v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.o(y.transpose(1, 2).flatten(2))

    class Feed(nn.Module):
        def __init__(self, width, hidden):
            super().__init__()
            self.gate, self.up = linear(width, hidden), linear(width, hidden)
            self.down = linear(hidden, width)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Block(nn.Module):
        def __init__(self, width, hidden, heads):
            super().__init__()
            self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
            self.attention, self.feed = Attention(width, heads), Feed(width, hidden)

        def forward(self, x):
            x = x + self.attention(self.first(x))
            return x + self.feed(self.second(x))

    class Model(nn.Module):
        def __init__(self, layers, width, hidden, heads, words):
            super().__init__()
            self.words = nn.Embedding(words, width)
            self.blocks = nn.ModuleList(Block(width, hidden, heads) for _ in range(layers))
            self.norm, self.logits = nn.RMSNorm(width), linear(width, words)

        def forward(self, words):
            x = self.words(words)
            for block in self.blocks:
                x = block(x)
            return self.logits(self.norm(x))

    return Model


# ---- kinds ----


def cut_tensors(model, mesh):
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor import parallel as p

    p.parallelize_module(model, mesh, {
        "words": p.RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": p.SequenceParallel(),
        "logits": p.ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())})
    for block in model.blocks:
        whole = p.PrepareModuleInput(input_layouts=(Shard(1),),
                                     desired_input_layouts=(Replicate(),))
        apart, back = p.ColwiseParallel(), p.RowwiseParallel(output_layouts=Shard(1))
        p.parallelize_module(block, mesh, {
            "first": p.SequenceParallel(), "second": p.SequenceParallel(),
            "attention": whole, "attention.q": apart, "attention.k": apart, "attention.v": apart,
            "attention.o": back, "feed": whole, "feed.gate": apart, "feed.up": apart,
            "feed.down": back})
    return model


def made(kind, backend, mesh, sizes, kept):
    """The model as its kind wants it, and what a step calls."""
    import torch
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(0)
    with torch.device(mesh.device_type):
        model = modules()(*sizes).to(kept)
    if kind == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    elif kind == "tensor":
        cut_tensors(model, mesh)
    else:
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
    if not backend:
        return model, model
    if kind != "block":
        return model, torch.compile(model, backend=backend)
    for block in model.blocks:
        block.compile(backend=backend)
    return model, model


class Side:
    def __init__(self, kind, backend, mesh, sizes, kept):
        import torch

        self.model, self.call = made(kind, backend, mesh, sizes, kept)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=True)

    def gradients(self, words, target):
        import torch

        logits = self.call(words)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        loss.backward()

    def step(self, words, target):
        self.gradients(words, target)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


# ---- measuring ----


def synchronize(device):
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    torch.distributed.barrier()


def local(x):
    return x.to_local() if hasattr(x, "to_local") else x


def gradients(side, data):
    """Gradients of one step."""
    side.gradients(*data)
    found = [local(p.grad).detach().float().clone() for p in side.model.parameters()]
    side.optimizer.zero_grad(set_to_none=True)
    return found


def apart(got, want):
    return max(((a - b).norm() / b.norm().clamp(min=1e-30)).item() for a, b in zip(got, want))


def frame_of(block):
    for frame in block.get("frames", []):
        name = frame["filename"]
        if "/torch/" not in name or "_inductor" in name:
            return f"{name.rsplit('/', 1)[-1]}:{frame['line']} {frame['name']}"
    return "?"


def alive_at_peak(side, data):
    """What a step has in memory at its peak: MB, tensors and the line that made them."""
    import torch

    torch.cuda.memory._record_memory_history(max_entries=200000, stacks="python")
    side.step(*data)
    torch.cuda.synchronize()
    trace = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    torch.cuda.memory._record_memory_history(enabled=None)
    alive, total, most, then = {}, 0, 0, {}
    for event in trace:
        if event["action"] == "alloc":
            alive[event["addr"]] = event
            total += event["size"]
        elif event["action"] == "free_requested" and event["addr"] in alive:
            total -= alive.pop(event["addr"])["size"]
        if total > most:
            most, then = total, dict(alive)
    rows = {}
    for event in then.values():
        row = rows.setdefault((frame_of(event), event["size"]), [0, 0])
        row[0] += event["size"] / 2**20
        row[1] += 1
    return most / 2**20, sorted(rows.items(), key=lambda row: -row[1][0])


def measure(kind, options, mesh, rank):
    import torch

    device = mesh.device_type
    *sizes, batch, tokens = SMALL if options.small else SIZES
    kept = torch.bfloat16 if device == "cuda" else torch.float32
    made = torch.Generator().manual_seed(1 if kind == "tensor" else 1 + rank)
    words = torch.randint(sizes[4], (batch, tokens + 1), generator=made).to(device)
    data = words[:, :-1].contiguous(), words[:, 1:].contiguous()
    eager = gradients(Side(kind, None, mesh, sizes, kept), data)
    sides, firsts, off = {}, [], []
    for name in options.sides.split(","):
        torch._dynamo.reset()
        begin = time.perf_counter()
        sides[name] = side = Side(kind, name, mesh, sizes, kept)
        off.append(apart(gradients(side, data), eager))
        side.step(*data)
        synchronize(device)
        firsts.append(time.perf_counter() - begin)
    del eager
    times, peaks = {name: [] for name in sides}, {}
    for turn in range(options.turns):
        for name in list(sides)[:: 1 - 2 * (turn % 2)]:
            step = sides[name].step
            found, peaks[name] = step_times.took(lambda i: step(*data), device, options.timed,
                                                 lambda: synchronize(device))
            times[name] += found
    if not rank:
        print_row(kind, times, peaks, firsts, off)
    return sides, data


def print_row(kind, times, peaks, firsts, off):
    ms = [statistics.median(column) for column in times.values()]
    print(f"| {KINDS[kind]} | {' | '.join(f'{t:.2f}' for t in ms)} | {ms[0] / ms[-1]:.2f} | "
          f"{', '.join(f'{peaks[name]:.0f}' for name in times)} | "
          f"{'; '.join(f'{t:.1f}' for t in firsts)} | {', '.join(f'{x:.1e}' for x in off)} |",
          flush=True)


def print_peaks(sides, data, rank):
    for name, side in sides.items():
        most, rows = alive_at_peak(side, data)
        if rank:
            continue
        print(f"{name}: {most:.0f} MB at the peak of a step")
        for (frame, size), (mb, count) in rows[:14]:
            print(f"  {mb:7.1f} MB, {count:3} of {size / 2**20:8.2f}: {frame}")
        sys.stdout.flush()


def work(options, rank, folder):
    import torch
    from torch.distributed.device_mesh import init_device_mesh

    import nereid  # noqa: F401 - it registers the backend

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(rank)
        torch.backends.cuda.matmul.allow_tf32 = True
    torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo", rank=rank,
                                         init_method=f"file://{folder}/meet",
                                         world_size=PROCESSES)
    mesh = init_device_mesh(device, (PROCESSES,))
    if not rank:
        on = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        print(f"2 x {on}, PyTorch {torch.__version__}: {options.sides}; ms, ratio, MB, first "
              "steps in s, gradients from eager mode's", flush=True)
    for kind in options.kinds.split(","):
        found = measure(kind, options, mesh, rank)
        if options.peaks and device == "cuda":
            print_peaks(*found, rank)
        del found
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sides", default="inductor,nereid")
    parser.add_argument("--small", action="store_true", help="tiny sizes, also on CPUs")
    parser.add_argument("--peaks", action="store_true", help="what is alive at the peaks")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--timed", type=int, default=6, help="steps of a turn")
    parser.add_argument("--rank", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        return work(options, int(options.rank[0]), options.rank[1])
    with tempfile.TemporaryDirectory() as folder:
        team = [subprocess.Popen([sys.executable, *sys.argv, "--rank", str(rank), folder],
                                 env=os.environ | {"OMP_NUM_THREADS": "1"})
                for rank in range(PROCESSES)]
        return max(process.wait() for process in team)


if __name__ == "__main__":
    sys.exit(main())
