#!/usr/bin/env python3
"""Training of stacks of layers as they are trained today, by eager PyTorch, TorchInductor and
Nereid on the same GPU: FlexAttention over packed documents, linear layers in 8-bit floats with
scales of rows (float8.py), and, in one of the two, mixtures of experts by grouped products
(experts.py).

    stacks.py [--stacks llama,moe] [--sides inductor,nereid] [--steps 100] [--deadline 110]

First come the losses of the given number of steps, from the same weights and data.  Eager mode's
noise is the largest difference between its losses and those from weights that are off by a
rounding of bfloat16, drawn by each of some seeds; the sides' differences are printed beside it.
Then come the median time of a step (forward, backward and optimizer, the sides in turns), and the
peak of memory above what is held between steps."""

import argparse
import dataclasses
import statistics
import sys
import time

import experts
import float8
import step_times


@dataclasses.dataclass(frozen=True)
class Sizes:
    layers: int = 4
    width: int = 2048
    heads: int = 16
    key_heads: int = 8
    columns: int = 128
    hidden: int = 5632
    experts: int = 0
    top: int = 0
    vocabulary: int = 32000
    batch: int = 2
    length: int = 2048


SMALL = Sizes(2, 64, 4, 2, 16, 128, 0, 0, 256, 2, 128)
STACKS = {"llama": {}, "moe": {"hidden": 768, "experts": 32, "top": 4}}


def modules(sizes):
    """The classes of a stack's model."""
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.attention.flex_attention import flex_attention

    linear = float8.linear_function()

    class Linear(nn.Linear):
        def __init__(self, inputs, outputs):
            super().__init__(inputs, outputs, bias=False)

        def forward(self, x):
            by_rows = x.is_cuda  # CPUs have scales of whole tensors alone
            return linear.apply(x.flatten(0, -2), self.weight, by_rows).unflatten(0, x.shape[:-1])

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            s = sizes
            self.q, self.o = Linear(s.width, s.heads * s.columns), Linear(
                s.heads * s.columns, s.width)
            self.k, self.v = (Linear(s.width, s.key_heads * s.columns) for _ in range(2))
            norm = nn.RMSNorm if s.experts else lambda *_: nn.Identity()
            self.q_norm, self.k_norm = norm(s.columns, 1e-6), norm(s.columns, 1e-6)

        def forward(self, x, angles, blocks):
            def heads(y, norm):
                y = norm(y.unflatten(-1, (-1, sizes.columns)))
                a, b = y.float().chunk(2, -1)
                cos, sin = angles
                turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
                return turned.to(x.dtype).transpose(1, 2)

            v = self.v(x).unflatten(-1, (-1, sizes.columns)).transpose(1, 2)
            y = flex_attention(heads(self.q(x), self.q_norm), heads(self.k(x), self.k_norm), v,
                               block_mask=blocks, enable_gqa=True)
            return self.o(y.transpose(1, 2).flatten(2))

    class Dense(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up = (Linear(sizes.width, sizes.hidden) for _ in range(2))
            self.down = Linear(sizes.hidden, sizes.width)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            w, h, n = sizes.width, sizes.hidden, sizes.experts
            self.router = nn.Parameter(torch.randn(w, n) * w**-0.5)
            self.up = nn.Parameter(torch.randn(n, w, 2 * h) * w**-0.5)
            self.down = nn.Parameter(torch.randn(n, h, w) * h**-0.5)

        def forward(self, x):
            y = experts.summed(x.flatten(0, 1), self.router, self.up, self.down, sizes.top)
            return y.unflatten(0, x.shape[:2])

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = (nn.RMSNorm(sizes.width, 1e-6) for _ in range(2))
            self.attention = Attention()
            self.feed = Experts() if sizes.experts else Dense()

        def forward(self, x, angles, blocks):
            x = x + self.attention(self.first(x), angles, blocks)
            return x + self.feed(self.second(x))

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(sizes.vocabulary, sizes.width)
            self.layers = nn.ModuleList(Layer() for _ in range(sizes.layers))
            self.norm = nn.RMSNorm(sizes.width, 1e-6)
            self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)

        def forward(self, ids, target, angles, blocks):
            x = self.embedding(ids)
            for layer in self.layers:
                x = layer(x, angles, blocks)
            return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1).float(), target.flatten())

    return Stack


def batches(sizes, device, count=8):
    """Tokens, targets, angles of positions and the mask of documents, of each batch."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask

    made = torch.Generator().manual_seed(7)
    ids = torch.randint(sizes.vocabulary, (count, sizes.batch, sizes.length + 1), generator=made)
    ids = ids.to(device)
    document = torch.arange(sizes.length, device=device) // max(16, sizes.length * 7 // 20)
    blocks = create_block_mask(lambda b, h, q, k: (q >= k) & (document[q] == document[k]), None,
                               None, sizes.length, sizes.length, device=device)
    half = sizes.columns // 2
    turns = 1e4 ** (-torch.arange(half, device=device) / half)
    angle = (torch.arange(sizes.length, device=device)[:, None] * turns).unsqueeze(1)
    return [(x[:, :-1].contiguous(), x[:, 1:].contiguous(), (angle.cos(), angle.sin()), blocks)
            for x in ids]


class Side:
    """A model in training, compiled by a backend (none: eager), from weights that are off by a
    rounding if a seed is given."""

    def __init__(self, sizes, name, device, seed=None):
        import torch

        torch.manual_seed(0)
        with torch.device(device):
            self.model = modules(sizes)().to(torch.bfloat16)
        if seed is not None:
            made = torch.Generator(device).manual_seed(seed)
            with torch.no_grad():
                for p in self.model.parameters():
                    draw = torch.rand(p.shape, generator=made, device=device)
                    p.copy_(p.float() * (1 + (draw - 0.5) / 64))
        self.call = torch.compile(self.model, backend=name) if name else self.model
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, weight_decay=0.01,
                                           fused=device == "cuda")

    def step(self, batch):
        loss = self.call(*batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def losses(self, data, steps, left, kept=8):
        """The losses of the steps that there is time for, if so many seconds are to be kept."""
        found = []
        while len(found) < steps and (len(found) % 10 or left() > kept or not found):
            found.append(self.step(data[len(found) % len(data)]))
        return [loss.item() for loss in found]


def synchronize(device):
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def differ(got, want):
    """The largest difference of two lists of losses, and that of the means of their last fifths."""
    n = min(len(got), len(want))
    last = slice(n - max(1, n // 5), n)
    most = max(abs(a - b) for a, b in zip(got, want))
    end = abs(statistics.mean(got[last]) - statistics.mean(want[last]))
    return f"{most:.4f} apart, {end:.4f} at the end"


def measure(name, sizes, args, device, left):
    import torch

    data = batches(sizes, device)
    eager = Side(sizes, None, device).losses(data, args.steps, left)
    print(f"{name}: {len(eager)} steps, eager's loss {eager[0]:.4f} to {eager[-1]:.4f}", flush=True)
    for seed in range(1, 1 + args.seeds):
        losses = Side(sizes, None, device, seed).losses(data, args.steps, left, args.deadline // 2)
        print(f"{name}: eager, seed {seed}: {len(losses)} steps, {differ(losses, eager)}",
              flush=True)
    sides = {}
    for backend in args.sides.split(","):
        begin = time.perf_counter()
        side = Side(sizes, backend, device)
        try:
            losses = [side.step(data[0]).item()]
        except Exception as error:  # of whatever compiler it is
            print(f"{name}: {backend}: {str(error).splitlines()[0]}", flush=True)
            continue
        seconds = time.perf_counter() - begin
        losses += side.losses(data[1:] + data[:1], args.steps - 1, left)
        print(f"{name}: {backend}: first step {seconds:.1f} s, {len(losses)} steps, loss "
              f"{losses[-1]:.4f}: {differ(losses, eager)}", flush=True)
        sides[backend] = side
    times, peaks = {side: [] for side in sides}, {}
    for turn in range(args.turns):
        if left() < 3:
            break
        for backend in list(sides)[:: 1 - 2 * (turn % 2)]:
            step = sides[backend].step
            found, peaks[backend] = step_times.took(lambda i: step(data[i % len(data)]), device,
                                                    args.timed, lambda: synchronize(device))
            times[backend] += found
    cells = [f"{backend} {statistics.median(t):.2f} ms, {peaks[backend]:.0f} MB"
             for backend, t in times.items() if t]
    print(f"{name}: a step: {'; '.join(cells)}", flush=True)
    torch._dynamo.reset()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stacks", default="llama,moe")
    parser.add_argument("--sides", default="inductor,nereid")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU")
    for name, value in (("layers", 4), ("steps", 100), ("seeds", 2), ("turns", 4), ("timed", 8),
                        ("deadline", 110)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    begin = time.time()
    import torch

    import nereid  # noqa: F401 - it registers the backend

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":  # PyTorch's own check refuses gradients there
        import torch.nn.attention.flex_attention as flex

        flex._validate_device = lambda *tensors: None
    print(f"{torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}, "
          f"PyTorch {torch.__version__}", flush=True)
    for name in args.stacks.split(","):
        base = SMALL if args.small else Sizes(args.layers)
        changes = dict(STACKS[name])
        if args.small and changes:
            changes = {"hidden": 32, "experts": 8, "top": 2}
        measure(name, dataclasses.replace(base, **changes), args, device,
                lambda: args.deadline - (time.time() - begin))


if __name__ == "__main__":
    sys.exit(main())
