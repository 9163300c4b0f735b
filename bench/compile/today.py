#!/usr/bin/env python3
"""What models of today ask of torch.compile, beside TorchInductor on the same GPU: FlexAttention,
mixtures of experts (experts.py), linear layers in 8-bit floats (float8.py), and weights of few bits
(packed.py).

    today.py [--sides inductor,nereid] [NAME...]

Of the cases only those whose name has a NAME.  Each prints the median time of a forward pass, of a
forward and backward pass, and the largest error of the results and gradients between the sides,
relative to the largest number; the sides take turns, call by call."""

import argparse
import statistics
import sys
import time

import experts
import float8
import packed


def causal(tables):
    return lambda b, h, q, k: q >= k


def window(tables):
    return lambda b, h, q, k: (q >= k) & (q - k < 512)


def documents(tables):
    of = tables["document"]
    return lambda b, h, q, k: (q >= k) & (of[q] == of[k])


def prefix(tables):
    return lambda b, h, q, k: (q >= k) | (k < 1024)


def soft_alibi(tables):
    import torch

    slopes = tables["slopes"]
    return lambda s, b, h, q, k: torch.tanh((s + slopes[h] * (k - q)) / 20) * 20


def relative(tables):
    of = tables["relative"]
    return lambda s, b, h, q, k: s + of[h, q - k + 4095]


# name: mask, function of scores, batch, heads, heads of keys, rows, keys, width
CASES = {
    "causal": (causal, None, 4, 16, 16, 4096, 4096, 64),
    "window of 512": (window, None, 4, 16, 16, 4096, 4096, 64),
    "documents of 700": (documents, None, 4, 16, 16, 4096, 4096, 64),
    "prefix of 1024": (prefix, None, 4, 16, 16, 4096, 4096, 64),
    "ALiBi, soft cap": (causal, soft_alibi, 4, 16, 16, 4096, 4096, 64),
    "relative bias": (causal, relative, 4, 16, 16, 4096, 4096, 64),
    "no mask": (None, None, 4, 16, 16, 4096, 4096, 64),
    "causal, 128 columns, shared keys": (causal, None, 2, 32, 8, 4096, 4096, 128),
    "documents, 128 columns": (documents, None, 2, 16, 16, 4096, 4096, 128),
    "decoding": (None, None, 8, 32, 8, 1, 8192, 128),
}


CASES |= experts.CASES | float8.CASES | packed.CASES


def problem(case):
    """The function, its inputs, and the gradient of its result; without rows to train, None."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask, score, batch, heads, key_heads, rows, keys, width = case
    torch.manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    tables = {"document": torch.arange(keys, device="cuda") // 700,
              "slopes": torch.exp2(-8 * torch.arange(1, heads + 1, device="cuda") / heads),
              "relative": torch.randn(heads, 2 * keys, device="cuda")}
    blocks = mask and create_block_mask(mask(tables), None, None, rows, keys, device="cuda")
    function = score and score(tables)

    def attend(query, key, value):
        return flex_attention(query, key, value, function, blocks, enable_gqa=key_heads != heads)

    inputs = [draw(batch, heads, rows, width), draw(batch, key_heads, keys, width),
              draw(batch, key_heads, keys, width)]
    return attend, inputs, draw(batch, heads, rows, width) if rows > 1 else None


def took(call):
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def medians(calls, rounds=20):
    """The median of each call, by turns."""
    for _ in range(3):
        for call in calls:
            call()
    times = [[took(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def off(got, want):
    return max(((a - b).float().abs().max() / b.float().abs().max()).item()
               for a, b in zip(got, want))


def first_calls(attend, inputs, leaves, grad, side):
    """The call, its results and gradients, and the seconds of its first call."""
    import torch

    call = torch.compile(attend, backend=side)
    begin = time.perf_counter()
    with torch.no_grad():
        results = [call(*inputs)]
    torch.cuda.synchronize()
    first = time.perf_counter() - begin
    if grad is not None:
        results += torch.autograd.grad(call(*leaves), leaves, grad)
    return call, results, first


def measure(name, sides):
    import torch

    case = CASES[name]
    attend, inputs, grad = case() if callable(case) else problem(case)
    leaves = grad is not None and [x.clone().requires_grad_() for x in inputs]
    torch._dynamo.reset()
    found = {}
    for side in sides:
        try:
            found[side] = first_calls(attend, inputs, leaves, grad, side)
        except Exception as error:  # of whatever compiler it is
            print(f"{name}: {side}: {str(error).splitlines()[0]}", file=sys.stderr)
    calls = [call for call, _, _ in found.values()]
    with torch.no_grad():
        rows = [medians([lambda call=call: call(*inputs) for call in calls])]
    if grad is not None:
        rows.append(medians([lambda call=call: torch.autograd.grad(call(*leaves), leaves, grad)
                             for call in calls]))
    cells = []
    for times in rows:
        of = dict(zip(found, times))
        cells += [f"{of[side]:.3f}" if side in of else "fails" for side in sides]
        cells.append(f"{of[sides[0]] / of[sides[-1]]:.2f}" if len(of) == len(sides) else "")
    cells += [""] * (2 * (len(sides) + 1) - len(cells))
    results = [results for _, results, _ in found.values()]
    cells.append(f"{off(results[-1], results[0]):.0e}")
    cells.append(", ".join(f"{found[side][2]:.1f}" if side in found else "-" for side in sides))
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", default="inductor,nereid")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    import torch

    sides = args.sides.split(",")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, bf16; ms: "
          f"{' and '.join(sides)}, forward; forward and backward")
    for name in CASES:
        if not args.names or any(part in name for part in args.names):
            measure(name, sides)


if __name__ == "__main__":
    sys.exit(main())
