"""Attention with functions of scores and masks of your own (FlexAttention), in one kernel: texts of
several lengths in one row, each token sees 64 before it in its own text, and a slope of each head
makes far ones count less.  Runs on a GPU or a CPU; on a GPU it also trains the slopes.

    flex_attention.py [ROWS HEADS TOKENS SIZE]
"""
import sys
import time

import nereid  # noqa: F401: registers the backend

try:
    import torch
except ImportError:
    print("this example runs a function of PyTorch: pip install torch")
    sys.exit()
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

WINDOW = 64


def texts_of(rows, tokens, device):
    """The number of the text that each token belongs to: an example of lengths."""
    ends = torch.rand(rows, tokens, device=device) < 0.01
    return ends.cumsum(1)


def attend(q, k, v, slopes, texts):
    def see(b, h, i, j):
        return (i >= j) & (i - j < WINDOW) & (texts[b, i] == texts[b, j])

    def score(value, b, h, i, j):
        return value - slopes[h] * (i - j)

    rows, heads, tokens, _ = q.shape
    mask = create_block_mask(see, rows, None, tokens, tokens, device=q.device)
    return flex_attention(q, k, v, score_mod=score, block_mask=mask)


def by_hand(q, k, v, slopes, texts):
    """The same with all scores in memory."""
    i = torch.arange(q.shape[2], device=q.device)
    far = i[:, None] - i
    seen = (far >= 0) & (far < WINDOW) & (texts[:, :, None] == texts[:, None])
    scores = q @ k.mT * q.shape[-1] ** -0.5 - slopes[:, None, None] * far
    return scores.masked_fill(~seen[:, None], -float("inf")).softmax(-1) @ v


def main():
    rows, heads, tokens, size = map(int, sys.argv[1:]) if sys.argv[1:] else (2, 4, 300, 32)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = (torch.randn(rows, heads, tokens, size, device=device) for _ in range(3))
    slopes, texts = torch.rand(heads, device=device), texts_of(rows, tokens, device)
    compiled = torch.compile(attend, backend="nereid")
    begin = time.perf_counter()
    far = (compiled(q, k, v, slopes, texts) - by_hand(q, k, v, slopes, texts)).abs().max().item()
    print(f"first call on {device}: {time.perf_counter() - begin:.1f} s, largest error {far:.1e}")
    assert far < 1e-2 if device == "cuda" else far < 1e-4  # products may round to TF32 there
    if device == "cpu":
        print("PyTorch has no gradients of flex_attention on a CPU")
        return
    leaves = [x.requires_grad_() for x in (q, k, v, slopes)]
    got, want = (torch.autograd.grad(f(*leaves, texts).square().mean(), leaves)
                 for f in (compiled, by_hand))
    far = max(((a - b).norm() / b.norm()).item() for a, b in zip(got, want))
    print(f"gradients of the slopes and the rest: largest error {far:.1e}")
    assert far < 1e-2


main()
