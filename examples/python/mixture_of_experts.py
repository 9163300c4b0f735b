"""A mixture of experts that trains by torch.compile: tokens are sorted by expert, each expert's are
multiplied by its own matrices (torch._grouped_mm), and results are added up with their weights.
How many tokens an expert has is known on the device alone.  Runs on a GPU or a CPU.

    mixture_of_experts.py [TOKENS EXPERTS WIDTH HIDDEN]
"""
import sys
import time

import nereid  # noqa: F401: registers the backend

try:
    import torch
except ImportError:
    print("this example trains a model of PyTorch: pip install torch")
    sys.exit()
import torch.nn.functional as F

TOP = 2


class Experts(torch.nn.Module):
    def __init__(self, experts, width, hidden):
        super().__init__()
        self.router = torch.nn.Linear(width, experts, bias=False)
        self.up = torch.nn.Parameter(torch.randn(experts, width, 2 * hidden) * width**-0.5)
        self.down = torch.nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)

    def forward(self, x):
        weights, chosen = torch.topk(torch.softmax(self.router(x).float(), -1), TOP)
        weights = weights / weights.sum(-1, keepdim=True)
        order = torch.argsort(chosen.view(-1), stable=True)
        token = order // TOP
        experts = self.up.shape[0]
        count = torch.histc(chosen.float(), bins=experts, min=0, max=experts - 1)
        ends = count.cumsum(0, dtype=torch.int32)
        rows, up, down = (t.bfloat16() for t in (x[token], self.up, self.down))
        gate, value = torch._grouped_mm(rows, up, offs=ends).chunk(2, -1)
        y = torch._grouped_mm(F.silu(gate) * value, down, offs=ends)
        y = y * weights.view(-1)[order].unsqueeze(-1)
        return torch.zeros_like(x).index_add(0, token, y.to(x.dtype))


def train(model, x, target, steps=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
    losses = []
    for _ in range(steps):
        loss = (model(x) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


def main():
    tokens, experts, width, hidden = map(int, sys.argv[1:]) if sys.argv[1:] else (64, 8, 32, 64)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = Experts(experts, width, hidden).to(device)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    x = torch.randn(tokens, width, device=device)
    target = torch.randn(tokens, width, device=device)
    expected = train(model, x, target)
    model.load_state_dict(start)
    compiled = torch.compile(model, backend="nereid")
    begin = time.perf_counter()
    losses = train(compiled, x, target)
    print(f"20 steps on {device}, compiled in them: {time.perf_counter() - begin:.1f} s")
    for step in (0, 1, 10, 19):
        print(f"step {step:2}: loss {losses[step]:.5f}, in PyTorch {expected[step]:.5f}")
    assert losses[-1] < losses[0] and abs(losses[-1] - expected[-1]) < 0.05 * expected[-1]


main()
