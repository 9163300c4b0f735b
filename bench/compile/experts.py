"""Mixtures of experts as today's libraries write them, for today.py: a name, and a function that
gives the model, its inputs and the gradient of its result (None: forward alone is timed)."""

import functools


def route(x, router, top):
    import torch

    shares = torch.softmax(x.float() @ router.float(), -1)
    weights, experts = torch.topk(shares, top)
    return (weights / weights.sum(-1, keepdim=True)).to(x.dtype), experts


def swiglu(h):
    import torch

    gate, up = h.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


def ends(experts, n):
    import torch

    return torch.histc(experts.float(), bins=n, min=0, max=n - 1).cumsum(0).to(torch.int32)


def given(x, offs, up, down):
    import torch

    return torch._grouped_mm(swiglu(torch._grouped_mm(x, up, offs=offs)), down, offs=offs)


def summed(x, router, up, down, top):
    """Rows are added where their tokens are."""
    import torch

    weights, experts = route(x, router, top)
    order = torch.argsort(experts.view(-1), stable=True)
    token = order // top
    y = given(x[token], ends(experts.view(-1), up.shape[0]), up, down)
    return torch.zeros_like(x).index_add(0, token, y * weights.view(-1)[order].unsqueeze(-1))


def sorted_back(x, router, up, down, top):
    """As transformers does: rows are brought back to the order of tokens."""
    import torch

    weights, experts = route(x, router, top)
    token = torch.arange(x.shape[0], device=x.device).unsqueeze(1).expand(-1, top).reshape(-1)
    order = torch.argsort(experts.reshape(-1))
    y = given(x[token][order], ends(experts.reshape(-1)[order], up.shape[0]), up, down)
    y = (y * weights.reshape(-1)[order].unsqueeze(-1))[torch.argsort(order)]
    return y.view(x.shape[0], top, x.shape[1]).sum(1)


def scattered(x, router, up, down, top):
    """As torchtitan does: rows are weighted first, and added by scatter_add."""
    import torch

    weights, experts = route(x, router, top)
    order = torch.argsort(experts.view(-1), stable=True)
    index = (order // top).reshape(-1, 1).expand(-1, x.shape[1])
    rows = torch.gather(x, 0, index) * weights.view(-1)[order].reshape(-1, 1)
    y = given(rows, ends(experts.view(-1), up.shape[0]), up, down)
    return torch.zeros_like(x).scatter_add(0, index, y)


def looped(x, router, up, down, top):
    """A loop over experts, as users write it."""
    import torch

    weights, experts = route(x, router, top)
    out = torch.zeros_like(x)
    for e in range(up.shape[0]):
        token, which = torch.where(experts == e)
        y = swiglu(x[token] @ up[e]) @ down[e] * weights[token, which, None]
        out.index_add_(0, token, y)
    return out


def padded(x, router, up, down, top):
    """Each expert has room for so many rows; those beyond it are dropped."""
    import torch

    weights, experts = route(x, router, top)
    n, room = up.shape[0], max(16, 2 * x.shape[0] * top // up.shape[0])
    which = torch.nn.functional.one_hot(experts.view(-1), n)
    place = (which.cumsum(0) * which).sum(-1) - 1
    at = torch.where(place < room, experts.view(-1) * room + place, n * room)
    token = torch.arange(x.shape[0] * top, device=x.device) // top
    box = x.new_zeros(n * room + 1, x.shape[1]).index_put((at,), x[token])
    y = torch.bmm(swiglu(torch.bmm(box[:-1].view(n, room, -1), up)), down).view(n * room, -1)
    y = torch.cat([y, y.new_zeros(1, y.shape[1])])[at].view(x.shape[0], top, -1)
    return (y * weights.unsqueeze(-1)).sum(1)


def problem(form, tokens, width, hidden, experts, top, trains, small=False):
    import torch

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if small:
        tokens, width, hidden = min(tokens, 64), 64, 48

    def draw(scale, *shape):
        return torch.randn(*shape, device=device, dtype=torch.bfloat16) * scale

    inputs = [draw(1, tokens, width), draw(width**-0.5, width, experts),
              draw(width**-0.5, experts, width, 2 * hidden),
              draw(hidden**-0.5, experts, hidden, width)]

    def model(x, router, up, down):
        return form(x, router, up, down, top)

    return model, inputs, draw(1, tokens, width) if trains else None


# name: form, tokens, width, hidden width, experts, of them for a token, is it trained?
CASES = {
    "experts, 32 of 2048x2x1024, 4 each": (summed, 4096, 2048, 1024, 32, 4, True),
    "experts, the same, 16 tokens": (summed, 16, 2048, 1024, 32, 4, False),
    "experts, rows sorted back": (sorted_back, 4096, 2048, 1024, 32, 4, True),
    "experts, scattered rows": (scattered, 4096, 2048, 1024, 32, 4, True),
    "experts, 64 of 2048x2x1408, 6 each": (summed, 4096, 2048, 1408, 64, 6, True),
    "experts, padded": (padded, 4096, 2048, 1024, 32, 4, False),
    "experts, a loop over 8": (looped, 4096, 1024, 1024, 8, 2, False),
}
CASES = {name: functools.partial(problem, *case) for name, case in CASES.items()}
