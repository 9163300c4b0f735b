#!/usr/bin/env python3
"""Trains a GPT-2 by torch.compile(backend="nereid"), on text that a Markov chain draws.

    python train_gpt2.py [--device cuda|cpu] [--steps N] [--backend nereid|eager|inductor]

On a GPU the model has the published size (124 million parameters), on a CPU a small one.
"""
import argparse
import math
import time

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True,
                                           dropout_p=self.dropout if self.training else 0.0)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(width), Attention(width, heads, dropout)
        self.norm_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class GPT2(nn.Module):
    def __init__(self, vocabulary, length, width, heads, layers, dropout):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                near_output = name.endswith(("attention.out.weight", "mlp.2.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers if near_output else 1))

    def forward(self, tokens, targets):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.words.weight.t()
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def chain(vocabulary, generator):
    """For each token the four that may come after it."""
    return torch.randint(0, vocabulary, (vocabulary, 4), generator=generator)


def draw(table, batch, length, generator):
    """`batch` texts of length + 1 tokens."""
    tokens = torch.randint(0, len(table), (batch, 1), generator=generator)
    for _ in range(length):
        choice = torch.randint(0, table.shape[1], (batch,), generator=generator)
        tokens = torch.cat([tokens, table[tokens[:, -1], choice][:, None]], 1)
    return tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--backend", default="nereid")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    large = options.device.startswith("cuda")
    vocabulary, length, batch = (50304, 1024, 4) if large else (128, 32, 4)
    width, heads, layers = (768, 12, 12) if large else (32, 2, 2)

    torch.manual_seed(options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    table = chain(vocabulary, generator)
    model = GPT2(vocabulary, length, width, heads, layers, options.dropout).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4 if large else 1e-2,
                                  weight_decay=0.1, fused=large)
    compiled = torch.compile(model, backend=options.backend)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters on {options.device}")
    for step in range(options.steps):
        tokens = draw(table, batch, length, generator).to(options.device)
        start = time.perf_counter()
        with torch.autocast(options.device.split(":")[0], torch.bfloat16, enabled=large):
            loss = compiled(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        value = loss.item()  # waits for the device
        seconds = time.perf_counter() - start
        print(f"step {step:3}  loss {value:.4f}  {seconds * 1e3:9.1f} ms  "
              f"{batch * length / seconds:10,.0f} tokens/s")


main()
