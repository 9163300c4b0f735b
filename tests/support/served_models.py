"""Three models as servers of language models run them: all tokens of a batch are rows, and
attention is an operator between the pieces that are compiled."""
import torch

D, HEADS, FREEDOM = 64, 4, 16
NN = torch.nn.functional


def _attend(q, k, v, out):
    size = q.shape[-1] ** -0.5
    scores = torch.einsum("qhd,khd->hqk", q, k) * size
    later = torch.ones(scores.shape[1:], dtype=torch.bool, device=q.device).triu(1)
    out.copy_(torch.einsum("hqk,khd->qhd", scores.masked_fill(later, float("-inf")).softmax(-1), v))


_library = torch.library.Library("served", "DEF")
_library.define("attend(Tensor q, Tensor k, Tensor v, Tensor(a!) out) -> ()")
_library.impl("attend", _attend, "CompositeExplicitAutograd")
_library.impl("attend", lambda q, k, v, out: None, "Meta")


def attend(q, k, v):
    out = torch.empty_like(q)
    torch.ops.served.attend(q, k, v, out)
    return out


def rotate(x, cosine, sine):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


class Layer(torch.nn.Module):
    """`kind` is "llama", "qwen" (norms of heads, biases) or "experts"."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        linear = torch.nn.Linear
        self.qkv = linear(D, 2 * D, bias=kind == "qwen")  # two heads of keys and values
        self.out = linear(D, D, bias=False)
        self.norms = torch.nn.ParameterList(torch.rand(D) + 0.5 for _ in range(2))
        if kind == "qwen":
            self.heads = torch.nn.ParameterList(torch.rand(FREEDOM) + 0.5 for _ in range(2))
        if kind == "experts":
            self.gate = linear(D, 6, bias=False)
            self.up = torch.nn.Parameter(torch.randn(6, D, 64) / 8)
            self.down = torch.nn.Parameter(torch.randn(6, 32, D) / 8)
        else:
            self.up, self.down = linear(D, 256, bias=False), linear(128, D, bias=False)

    def experts(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        weights = weights / weights.sum(-1, keepdim=True)
        share = torch.zeros(x.shape[0], 6, device=x.device).scatter(1, chosen, weights)
        a, b = torch.einsum("td,edf->etf", x, self.up).chunk(2, -1)
        made = torch.einsum("etf,efd->etd", NN.silu(a) * b, self.down)
        return torch.einsum("etd,te->td", made, share)

    def forward(self, x, cosine, sine):
        h = NN.rms_norm(x, (D,), self.norms[0])
        q, k, v = self.qkv(h).split((D, D // 2, D // 2), -1)
        q, k, v = (part.view(-1, part.shape[-1] // FREEDOM, FREEDOM) for part in (q, k, v))
        if self.kind == "qwen":
            q, k = (NN.rms_norm(part, (FREEDOM,), scale) for part, scale in zip((q, k), self.heads))
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        k, v = (part.repeat_interleave(2, 1) for part in (k, v))
        x = x + self.out(attend(q, k, v).view(-1, D))
        h = NN.rms_norm(x, (D,), self.norms[1])
        if self.kind == "experts":
            return x + self.experts(h)
        a, b = self.up(h).chunk(2, -1)
        return x + self.down(NN.silu(a) * b)


class Served(torch.nn.Module):
    def __init__(self, kind, layers=3):
        super().__init__()
        torch.manual_seed(3)
        self.embedding = torch.nn.Embedding(100, D)
        self.layers = torch.nn.ModuleList(Layer(kind) for _ in range(layers))
        self.requires_grad_(False)

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        steps = torch.arange(1, FREEDOM // 2 + 1, device=x.device)
        angles = positions[:, None].float() / steps
        cosine, sine = angles.cos()[:, None], angles.sin()[:, None]
        for layer in self.layers:
            x = layer(x, cosine, sine)
        return x


KINDS = ("llama", "qwen", "experts")
SPLITS = "served::attend"


def call_of(count):
    """Inputs of a call with so many tokens."""
    made = torch.Generator().manual_seed(count)
    return torch.randint(100, (count,), generator=made), torch.arange(count)
