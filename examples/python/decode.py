"""Decodes tokens with a Llama-like model, as gpt-fast does: keys and values are kept in caches that
a step changes in place, the position is a number on the device, and a step with its sampling is
compiled once, as one CUDA graph on a GPU.  Runs on a GPU or a CPU, with random weights.

    decode.py [--attention sdpa|flex] [--batch N] [--tokens N] [--layers N] [--width N] ...
"""
import argparse
import sys
import time
from dataclasses import dataclass

import nereid  # noqa: F401: registers the backend

try:
    import torch
except ImportError:
    print("this example runs a model of PyTorch: pip install torch")
    sys.exit()
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


@dataclass
class Sizes:
    layers: int = 2
    width: int = 64
    hidden: int = 160
    heads: int = 4
    shared: int = 2  # heads of keys and values
    words: int = 256
    room: int = 256  # of the caches, in tokens

    @property
    def head(self):
        return self.width // self.heads


def turned(x, turns):
    """Rotates pairs of elements of x [batch, tokens, heads, head] by [tokens, head / 2, 2]."""
    pairs = x.float().unflatten(-1, (-1, 2))
    cos, sin = turns[:, None, :, 0], turns[:, None, :, 1]
    real, imag = pairs[..., 0], pairs[..., 1]
    y = torch.stack([real * cos - imag * sin, real * sin + imag * cos], -1)
    return y.flatten(-2).type_as(x)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5)
        return y.type_as(x) * self.weight


class Attention(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.qkv = nn.Linear(sizes.width, (sizes.heads + 2 * sizes.shared) * sizes.head, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def set_caches(self, batch):
        s = self.sizes
        for name in ("keys", "values"):
            cache = self.out.weight.new_zeros(batch, s.shared, s.room, s.head)
            self.register_buffer(name, cache, persistent=False)

    def forward(self, x, turns, mask, position):
        s, (batch, tokens, _) = self.sizes, x.shape
        q, k, v = self.qkv(x).unflatten(-1, (-1, s.head)).split([s.heads, s.shared, s.shared], 2)
        q, k, v = (y.transpose(1, 2) for y in (turned(q, turns), turned(k, turns), v))
        self.keys[:, :, position] = k
        self.values[:, :, position] = v
        grouped = s.heads != s.shared
        if isinstance(mask, torch.Tensor):
            y = F.scaled_dot_product_attention(
                q, self.keys, self.values, attn_mask=mask, enable_gqa=grouped)
        else:
            y = flex_attention(q, self.keys, self.values, block_mask=mask, enable_gqa=grouped)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, -1))


class FeedForward(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.gate = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.up = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, sizes.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.attention_norm, self.norm = Norm(sizes.width), Norm(sizes.width)
        self.attention, self.feed_forward = Attention(sizes), FeedForward(sizes)

    def forward(self, x, turns, mask, position):
        x = x + self.attention(self.attention_norm(x), turns, mask, position)
        return x + self.feed_forward(self.norm(x))


class Decoder(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.words, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm = Norm(sizes.width)
        self.logits = nn.Linear(sizes.width, sizes.words, bias=False)

    def set_caches(self, batch):
        for block in self.blocks:
            block.attention.set_caches(batch)
        s, weight = self.sizes, self.logits.weight
        speed = 10000.0 ** (-torch.arange(0, s.head, 2, device=weight.device).float() / s.head)
        angle = torch.outer(torch.arange(s.room, device=weight.device), speed)
        turns = torch.stack([angle.cos(), angle.sin()], -1)
        self.register_buffer("turns", turns.to(weight.dtype), persistent=False)

    def forward(self, words, position, mask):
        x, turns = self.embedding(words), self.turns[position]
        for block in self.blocks:
            x = block(x, turns, mask, position)
        return self.logits(self.norm(x))


def causal(b, h, q, kv):
    return q >= kv


def masked(form, whole, position, room):
    """The rows of the causal mask at `position`: a tensor, or a block mask for FlexAttention."""
    if form == "sdpa":
        return whole[position][None, None]
    mask = whole[:, :, position // whole.BLOCK_SIZE[0]]
    first = position[0]
    mask.mask_mod = lambda b, h, q, kv: causal(b, h, q + first, kv)
    mask.seq_lengths = (position.shape[0], room)
    return mask


def sample(logits, temperature, top):
    """Draws a word for each row by the k most probable ones, without waiting for the device."""
    logits = logits[:, -1].float() / max(temperature, 1e-5)
    least = torch.topk(logits, min(top, logits.shape[-1])).values[:, -1:]
    p = torch.softmax(torch.where(logits < least, -float("inf"), logits), -1)
    return torch.argmax(p / torch.empty_like(p).exponential_(1), -1, keepdim=True)


def step(model, words, position, whole, form, temperature, top):
    mask = masked(form, whole, position, model.sizes.room)
    return sample(model(words, position, mask), temperature, top)


@torch.no_grad()
def generate(model, prompt, tokens, form, one, temperature=0.8, top=20):
    """`tokens` words after the prompt [batch, words]; `one` is `step`, or that compiled."""
    batch, length = prompt.shape
    room, device = model.sizes.room, prompt.device
    position = torch.arange(length, device=device)
    dense = torch.ones(room, room, dtype=torch.bool, device=device).tril()
    word = sample(model(prompt, position, masked("sdpa", dense, position, room)), temperature, top)
    whole = dense
    if form == "flex":
        whole = create_block_mask(causal, None, None, room, room, device=device)
    words, position = [word], torch.tensor([length], device=device)
    for _ in range(tokens - 1):
        word = one(model, word, position, whole, form, temperature, top).clone()
        words.append(word)
        position += 1
    return torch.cat(words, 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--attention", choices=("sdpa", "flex"), default="sdpa")
    p.add_argument("--batch", type=int, default=2)
    p.add_argument("--tokens", type=int, default=16)
    p.add_argument("--dtype", default="float32")
    for name, value in vars(Sizes()).items():
        p.add_argument(f"--{name}", type=int, default=value)
    a = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = Decoder(Sizes(**{name: getattr(a, name) for name in vars(Sizes())}))
    model = model.to(device, getattr(torch, a.dtype)).eval()
    model.set_caches(a.batch)
    prompt = torch.randint(model.sizes.words, (a.batch, 8), device=device)
    greedy = dict(temperature=0.8, top=1)  # so that both sides draw the same words
    expected = generate(model, prompt, a.tokens, a.attention, step, **greedy)
    mode = "reduce-overhead" if device == "cuda" else None  # a CUDA graph
    compiled = torch.compile(step, backend="nereid", mode=mode, fullgraph=True)
    begin = time.perf_counter()
    words = generate(model, prompt, a.tokens, a.attention, compiled, **greedy)
    seconds = time.perf_counter() - begin
    print(f"{a.tokens} words on {device}, compiled in them: {seconds:.1f} s")
    same = (words == expected).float().mean().item()
    print(f"words as PyTorch's: {same:.0%}")
    begin = time.perf_counter()
    words = generate(model, prompt, a.tokens, a.attention, compiled).tolist()
    rate = a.batch * a.tokens / (time.perf_counter() - begin)
    print(f"drawn words of the first prompt: {words[0]}; {rate:.0f} words a second")
    assert same == 1 or a.dtype != "float32"


main()
