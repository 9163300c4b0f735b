#!/usr/bin/env python3
"""Attention in torch.compile(backend="nereid"): a transformer's gradients, and dropout inside of
attention, whose seed PyTorch's generator gives.  On the CPU, or with the argument cuda on a GPU."""
import math, os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import tally

try:
    import torch
    import quick_torch
except ImportError:
    print("1 skipped: no torch")
    tally.check(True, "")
    sys.exit(tally.report())

import nereid
from nereid import torch_backend

torch_backend._programs.keep()

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


def whole(q, k, v):
    q, k, v = (x * 1.0 for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, dropout_p=SHARE, is_causal=True)


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


def scaled(q, k, v, mask=None, **more):
    return F.scaled_dot_product_attention(q, k, v, mask, **more)


def heads_last(q, k, v, mask):
    """A mask of which no element has a place of its own, as models without padding make it."""
    b, h, t, _ = q.shape
    y = F.scaled_dot_product_attention(q, k, v, mask.expand(b, h, t, k.shape[2]))
    return y.transpose(1, 2).reshape(b, t, -1)


def check_call(name, run, query, key, value, mask=None, dtype=torch.float32, grad_of_mask=False,
               whole=True, **more):
    """Values, gradients and strides of a call in any form are eager's, and its operator is ours,
    if attention is to be `whole`."""
    def inside(*args, **more):
        return run(*(x * 1.0 if x.is_floating_point() else x for x in args), **more)

    torch._dynamo.reset()
    torch_backend._programs.clear()
    tensors = [torch.randn(shape, device=DEVICE).to(dtype) for shape in (query, key, value)]
    if mask is not None:
        tensors.append(mask.to(DEVICE))
    made = [x.clone().requires_grad_(grad_of_mask or i < 3) for i, x in enumerate(tensors)]
    exact = [x.double().requires_grad_(y.requires_grad) if x.is_floating_point() else x
             for x, y in zip(tensors, made)]
    out = torch.compile(inside, backend="nereid", fullgraph=True)(*made, **more)
    wanted = run(*exact, **more)
    grad = torch.randn_like(out)
    out.backward(grad)
    wanted.backward(grad.double())
    pairs = [(out, wanted), *((x.grad, y.grad) for x, y in zip(made, exact) if x.requires_grad)]
    off = max(((x.double() - y).abs().max() / y.abs().max()).item() for x, y in pairs)
    most = {torch.float32: 1e-5, torch.float64: 1e-12}.get(dtype, 2e-2)
    tally.check(off < most, f"{name}: off by {off:.3g}")
    tally.check(out.stride() == run(*made, **more).stride(), f"{name}: other strides")
    text = "".join(part.source for made in torch_backend._programs for part in made.segments)
    found = "nereid.scaled_dot_product_attention_backward.default(" in text and "bmm" not in text
    tally.check(found == whole, f"{name}: attention is {'' if found else 'not '}an operator")


def check_calls():
    mask = torch.rand(2, 1, 24, 40) > 0.3
    mask[0, 0, 3] = False  # a row that sees nothing
    shapes = (2, 4, 24, 32), (2, 4, 40, 32), (2, 4, 40, 16)
    for given in mask, mask[:, :, :1], mask[0, 0], mask[0, 0, :1]:
        check_call(f"a mask {list(given.shape)}", scaled, *shapes, given)
    check_call("an expanded mask", heads_last, *shapes, torch.rand(2, 1, 24, 1) > 0.3)
    check_call("bf16", scaled, *shapes, mask, dtype=torch.bfloat16)
    if DEVICE == "cpu":  # PyTorch's rule gives its sums another dtype
        for given in mask, None:
            check_call("f64", scaled, *shapes[:2], shapes[1], given, dtype=torch.float64,
                       whole=False)
    check_call("a bias", scaled, *shapes, torch.randn(4, 24, 40), grad_of_mask=True)
    check_call("a scale", scaled, *shapes, scale=0.3, is_causal=True)
    check_call("heads that share keys", scaled, (2, 4, 24, 32), (2, 2, 40, 32), (2, 2, 40, 80),
               enable_gqa=True, is_causal=True)
    check_call("three axes", scaled, (3, 24, 32), (3, 40, 32), (3, 40, 16), mask[0], whole=False)
    check_call("one batch of keys", scaled, (2, 4, 24, 32), (1, 4, 40, 32), (1, 1, 40, 16))
    for width in 8, 80, 96, 192, 256:
        sizes = (1, 2, 24, width), (1, 2, 40, width), (1, 2, 40, width)
        check_call(f"heads of {width}", scaled, *sizes, mask[:1])


def with_padding(q, k, v, seen):
    place = torch.arange(q.shape[2], device=q.device)
    mask = (place[:, None] >= place[None, :]) & seen[:, None, None, :]
    return F.scaled_dot_product_attention(q, k, v, mask)


def check_saved_masks():
    """Of a mask the backward graph gets what data decides, and computes the rest from positions."""
    seen = torch.rand(2, 24) > 0.3
    seen[:, 0] = True
    check_call("causal, with padding", with_padding, *[(2, 4, 24, 32)] * 3, seen)
    for made in torch_backend._programs:
        sizes = [node.meta["val"].numel() for node in made.placeholders
                 if node.meta["val"].dtype is torch.bool]
        tally.check(max(sizes, default=0) <= seen.numel(), f"{made.kind}: a whole mask is saved")


def filled(q, k, v, hidden):
    scores = (q @ k.mT * 0.3).masked_fill(hidden, -math.inf)
    return scores.softmax(-1) @ v


def chosen(q, k, v, seen):
    scores = torch.matmul(q, k.transpose(-1, -2)) / 8.0
    shares = F.softmax(torch.where(seen, scores, torch.finfo(scores.dtype).min), dim=-1)
    return torch.matmul(F.dropout(shares, 0.0, True), v).transpose(1, 2).reshape(2, 24, -1)


def biased(q, k, v, bias):
    scores = torch.matmul(q, k.transpose(3, 2)) + bias
    shares = F.softmax(scores.float() if q.dtype is torch.bfloat16 else scores, dim=-1).type_as(q)
    return torch.matmul(F.dropout(shares, p=0.1, training=False), v)


def in_batches(q, k, v):
    return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), 2), v)


def check_spelled_out():
    seen = torch.rand(2, 1, 24, 40) > 0.3
    shapes = (2, 4, 24, 32), (2, 4, 40, 32), (2, 4, 40, 16)
    check_call("masked_fill", filled, *shapes, ~seen)
    check_call("where", chosen, *shapes, seen)
    check_call("bmm", in_batches, *(shape[1:] for shape in shapes))
    check_call("an added bias", biased, *shapes, torch.randn(1, 4, 24, 40), grad_of_mask=True)
    check_call("an added bias, bf16", biased, *shapes, torch.randn(1, 4, 24, 40),
               dtype=torch.bfloat16)
    for name, run in (
            ("its shares are used twice", lambda q, k, v: (lambda p: p @ v + p.mean())(
                F.softmax(q @ k.mT, -1))),
            ("softmax of another axis", lambda q, k, v: F.softmax(q @ k.mT, -2) @ v)):
        check_call(name, run, *shapes, whole=False)


def check_open_sizes():
    torch._dynamo.reset()
    run = torch.compile(scaled, backend="nereid", fullgraph=True, dynamic=True)
    for rows in 17, 40:
        made = [torch.randn(2, 4, rows, 32, device=DEVICE, requires_grad=True) for _ in range(3)]
        copies = [x.detach().clone().requires_grad_() for x in made]
        mask = torch.rand(2, 1, 1, rows, device=DEVICE) > 0.2
        results = [run(*made, mask), scaled(*copies, mask)]
        for x in results:
            x.square().mean().backward()
        pairs = [results, *((x.grad, y.grad) for x, y in zip(made, copies))]
        off = max((x - y).abs().max().item() for x, y in pairs)
        tally.check(off < 1e-5, f"{rows} rows of an open size: off by {off:.3g}")


def repeated(x, count, axis=2):
    """Heads of [B, H, T, D], each that many times, as models of transformers have it."""
    batch, heads, rows, width = x.shape
    new = x[:, :, None, :, :] if axis == 2 else x[:, None]
    wide = (batch, heads, count, rows, width) if axis == 2 else (batch, count, heads, rows, width)
    return new.expand(*wide).reshape(batch, heads * count, rows, width)


def check_repeated_heads():
    """Keys of which each serves several queries are neither copied nor saved so often."""
    mask = torch.ones(1, 1, 20, 20, dtype=torch.bool, device=DEVICE).tril()
    cases = {"masked": (2, lambda q, k, v: F.scaled_dot_product_attention(
                 q, repeated(k, 4), repeated(v, 4), mask)),
             "causal": (2, lambda q, k, v: F.scaled_dot_product_attention(
                 q, repeated(k, 4).contiguous(), repeated(v, 4), is_causal=True)),
             "in turns": (8, lambda q, k, v: F.scaled_dot_product_attention(
                 q, repeated(k, 4, 1), repeated(v, 4, 1), mask)),
             "of keys alone": (8, lambda q, k, v: F.scaled_dot_product_attention(
                 q, repeated(k, 4), v.repeat(1, 4, 1, 1), mask))}
    for name, (heads, function) in cases.items():
        torch._dynamo.reset()
        torch_backend._programs.clear()
        sizes = (3, 8, 20, 16), (3, 2, 20, 16), (3, 2, 20, 16)
        inputs = [torch.randn(s, device=DEVICE).transpose(1, 2).contiguous().transpose(1, 2)
                  for s in sizes]
        results = []
        for run in function, torch.compile(function, backend="nereid", fullgraph=True):
            leaves = [x.clone().requires_grad_() for x in inputs]
            y = run(*[x * 1.5 for x in leaves])
            results.append([y, *torch.autograd.grad(y.square().sum(), leaves)])
        off = max(((a - b).abs().max() / a.abs().max()).item() for a, b in zip(*results))
        tally.check(off < 1e-5, f"repeated heads {name}: off by {off:.3g}")
        tally.check(results[0][0].stride() == results[1][0].stride(), f"strides, {name}")
        saved = [node.meta["val"].shape for made in torch_backend._programs
                 for node in made.placeholders if made.kind == "backward"]
        tally.check((saved.count((3, 8, 20, 16)) < 4) == (heads == 2),
                    f"repeated heads {name}: {saved}")


def check_layer():
    """multi_head_attention_forward is one node of TorchDynamo's graph."""
    torch._dynamo.reset()
    torch_backend._programs.clear()
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True).to(DEVICE)
    x, hidden = torch.randn(2, 10, 64, device=DEVICE), torch.zeros(2, 10, dtype=torch.bool)
    hidden[0, 7:] = True
    results = []
    for run in layer, torch.compile(layer, backend="nereid", fullgraph=True):
        layer.zero_grad()
        y = run(x, src_key_padding_mask=hidden.to(DEVICE))
        y.square().mean().backward()
        results.append([y.detach(), *(p.grad for p in layer.parameters())])
    off = max((a - b).abs().max().item() for a, b in zip(*results))
    tally.check(off < 1e-5, f"a layer: off by {off:.3g}")
    text = "".join(part.source for made in torch_backend._programs for part in made.segments)
    tally.check("nereid.scaled_dot_product_attention" in text, "a layer: no operator")


def check_doubles_of_open_heads():
    """Attention of f64 whose number of heads is open, too."""
    if DEVICE != "cpu":
        return
    torch._dynamo.reset()
    run = torch.compile(scaled, backend="nereid", dynamic=True, fullgraph=True)
    for heads in (3, 5):
        made = [torch.randn(2, heads, 12, 16, dtype=torch.float64, requires_grad=True)
                for _ in range(3)]
        exact = [x.detach().clone().requires_grad_() for x in made]
        run(*made).sum().backward()
        scaled(*exact).sum().backward()
        off = max((x.grad - y.grad).abs().max().item() for x, y in zip(made, exact))
        tally.check(off < 1e-11, f"f64 with {heads} heads: off by {off:.3g}")


def check_doubles_of_shared_heads():
    """Heads of keys and values that several of the query's share."""
    if DEVICE != "cpu":
        return
    made = [torch.randn(2, heads, rows, 16, dtype=torch.float64, requires_grad=True)
            for heads, rows in ((6, 7), (2, 9), (2, 9))]
    exact = [x.detach().clone().requires_grad_() for x in made]
    torch._dynamo.reset()
    torch.compile(latent, backend="nereid", fullgraph=True)(*made).square().sum().backward()
    latent(*exact).square().sum().backward()
    off = max((x.grad - y.grad).abs().max().item() for x, y in zip(made, exact))
    tally.check(off < 1e-11, f"f64 with shared heads: off by {off:.3g}")


def latent(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, scale=0.05, enable_gqa=True)


def check_latent():
    """Latent attention's columns, with gradients, and without: on Hopper by a kernel."""
    for dtype in (torch.float32, torch.bfloat16):
        torch._dynamo.reset()
        made = [torch.randn(2, h, t, d, device=DEVICE).to(dtype).requires_grad_()
                for h, t, d in ((8, 3, 576), (1, 70, 576), (1, 70, 512))]
        exact = [x.detach().double().requires_grad_() for x in made]
        run, want = torch.compile(latent, backend="nereid", fullgraph=True), latent(*exact)
        with torch.no_grad():
            off = [(run(*made) - want).abs().max().item()]
        run(*made).double().square().sum().backward()
        want.square().sum().backward()
        off += [((x.grad - y.grad).abs().max() / y.grad.abs().max()).item()
                for x, y in zip(made, exact)]
        tally.check(max(off) < (2e-2 if dtype is torch.bfloat16 else 1e-4),
                    f"latent attention of {dtype}: off by {off}")
        with torch.no_grad():
            page = str(nereid.explain(latent, *made)).splitlines()[0]
        tally.check("0 nodes by PyTorch" in page, f"latent attention of {dtype}: {page}")


def check_widths():
    """Calls are ours up to the columns that kernels have, by device and gradients."""
    from torch.fx.experimental.proxy_tensor import make_fx
    from nereid.torch_backend.base.heads import widths_most
    x = torch.randn(1, 1, 4, 2, device=DEVICE)
    for gradients in False, True:
        most = widths_most(x, gradients)[0]
        for columns, ours in ((most, True), (most + 1, False)):
            q = torch.randn(1, 1, 4, columns, device=DEVICE, requires_grad=gradients)
            graph = make_fx(lambda q: torch.ops.nereid.attend(q, q, q))(q).graph
            found = any("nereid" in str(n.target) for n in graph.nodes)
            tally.check(found == ours, f"{columns} columns: a kernel {found}")
    capability, f16 = 90, 16
    widths = nereid._nereid.attention_widths
    tally.check(widths(capability, f16, False)[0] > widths(capability, f16, True)[0] ==
                widths(0, f16, False)[0], "the columns of latent attention are Hopper's")


def main():
    torch.manual_seed(0)
    check_widths()
    check_latent()
    for kv in 4, 2:
        check_transformer(kv)
    for attend in (whole, efficient) if DEVICE == "cuda" else (whole, flash, efficient, cudnn):
        check_dropout(attend)
    check_calls()
    check_doubles_of_open_heads()
    check_doubles_of_shared_heads()
    check_saved_masks()
    check_spelled_out()
    check_open_sizes()
    check_repeated_heads()
    check_layer()
    return tally.report()


sys.exit(main())
