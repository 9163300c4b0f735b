#!/usr/bin/env python3
"""Weights that change between calls in the ways that users have, in training and in inference:
torch.compile(backend="nereid") against eager PyTorch with the same weights."""
import copy, os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
    from torch import nn
except ImportError:
    torch = None

TOLERANCE = 1e-3  # of the norm


def make():
    """Windows, statistics, products of so many rows that operands are packed, and tied weights."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 48, 3, 2, 1, bias=False)
            self.norm = nn.BatchNorm2d(48)
            self.window = nn.Conv2d(48, 48, 3, 1, 1, groups=48, bias=False)
            self.up, self.down = nn.Linear(48, 130), nn.Linear(130, 48)
            self.tied = nn.Linear(48, 130, bias=False)
            self.tied.weight = self.up.weight

        def forward(self, x):
            x = nn.functional.silu(self.norm(self.window(self.first(x))))
            x = x.permute(0, 2, 3, 1).reshape(-1, 48)
            return self.down(nn.functional.gelu(self.up(x))) + self.tied(x)[:, :48]

    return Net()


def scale_state(net):
    net.load_state_dict({k: v * 0.9 if v.is_floating_point() else v
                         for k, v in net.state_dict().items()})


def replace_data(net):
    net.first.weight.data = net.first.weight.data.clone().neg()


def write_by_numpy(net):
    net.up.weight.detach().numpy()[:] *= 1.5


def set_storage(net):
    net.down.weight.set_(net.down.weight.clone() * 2)


CHANGES = {
    "nothing": lambda net: None,
    ".data": lambda net: net.up.weight.data.mul_(-0.5),
    "copy_": lambda net: net.down.weight.copy_(net.down.weight.flip(0)),
    "set_": set_storage,
    "load_state_dict": scale_state,
    ".data is another tensor": replace_data,
    "NumPy": write_by_numpy,
}


def agree(x, y):
    return (x - y).norm() <= TOLERANCE * (y.norm() + 1e-6)


def step(name, net, compiled, eager):
    with torch.no_grad():
        CHANGES[name](net)
    eager.load_state_dict(net.state_dict())
    x = torch.randn(3, 3, 32, 32)
    results = [model(x) for model in (compiled, eager)]
    tally.check(agree(*results), f"{name}: results differ from eager's")
    for result, model in zip(results, (net, eager)):
        model.zero_grad()
        result.square().mean().backward()
    wrong = [key for (key, p), (_, q) in zip(net.named_parameters(), eager.named_parameters())
             if not agree(p.grad, q.grad)]
    tally.check(not wrong, f"{name}: gradients of {wrong} differ from eager's")


def check_frozen():
    """The option `freezing`: weights are constants until three changes were seen."""
    import nereid.torch_backend as backend

    torch.manual_seed(0)
    net = make().eval()
    eager, x = copy.deepcopy(net), torch.randn(3, 3, 32, 32)
    compiled = torch.compile(net, backend="nereid", options={"freezing": True})
    held = []
    for name in ("nothing", "copy_", "load_state_dict", ".data is another tensor", "set_",
                 ".data", "NumPy"):
        with torch.no_grad():
            CHANGES[name](net)
            eager.load_state_dict(net.state_dict())
            tally.check(agree(compiled(x), eager(x)), f"{name}: frozen weights are not eager's")
        held.append(sum(one.held is not None for one in [*backend._programs][-1].segments))
    tally.check(held == [1, 1, 1, 1, 0, 0, 0], f"segments with constants after changes: {held}")
    net.zero_grad()
    compiled(x).square().mean().backward()
    tally.check(net.first.weight.grad is not None, "frozen weights have no gradients")
    with torch.no_grad():  # another graph holds them again, and does not see what nothing counts
        torch._dynamo.reset()
        compiled = torch.compile(net, backend="nereid", options={"freezing": True})
        first = compiled(x)
        net.up.weight.data.mul_(2)
        tally.check(torch.equal(compiled(x), first), "a write through .data is seen")
    net(x).square().mean().backward()
    torch.optim.AdamW(net.parameters(), 1e-2, fused=True).step()
    with torch.no_grad():
        tally.check(agree(compiled(x), net(x)), "a fused optimizer's step is not seen")


def fields(q):
    """Two numbers of four bits in each byte, as rows."""
    return torch.stack([q & 15, q >> 4], -1).reshape(*q.shape[:-1], -1).float()


def check_fields():
    """One and two rows by weights of four bits that are made of two tensors, of one in two orders,
    and of a number for each element of the sum."""
    q = torch.randint(0, 256, (64, 64), dtype=torch.uint8)
    forms = {"two tensors": lambda x, q, p, s: fields(q) * fields(p),
             "another order": lambda x, q, p, s: fields(q) * fields(p.flip(1)),
             "turned": lambda x, q, p, s: fields(q.t()) * fields(q),
             "words turned": lambda x, q, p, s: fields(q) * fields(
                 p.view(64, 4, 16).transpose(1, 2).reshape(64, 64)),
             "one for each": lambda x, q, p, s: fields(q) * s}
    for name, weight in forms.items():
        for rows in 1, 2, 3:
            torch._dynamo.reset()
            given = torch.randn(rows, 128), q, q.flip(0), torch.randn(128)

            def product(*given):
                return given[0] @ weight(*given).t()

            got = torch.compile(product, backend="nereid")(*given)
            tally.check(agree(got, product(*given)), f"{rows} rows by fields, {name}")


def main():
    torch.manual_seed(0)
    net = make()
    eager, compiled = copy.deepcopy(net), torch.compile(net, backend="nereid")
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, foreach=True)
    for name in CHANGES:
        step(name, net, compiled, eager)
        optimizer.step()
        eager.load_state_dict(net.state_dict())
        net.eval(), eager.eval()
        x = torch.randn(3, 3, 32, 32)
        with torch.no_grad():
            tally.check(agree(compiled(x), eager(x)), f"{name}, a step later: inference differs")
        net.train(), eager.train()


if torch is None:
    print("1 skipped: no torch")
    tally.check(True, "")
else:
    main()
    check_frozen()
    check_fields()
sys.exit(tally.report())
