#!/usr/bin/env python3
"""A model that mixes everything trains and serves by torch.compile(backend="nereid") as it does by
PyTorch: a batch of any size, dropout, a cache that is written in place, a kernel of Nereid's as an
operator of PyTorch's, a graph break, and an operator that Nereid lacks.  On tensors of the CPU, or
with the argument cuda of a GPU."""
import copy, os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid

nereid.install_as_triton()
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import tally

try:
    import torch
    import quick_torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    torch = None
import nereid.language as tl

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
WIDTH, HEADS, LONGEST, ROWS = 16, 2, 8, 6


@nereid.jit
def gate_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    b = tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(out + i, a * tl.sigmoid(b), mask=i < n)


def define():
    """The operator, with its gradient, and the model that has it."""

    @torch.library.triton_op("mixed::gate", mutates_args={})
    def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        n = x.numel()
        torch.library.wrap_triton(gate_kernel)[(nereid.cdiv(n, 64),)](x, y, out, n, B=64)
        return out

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def gradient(ctx, grad):
        x, y = ctx.saved_tensors
        s = torch.sigmoid(y)
        return grad * s, grad * x * s * (1 - s)

    gate.register_autograd(gradient, setup_context=keep)

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(32, WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.gated, self.norm = nn.Linear(WIDTH, 2 * WIDTH), nn.LayerNorm(WIDTH)
            self.register_buffer("keys", torch.zeros(ROWS, LONGEST, HEADS, WIDTH // HEADS))
            self.register_buffer("values", torch.zeros(ROWS, LONGEST, HEADS, WIDTH // HEADS))
            self.rate = 0.25

        def attend(self, x, place):
            rows, length, _ = x.shape
            q, k, v = self.qkv(x).view(rows, length, 3, HEADS, -1).unbind(2)
            if place is not None:
                self.keys[:rows, place:place + length].copy_(k)
                self.values[:rows, place:place + length].copy_(v)
                k, v = self.keys[:rows, :place + length], self.values[:rows, :place + length]
            y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)),
                                               is_causal=place is None)
            return self.out(y.transpose(1, 2).reshape(rows, length, WIDTH))

        def forward(self, tokens, place=None):
            x = self.words(tokens)
            x = x + F.dropout(self.attend(x, place), self.rate, self.training)
            torch._dynamo.graph_break()
            a, b = self.gated(self.norm(x)).chunk(2, -1)
            x = x + gate(a.contiguous(), b.contiguous())
            # Eigenvalues of any matrix are no operator of Nereid's.
            turn = torch.eye(WIDTH, device=x.device) + 0.1 * self.out.weight
            return x * torch.linalg.eigvals(turn).abs().mean() @ self.words.weight.t()

    return Mixed


def losses(model, call, rate):
    """A training over batches of several sizes."""
    model.rate = rate
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    draw = torch.Generator().manual_seed(1)
    found = []
    for step in range(12):
        tokens = torch.randint(0, 32, (2 + step % 4, LONGEST), generator=draw).to(DEVICE)
        tokens[:, 1:] = (tokens[:, :1] + torch.arange(1, LONGEST, device=DEVICE)) % 32
        logits = call(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def check_training(model, compiled):
    eager = copy.deepcopy(model)
    want, got = losses(eager, eager, 0.0), losses(model, compiled, 0.0)
    apart = max(abs(a - b) for a, b in zip(got, want))
    tally.check(apart < 1e-3, f"without dropout the loss is {apart:.3g} from PyTorch's")
    dropped = losses(model, compiled, 0.25)
    tally.check(dropped[-1] < got[0], f"with dropout the loss goes from {got[0]:.3g} to "
                f"{dropped[-1]:.3g}")
    torch.manual_seed(5)
    tokens = torch.arange(14, device=DEVICE).view(2, 7)
    first = compiled(tokens).detach()
    second = compiled(tokens).detach()
    torch.manual_seed(5)
    again = compiled(tokens).detach()
    tally.check(torch.equal(first, again), "a seed of PyTorch's decides what is dropped")
    tally.check(not torch.equal(first, second), "each call drops others")


def gradients(model, call, tokens, seed):
    """The loss, and the gradient of each parameter."""
    torch.manual_seed(seed)
    model.zero_grad()
    loss = F.cross_entropy(call(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    return loss.item(), {name: p.grad.clone() for name, p in model.named_parameters()}


def check_gradients(model, compiled):
    """Gradients are PyTorch's: without dropout, and where PyTorch's own operators drop."""
    eager = copy.deepcopy(model)
    same = torch.compile(model, backend="nereid", dynamic=True, options={"fallback_random": True})
    for what, call, rate in (("no dropout", compiled, 0.0), ("PyTorch's dropout", same, 0.25)):
        for one in (model, eager):
            one.rate = rate
            one.train()
        for rows in (2, 5, 3):
            tokens = torch.arange(rows * LONGEST, device=DEVICE).view(rows, LONGEST) * 7 % 32
            loss, got = gradients(model, call, tokens, rows)
            right, want = gradients(eager, eager, tokens, rows)
            tally.check(abs(loss - right) < 1e-4, f"{what}, {rows} rows: {loss}, not {right}")
            for name, value in want.items():
                far = (got[name] - value).abs().max().item() / value.abs().max().item()
                tally.check(far < 1e-3, f"{what}, {rows} rows: {name}'s gradient is {far:.3g} off")


def check_dropped_gradients(model, compiled):
    """The backward pass drops what the forward pass dropped: gradients are the loss's slope."""
    model.rate = 0.25
    model.train()
    tokens = torch.arange(4 * LONGEST, device=DEVICE).view(4, LONGEST) * 5 % 32
    _, slopes = gradients(model, compiled, tokens, 7)
    for name, parameter in model.named_parameters():
        along, losses = slopes[name] / slopes[name].norm(), []
        for step in (0.01, -0.01):
            with torch.no_grad():
                parameter.add_(along, alpha=step)
            losses.append(gradients(model, compiled, tokens, 7)[0])
            with torch.no_grad():
                parameter.sub_(along, alpha=step)
        slope, want = (losses[0] - losses[1]) / 0.02, slopes[name].norm().item()
        tally.check(abs(slope - want) < 0.02 * want + 1e-3,
                    f"with dropout the slope along {name} is {slope:.4g}, not {want:.4g}")


def check_serving(model, compiled):
    """Prompts, then a token at a time; the cache has what PyTorch writes into it."""
    model.eval()
    eager = copy.deepcopy(model)
    for rows in (3, 5, 2):
        tokens = torch.arange(rows * LONGEST, device=DEVICE).view(rows, LONGEST) % 32
        for place, length in ((0, 3), (3, 1), (4, 1), (5, 1)):
            part = tokens[:, place:place + length]
            with torch.no_grad():
                got, want = compiled(part, place), eager(part, place)
            close = torch.allclose(got, want, rtol=1e-4, atol=1e-4)
            tally.check(close, f"{rows} rows, token {place}: other logits")
        same = (torch.allclose(model.keys, eager.keys, atol=1e-5)
                and torch.allclose(model.values, eager.values, atol=1e-5))
        tally.check(same, f"{rows} rows: another cache")


def check_fallbacks():
    """What Nereid lacks is run by PyTorch, and nothing else."""
    from nereid import torch_backend

    names = {str(node.target) for program in torch_backend._programs for node in program.reasons}
    tally.check(any("linalg_eig" in name for name in names), f"{names} has no eigenvalues")
    known = ("linalg_", "with_effects", "triton_kernel", "native_dropout", "seeds", "index_put",
             "mixed")
    others = {name for name in names if not any(word in name for word in known)}
    tally.check(not others, f"PyTorch runs {others}, too")
    breaks = torch._dynamo.utils.counters["graph_break"]
    tally.check(sum(breaks.values()) > 0, "the graph has no break")


def main():
    torch.manual_seed(0)
    torch._dynamo.utils.counters.clear()
    model = define()().to(DEVICE)
    compiled = torch.compile(model, backend="nereid", dynamic=True)
    check_training(model, compiled)
    check_gradients(model, compiled)
    check_dropped_gradients(model, compiled)
    check_serving(model, compiled)
    check_fallbacks()


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        from nereid import torch_backend

        torch_backend._programs.keep()
        main()
    sys.exit(tally.report())
