"""Models of cpu.py for text and speech with encoders, decoders, experts and recurrent layers, of
PyTorch's own modules, with random weights."""

from __future__ import annotations


def attention(width, heads, inner=None, biased=True):
    """Attention of x to y, as a module: a bias of scores, or causal, or neither."""
    from torch import nn
    from torch.nn import functional as F
    inner = inner or width

    class Attend(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(width, inner, bias=biased) for _ in range(3))
            self.out = nn.Linear(inner, width, bias=biased)

        def forward(self, x, y, bias=None, causal=False, scale=None):
            q, k, v = (m(u).unflatten(-1, (heads, -1)).transpose(1, 2)
                       for m, u in ((self.q, x), (self.k, y), (self.v, y)))
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=causal,
                                               scale=scale)
            return self.out(z.transpose(1, 2).flatten(2))

    return Attend()


def whisper():
    """Whisper-tiny: 30 s of sound, and 16 tokens."""
    import torch
    from torch import nn
    width, words = 384, 51865

    class Layer(nn.Module):
        def __init__(self, cross):
            super().__init__()
            self.attend, self.norm = attention(width, 6), nn.LayerNorm(width)
            if cross:
                self.cross, self.cross_norm = attention(width, 6), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                     nn.Linear(4 * width, width))

        def forward(self, x, sound=None):
            y = self.norm(x)
            x = x + self.attend(y, y, causal=sound is not None)
            if sound is not None:
                x = x + self.cross(self.cross_norm(x), sound)
            return x + self.mlp(x)

    class Whisper(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.Sequential(nn.Conv1d(80, width, 3, padding=1), nn.GELU(),
                                       nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
            self.times = nn.Parameter(torch.randn(1500, width) * 0.02)
            self.encoder = nn.Sequential(*[Layer(False) for _ in range(4)], nn.LayerNorm(width))
            self.words = nn.Embedding(words, width)
            self.places = nn.Parameter(torch.randn(448, width) * 0.02)
            self.decoder = nn.ModuleList([Layer(True) for _ in range(4)])
            self.norm = nn.LayerNorm(width)

        def forward(self, mel, ids):
            sound = self.encoder(self.convs(mel).transpose(1, 2) + self.times)
            x = self.words(ids) + self.places[:ids.shape[1]]
            for layer in self.decoder:
                x = layer(x, sound)
            return self.norm(x) @ self.words.weight.t()

    return Whisper(), (torch.randn(1, 80, 3000), torch.randint(0, words, (1, 16)))


def t5():
    """T5-small: norms without means, attention without a scale, biases by distance."""
    import torch
    from torch import nn
    width, heads = 512, 8

    class Layer(nn.Module):
        def __init__(self, cross):
            super().__init__()
            self.norms = nn.ModuleList([nn.RMSNorm(width, eps=1e-6) for _ in range(2 + cross)])
            self.parts = nn.ModuleList([attention(width, heads, 512, False)
                                        for _ in range(1 + cross)])
            self.mlp = nn.Sequential(nn.Linear(width, 2048, bias=False), nn.ReLU(),
                                     nn.Linear(2048, width, bias=False))

        def forward(self, x, bias, other=None):
            y = self.norms[0](x)
            x = x + self.parts[0](y, y, bias, scale=1.0)
            if other is not None:
                x = x + self.parts[1](self.norms[1](x), other, scale=1.0)
            return x + self.mlp(self.norms[-1](x))

    class Stack(nn.Module):
        def __init__(self, cross):
            super().__init__()
            self.layers = nn.ModuleList([Layer(cross) for _ in range(6)])
            self.norm, self.bias = nn.RMSNorm(width, eps=1e-6), nn.Embedding(32, heads)
            self.cross = cross

        def forward(self, x, other=None):
            at = torch.arange(x.shape[1])
            far = at[:, None] - at
            near = far.clamp(min=0) if self.cross else far.abs()
            log = (near.clamp(min=1).float() / 8).log() / 2.7725887 * 8
            bucket = torch.where(near < 8, near, (8 + log.long()).clamp(max=15))
            bucket = bucket + (0 if self.cross else 16 * (far < 0))
            bias = self.bias(bucket).permute(2, 0, 1)[None]
            if self.cross:
                bias = bias.masked_fill(far < 0, float("-inf"))
            for layer in self.layers:
                x = layer(x, bias, other)
            return self.norm(x)

    class T5(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(32128, width)
            nn.init.normal_(self.words.weight, std=0.05)
            self.encoder, self.decoder = Stack(False), Stack(True)

        def forward(self, ids, outputs):
            sound = self.encoder(self.words(ids))
            return self.decoder(self.words(outputs), sound) @ self.words.weight.t()

    return T5(), tuple(torch.randint(0, 32128, (2, n)) for n in (64, 32))


def experts():
    """A small Mixtral: the best two of eight experts for each token, all of whom compute all
    tokens, with rotary positions and heads that share keys."""
    import torch
    from torch import nn
    from torch.nn import functional as F
    width, inner, count, heads, shared, size = 256, 512, 8, 8, 2, 32

    def turned(x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
            self.q = nn.Linear(width, heads * size, bias=False)
            self.k, self.v = (nn.Linear(width, shared * size, bias=False) for _ in range(2))
            self.out = nn.Linear(heads * size, width, bias=False)
            self.gate = nn.Linear(width, count, bias=False)
            self.up, self.side = (nn.Parameter(torch.randn(count, width, inner) * 0.05)
                                  for _ in range(2))
            self.down = nn.Parameter(torch.randn(count, inner, width) * 0.05)

        def attend(self, x, cos, sin):
            q, k, v = (m(x).unflatten(-1, (-1, size)).transpose(1, 2)
                       for m in (self.q, self.k, self.v))
            y = F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v,
                                               is_causal=True, enable_gqa=True)
            return self.out(y.transpose(1, 2).flatten(2))

        def mix(self, x):
            tokens = x.flatten(0, 1)
            best, which = self.gate(tokens).softmax(-1).topk(2, -1)
            best = best / best.sum(-1, keepdim=True)
            share = torch.zeros_like(tokens[:, :count]).scatter(1, which, best)
            y = F.silu(tokens @ self.up) * (tokens @ self.side)
            return ((y @ self.down) * share.t()[:, :, None]).sum(0).view_as(x)

        def forward(self, x, cos, sin):
            x = x + self.attend(self.norm1(x), cos, sin)
            return x + self.mix(self.norm2(x))

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(4096, width)
            self.layers = nn.ModuleList([Layer() for _ in range(4)])
            self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, 4096, bias=False)

        def forward(self, ids):
            turns = torch.arange(ids.shape[1])[:, None] / 10000 ** (torch.arange(16) / 16)
            turns = torch.cat([turns, turns], -1)
            cos, sin = turns.cos(), turns.sin()
            x = self.words(ids)
            for layer in self.layers:
                x = layer(x, cos, sin)
            return self.head(self.norm(x))

    return Experts(), (torch.randint(0, 4096, (2, 64)),)


def recurrent(kind):
    """TorchDynamo compiles these where torch._dynamo.config.allow_rnn is set."""
    import torch
    from torch import nn

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = getattr(nn, kind)(256, 512, batch_first=True)
            self.head = nn.Linear(512, 32)

        def forward(self, x):
            return self.head(self.layer(x)[0][:, -1])

    return Last(), (torch.randn(8, 64, 256),)


def lstm():
    return recurrent("LSTM")


def gru():
    return recurrent("GRU")


TEXT = {f.__name__: f for f in (whisper, t5, experts, lstm, gru)}
