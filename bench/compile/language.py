"""Language models for today.py: a name, and a function that gives the model, its inputs and the
gradient of its result (None: forward alone is timed).  Logits of a large vocabulary with their
loss, GPT-2 as nanoGPT trains it, and a step of decoding with Llama-3-8B's widths."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

WORDS = 128256


def device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def draw(*shape):
    return torch.randn(*shape, device=device(), dtype=torch.bfloat16)


# ---- logits and their loss ----


def logits_loss(x, weight, target):
    return F.cross_entropy(F.linear(x, weight), target)


def wide_logits_loss(x, weight, target):
    """As libraries write it, whose logits are f32."""
    return F.cross_entropy(F.linear(x, weight).float(), target)


def logits(form, rows, width, words, small=False):
    torch.manual_seed(0)
    if small:
        rows, width, words = 64, 32, 512
    target = torch.randint(0, words, (rows,), device=device())
    inputs = [draw(rows, width), draw(words, width) * width**-0.5, target]
    return form, inputs, torch.ones((), device=device(), dtype=form(*inputs).dtype)


# ---- GPT-2 ----


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (y.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(self.norms[0](x)).split(width, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class GPT(nn.Module):
    def __init__(self, layers, width, heads, words, room):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(room, width)
        self.blocks = nn.Sequential(*(GPTBlock(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, words, target):
        with torch.autocast(words.device.type, torch.bfloat16):
            places = torch.arange(words.shape[1], device=words.device)
            x = self.norm(self.blocks(self.words(words) + self.places(places)))
            logits = F.linear(x, self.words.weight)
            return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def gpt(small=False):
    torch.manual_seed(0)
    layers, width, heads, words, batch, tokens = (
        (2, 32, 2, 128, 2, 32) if small else (12, 768, 12, 50304, 12, 1024))
    with torch.device(device()):
        model = GPT(layers, width, heads, words, tokens)
        given = torch.randint(0, words, (batch, tokens + 1))
        return model, [given[:, :-1].contiguous(), given[:, 1:].contiguous()], torch.ones(())


# ---- a step of decoding ----


class Weight(nn.Module):
    """A linear layer; with `dtype` int8, of integers with a scale of each row."""

    def __init__(self, inputs, outputs, dtype):
        super().__init__()
        weight = draw(outputs, inputs) * inputs**-0.5
        if dtype == torch.int8:
            self.scale = nn.Buffer(weight.abs().amax(1) / 127)
            weight = (weight / self.scale[:, None]).round().to(torch.int8)
        self.weight = nn.Buffer(weight)

    def forward(self, x):
        if self.weight.dtype == torch.int8:
            return F.linear(x, self.weight.to(x.dtype)) * self.scale
        return F.linear(x, self.weight)


def turned(x, turns):
    """Rotates pairs of elements of x [batch, heads, tokens, head] by turns [head / 2, 2]."""
    real, imag = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = turns.unbind(-1)
    y = torch.stack([real * cos - imag * sin, real * sin + imag * cos], -1)
    return y.flatten(-2).type_as(x)


class Layer(nn.Module):
    def __init__(self, width, hidden, heads, shared, room, batch, dtype):
        super().__init__()
        self.heads, self.shared, self.head = heads, shared, width // heads
        self.norms = nn.ModuleList(nn.RMSNorm(width, dtype=torch.bfloat16) for _ in range(2))
        self.qkv = Weight(width, (heads + 2 * shared) * self.head, dtype)
        self.out = Weight(width, width, dtype)
        self.gate, self.up = Weight(width, hidden, dtype), Weight(width, hidden, dtype)
        self.down = Weight(hidden, width, dtype)
        self.keys, self.values = (nn.Buffer(draw(batch, shared, room, self.head))
                                  for _ in range(2))

    def forward(self, x, position, turns, seen):
        batch = x.shape[0]
        q, k, v = (y.unflatten(-1, (-1, self.head)).transpose(1, 2) for y in
                   self.qkv(self.norms[0](x)).split(
                       [n * self.head for n in (self.heads, self.shared, self.shared)], -1))
        self.keys.index_copy_(2, position, turned(k, turns))
        self.values.index_copy_(2, position, v)
        y = F.scaled_dot_product_attention(turned(q, turns), self.keys, self.values,
                                           attn_mask=seen, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, 1, -1))
        h = self.norms[1](x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    mode = "reduce-overhead"  # of torch.compile: a step is one CUDA graph

    def __init__(self, layers, width, hidden, heads, shared, words, room, batch, dtype):
        super().__init__()
        self.words = nn.Embedding(words, width, dtype=torch.bfloat16)
        self.layers = nn.ModuleList(Layer(width, hidden, heads, shared, room, batch, dtype)
                                    for _ in range(layers))
        self.norm = nn.RMSNorm(width, dtype=torch.bfloat16)
        self.logits = Weight(width, words, dtype)
        half = width // heads // 2
        angle = torch.outer(torch.arange(room), 10000.0 ** (-torch.arange(half) / half))
        self.turns = nn.Buffer(torch.stack([angle.cos(), angle.sin()], -1))
        self.places = nn.Buffer(torch.arange(room))

    def forward(self, word, position):
        x, turns = self.words(word), self.turns[position]
        seen = (self.places <= position)[None]
        for layer in self.layers:
            x = layer(x, position, turns, seen)
        logits = self.logits(self.norm(x))[:, -1].float()
        return torch.softmax(logits, -1)


def decode(dtype, batch, small=False):
    torch.manual_seed(0)
    sizes = (2, 64, 96, 4, 2, 256, 64) if small else (4, 4096, 14336, 32, 8, WORDS, 2048)
    with torch.device(device()):
        model = Decoder(*sizes, batch, dtype)
        word = torch.randint(0, sizes[5], (batch, 1))
        return model, [word, torch.tensor([sizes[6] // 2])], None


CASES = {
    "logits and cross entropy": (logits, logits_loss, 4096, 2048, WORDS),
    "logits, f32, and cross entropy": (logits, wide_logits_loss, 8192, 4096, 32000),
    "GPT-2, 12 x 1024 tokens": (gpt,),
    "decoding, 4 layers, bf16": (decode, torch.bfloat16, 1),
    "decoding, 4 layers, int8": (decode, torch.int8, 1),
    "decoding, 4 layers, bf16, 16 at a time": (decode, torch.bfloat16, 16),
}
CASES = {name: functools.partial(*case) for name, case in CASES.items()}
