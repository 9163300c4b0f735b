#!/usr/bin/env python3
"""Attention in torch.compile(backend="nereid"): a transformer's gradients, and dropout inside of
attention, whose seed PyTorch's generator gives.  On the CPU, or with the argument cuda on a GPU."""
import os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
except ImportError:
    print("1 skipped: no torch")
    tally.check(True, "")
    sys.exit(tally.report())

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
ATEN, F = torch.ops.aten, torch.nn.functional
SHARE = 0.3


class Block(torch.nn.Module):
    def __init__(self, width=64, heads=4, kv=4):
        super().__init__()
        self.heads, self.kv, self.width = heads, kv, width
        self.norm, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, width + 2 * kv * (width // heads))
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 128), torch.nn.Linear(128, width)

    def forward(self, x):
        b, t, c = x.shape
        size = self.kv * (c // self.heads)
        parts = self.qkv(self.norm(x)).split([c, size, size], 2)
        q, k, v = (y.view(b, t, h, -1).transpose(1, 2)
                   for y, h in zip(parts, (self.heads, self.kv, self.kv)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=h_differs(self))
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def h_differs(block):
    return block.heads != block.kv


def check_transformer(kv):
    torch._dynamo.reset()
    model = torch.nn.Sequential(Block(kv=kv), Block(kv=kv)).to(DEVICE)
    x = torch.randn(2, 33, 64, device=DEVICE, requires_grad=True)
    results = []
    for run in model, torch.compile(model, backend="nereid", fullgraph=True):
        model.zero_grad()
        x.grad = None
        loss = run(x).square().mean()
        loss.backward()
        results.append([loss.detach(), x.grad, *(p.grad for p in model.parameters())])
    off = max(((a - b).abs().max() / a.abs().max()).item() for a, b in zip(*results))
    tally.check(off < 1e-5, f"{kv} heads of keys: a gradient is off by {off:.3g}")


def flash(q, k, v):
    return ATEN._scaled_dot_product_flash_attention(q, k, v, SHARE, True)[0]


def efficient(q, k, v):
    return ATEN._scaled_dot_product_efficient_attention(q, k, v, None, True, SHARE, True)[0]


def cudnn(q, k, v):
    return ATEN._scaled_dot_product_cudnn_attention(q, k, v, None, True, SHARE, True)[0]


def check_dropout(attend):
    """With a unit matrix as values the result is the shares that were kept."""
    torch._dynamo.reset()
    b, h, t, d, name = 2, 3, 24, 24, attend.__name__
    make = lambda: torch.randn(b, h, t, d, device=DEVICE).requires_grad_()  # noqa: E731
    q, k = make(), make()
    v = torch.eye(t, device=DEVICE).expand(b, h, t, t).contiguous().requires_grad_()
    run = torch.compile(attend, backend="nereid", fullgraph=True)
    torch.manual_seed(5)
    out = run(q, k, v)
    grad = torch.randn_like(out)
    out.backward(grad)
    torch.manual_seed(5)
    tally.check(torch.equal(out, run(q, k, v)), f"{name}: one seed, two results")
    tally.check(not torch.equal(out, run(q, k, v)), f"{name}: two seeds, one result")
    seen = torch.ones(t, t, dtype=torch.bool, device=DEVICE).tril()
    kept = (out.detach() != 0).float() / (1 - SHARE)
    part = (kept[..., seen] != 0).float().mean().item()
    tally.check(abs(part - (1 - SHARE)) < 0.07, f"{name}: {part} of the shares are kept")
    leaves = [y.detach().clone().requires_grad_() for y in (q, k, v)]
    scores = leaves[0] @ leaves[1].transpose(2, 3) * d**-0.5
    wanted = scores.masked_fill(~seen, -torch.inf).softmax(-1) * kept @ leaves[2]
    wanted.backward(grad)
    pairs = [(out, wanted), *((x.grad, y.grad) for x, y in zip((q, k, v), leaves))]
    off = max((x - y).abs().max().item() for x, y in pairs)
    tally.check(off < 1e-4, f"{name}: off by {off:.3g} of eager with the same shares")


def main():
    torch.manual_seed(0)
    for kv in 4, 2:
        check_transformer(kv)
    for attend in (efficient, ) if DEVICE == "cuda" else (flash, efficient, cudnn):
        check_dropout(attend)
    return tally.report()


sys.exit(main())
