#!/usr/bin/env python3
"""Memory of training: neither the planned peak nor what is saved rises when a budget falls, nor
does what runs take; gradients are right, with one mask of dropout in both passes, and may be
written over what was saved.

    torch_budget.py [cuda]"""

import os
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
BUDGETS = (1, 0.75, 0.5, 0.25, 0.1, 0)
try:
    import torch
    import quick_torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    torch = None


def perceptron(draw):
    """Linear layers with any activation, and dropout here and there."""
    width, parts = 8 * draw.randint(1, 6), []
    for _ in range(draw.randint(2, 5)):
        parts += [nn.Linear(width, width), draw.choice([nn.GELU, nn.Tanh, nn.SiLU, nn.ReLU])()]
        if draw.random() < 0.4:
            parts.append(nn.Dropout(0.2))
    return nn.Sequential(*parts), torch.randn(draw.randint(2, 40), width)


class Block(nn.Module if torch else object):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for one in self.qkv(self.first(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + F.dropout(self.out(y), self.dropout)
        return x + F.dropout(self.down(F.gelu(self.up(self.second(x)))), self.dropout)


def transformer(draw):
    heads = draw.choice([1, 2, 4])
    width, dropout = 8 * heads, draw.choice([0, 0.1])
    blocks = [Block(width, heads, dropout) for _ in range(draw.randint(1, 3))]
    return nn.Sequential(*blocks), torch.randn(2, draw.randint(3, 20), width)


def convolutions(draw):
    channels, parts = 3, []
    for _ in range(draw.randint(2, 3)):
        more = draw.choice([4, 6, 8])
        parts += [nn.Conv2d(channels, more, 3, padding=1), nn.BatchNorm2d(more), nn.ReLU()]
        channels = more
    parts += [nn.MaxPool2d(2), nn.Dropout(0.1), nn.Flatten(), nn.LazyLinear(5)]
    model, x = nn.Sequential(*parts), torch.randn(2, 3, 8, 8)
    model(x)  # which makes the last layer
    return model, x


KINDS = (perceptron, transformer, convolutions)


class Stop(BaseException):
    """Ends a compilation once it is known what was chosen."""


def chosen(model, x, budget):
    """The planned memory of the partition for a budget; nothing is compiled."""
    import nereid.torch_backend as backend
    from nereid.torch_backend.passes import budget as solver

    found = []

    def observed(module, inputs, settings, **kwargs):
        found.append(solver.memory_of(
            *solver.partition_by_budget(module, inputs, settings, **kwargs), settings))
        raise Stop

    torch._dynamo.reset()
    kept, backend.partition_by_budget = backend.partition_by_budget, observed
    try:
        torch.compile(model, backend="nereid", options={"memory_budget": budget})(x)
    except Stop:
        pass
    finally:
        backend.partition_by_budget = kept
    return found[0]


def check_monotone():
    """Of random graphs, many of which PyTorch's own solver gives a higher peak for less saved."""
    smaller = 0
    for seed in range(6):
        draw = random.Random(seed)
        torch.manual_seed(seed)
        kind = KINDS[seed % len(KINDS)]
        model, x = kind(draw)
        planned = [chosen(model.to(DEVICE), x.to(DEVICE), budget) for budget in BUDGETS]
        for i, (more, less) in enumerate(zip(planned, planned[1:])):
            tally.check(less.peak <= more.peak and less.saved <= more.saved,
                        f"{kind.__name__} {seed}: a budget of {BUDGETS[i]} takes {more}, of "
                        f"{BUDGETS[i + 1]} {less}")
        smaller += planned[-1].peak < planned[0].peak
    tally.check(smaller >= 3, f"a budget makes {smaller} of six peaks smaller")


def step(call, model, x):
    torch.manual_seed(5)
    call(x).square().mean().backward()
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad(set_to_none=True)
    return found


class Watched:
    """The most memory of a step: what PyTorch allocates, and on a CPU the pools of segments, which
    are not PyTorch's, as tensors of their sizes."""

    def __enter__(self):
        from nereid.torch_backend.segments import segment

        self.of, self.kept = segment.Compiled, segment.Compiled._run
        if DEVICE == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self.held = torch.cuda.memory_allocated()
            return self

        def run(one, values, kept=self.kept):
            pool = torch.empty(one.executable.info["pool"], dtype=torch.uint8)
            try:
                return kept(one, values)
            finally:
                del pool

        segment.Compiled._run = run
        self.profile = torch.profiler.profile(profile_memory=True)
        self.profile.__enter__()
        return self

    def __exit__(self, *error):
        if DEVICE == "cuda":
            self.peak = torch.cuda.max_memory_allocated() - self.held
            return
        self.of._run = self.kept
        self.profile.__exit__(*error)
        found = self.profile.profiler.kineto_results.events()
        events = [one for one in found if one.name() == "[memory]"
                  and one.device_type() == torch.profiler.DeviceType.CPU]
        alive = self.peak = 0
        for one in sorted(events, key=lambda one: one.start_ns()):
            alive += one.nbytes()
            self.peak = max(self.peak, alive)


def check_runs():
    """Gradients are those of eager mode, or with dropout those of the first budget; the measured
    peak never rises either."""
    torch.manual_seed(3)
    drops = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Dropout(0.3), nn.Linear(64, 64),
                          nn.Tanh(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64))
    cases = {"with dropout": (drops, torch.randn(512, 64)),
             "a block": (Block(32, 2, 0), torch.randn(4, 32, 32))}
    for name, (model, x) in cases.items():
        model, x = model.to(DEVICE), x.to(DEVICE)
        want = None if name == "with dropout" else step(model, model, x)
        peaks = []
        for budget in (1, 0.5, 0):
            torch._dynamo.reset()
            call = torch.compile(model, backend="nereid", options={"memory_budget": budget})
            step(call, model, x)
            with Watched() as watched:
                got = step(call, model, x)
            peaks.append(watched.peak)
            want = want or got
            far = max(((a - b).norm() / b.norm().clamp_min(1e-9)).item() for a, b in zip(got, want))
            tally.check(far < 1e-4, f"{name}: gradients under a budget of {budget} are {far} off")
        ordered = all(less <= more for more, less in zip(peaks, peaks[1:]))
        tally.check(ordered and peaks[-1] < peaks[0], f"{name}: measured peaks {peaks}")


def check_overwritten():
    """Gradients are written over what the forward pass saved, unless anything else has it."""
    import nereid.torch_backend as backend

    torch.manual_seed(0)
    x = torch.randn(300, 24, device=DEVICE).requires_grad_()
    w = torch.randn(1500, 24, device=DEVICE).requires_grad_()
    target = torch.randint(1500, (300,), device=DEVICE)

    def loss(x, w):
        logits = x @ w.T
        return F.cross_entropy(logits, target), logits if returns else None

    for returns in (False, True):
        torch._dynamo.reset()
        backend._programs.clear()
        backend._programs.keep()
        want = torch.autograd.grad(loss(x, w)[0], (x, w))
        options = {"libraries": "none", "cache_autograd": False}
        call = torch.compile(loss, backend="nereid", options=options)
        result, logits = call(x, w)
        before = logits.detach().clone() if returns else None
        for i in range(3):
            got = torch.autograd.grad(result, (x, w), retain_graph=i < 2)
            far = max(((a - b).norm() / b.norm()).item() for a, b in zip(got, want))
            tally.check(far < 1e-5, f"backward pass {i}, returned: {returns}: {far} off")
        tally.check(not returns or torch.equal(logits, before), "what was returned is written over")
        over = [one.overwritten for program in backend._programs if program.kind == "backward"
                for one in program.segments]
        tally.check(bool(over and over[0]) is not returns, f"returned: {returns}: over {over}")
        if DEVICE == "cpu" and not returns:
            (one,) = [one for program in backend._programs if program.kind == "backward"
                      for one in program.segments]
            tally.check(one.executable.info["pool"] < 4 * 300 * 1500, "logits have another place")


def bytes_of(storages):
    return [torch.tensor([], dtype=torch.uint8).set_(one).clone() for one in storages]


def check_held_storages():
    """What was saved stays where the program holds its memory, and no tensor of it."""
    torch._dynamo.reset()
    x, w = torch.randn(300, 24).requires_grad_(), torch.randn(1500, 24).requires_grad_()
    target = torch.randint(1500, (300,))
    call = torch.compile(lambda x, w: F.cross_entropy(x @ w.T, target), backend="nereid",
                         options={"cache_autograd": False, "libraries": "none"})
    result = call(x, w)
    held = [saved.untyped_storage() for saved in result.grad_fn.saved_tensors]
    before = bytes_of(held)
    result.backward()
    same = all(map(torch.equal, before, bytes_of(held)))
    tally.check(bool(held) and same, "memory that the program holds is written over")


class Cut(nn.Module if torch else object):
    """Layers with an operator of PyTorch's in each, as a collective is."""

    def __init__(self, layers):
        super().__init__()
        self.gates, self.ups = (nn.ModuleList(nn.Linear(16, 16) for _ in range(layers))
                                for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(layers))

    def forward(self, x):
        for gate, up, norm in zip(self.gates, self.ups, self.norms):
            h = norm(x)
            x = x + torch.cumsum(F.silu(gate(h)) * up(h), 0) / 9
        return x


def check_levels():
    """A backward pass in segments computes again in each what that one needs."""
    import nereid.torch_backend as backend

    torch._dynamo.reset()
    backend._programs.clear()
    backend._programs.keep()
    torch.manual_seed(0)
    model, x = Cut(4).to(DEVICE), torch.randn(20, 16, device=DEVICE)
    want = step(model, model, x)
    options = {"by_pytorch": ("aten.cumsum.default", "aten.flip.default"), "cache_autograd": False}
    got = step(torch.compile(model, backend="nereid", options=options), model, x)
    far = max(((a - b).norm() / b.norm()).item() for a, b in zip(got, want))
    tally.check(far < 1e-5, f"gradients in segments are {far} off")
    (program,) = [one for one in backend._programs if one.kind == "backward"]
    counts = [len(one.plan.inputs) for one in program.segments]
    tally.check(len(counts) == 5 and max(counts) < 16, f"inputs of segments: {counts}")


def check_plan():
    """What a plan says is what the executable takes."""
    from nereid import _nereid

    text = (b"def forward(self, x: \"f32[64, 32]\", y: \"f32[32, 48]\"):\n"
            b"    a = aten.mm.default(x, y)\n"
            b"    b = aten.relu.default(a)\n"
            b"    c = aten.sum.dim_IntList(b, [0])\n"
            b"    return (b, c)\n")
    graph = _nereid.Graph("<graph>", text, None, [], [], [])
    memory = graph.memory({"device": "cpu"})
    tally.check(memory["inputs"] == 4 * (64 * 32 + 32 * 48), f"inputs: {memory}")
    tally.check(memory["outputs"] == 4 * (64 * 48 + 48), f"outputs: {memory}")
    tally.check(memory["peak"] >= memory["inputs"] + memory["outputs"], f"peak: {memory}")
    steps = graph.memory({"device": "cuda", "saves_memory": True, "released": (0,)})
    tally.check(steps["peak"] <= graph.memory({"device": "cuda"})["peak"], f"in steps: {steps}")


def check_settings():
    """PyTorch's setting is heeded, the option goes before it, and it does not outlast a call."""
    torch.manual_seed(0)
    draw = random.Random(1)
    model, x = transformer(draw)
    low = chosen(model, x, 0)
    with torch._functorch.config.patch(activation_memory_budget=0.0):
        tally.check(chosen(model, x, None) == low, "PyTorch's setting")
        tally.check(chosen(model, x, 1) == chosen(model, x, 1.0), "the option goes before it")
        tally.check(torch._functorch.config.activation_memory_budget == 0, "the setting is kept")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        return tally.report()
    import nereid.torch_backend  # noqa: F401 - registers the backend

    check_plan()
    check_overwritten()
    if DEVICE == "cpu":
        check_held_storages()
    check_levels()
    check_monotone()
    check_settings()
    check_runs()
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
