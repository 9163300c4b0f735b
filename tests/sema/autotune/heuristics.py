import builtins

import torch
import triton
import triton.language as tl


def even(args):
    n = args["n"]
    return n % args["BLOCK"] == 0


@triton.heuristics(values={"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b in (32, 64) for w in (2, 4)], key=["n"])
@triton.heuristics({
    "EVEN": even,
    "TWICE": lambda args: args["BLOCK"] * 2 if args["EVEN"] else args["num_warps"],
    "DTYPE": lambda args: tl.float32 if args["x"].dtype == torch.float16 else tl.float64,
    "ROWS": lambda args: builtins.max(triton.next_power_of_2(args["x"].shape[0]), args["x"].numel() // 16),
    "STRIDE": lambda args: args["x"].stride(0) * args["x"].element_size(),
    "SCALE": lambda args: 1 / args["n"],
    "NAME": lambda args: "wide" if args["x"].stride(-1) == 1 and args["x"].dim() == 2 else "narrow",
})
@triton.jit
def both(x, bias, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, HAS_BIAS: tl.constexpr,
         TWICE: tl.constexpr, DTYPE: tl.constexpr, ROWS: tl.constexpr, STRIDE: tl.constexpr,
         SCALE: tl.constexpr, NAME: tl.constexpr):
    tl.store(x, n)


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.heuristics({"num_warps": lambda args: 4, "HALF": lambda args: args["BLOCK"] // 2})
@triton.jit
def alone(x, n, BLOCK: tl.constexpr, HALF: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i + HALF, mask=i < n)


@triton.heuristics({"A": lambda args: args["x"].is_quantized})
@triton.jit
def unknown_attribute(x, A: tl.constexpr):
    tl.store(x, A)


@triton.heuristics({"A": lambda args: args["missing"]})
@triton.jit
def unknown_name(x, A: tl.constexpr):
    tl.store(x, A)


@triton.heuristics({"A": lambda args: [1, 2]})
@triton.jit
def list_value(x, A: tl.constexpr):
    tl.store(x, A)


@triton.heuristics(torch.heuristics_of("k"))
@triton.jit
def unknown(x, A: tl.constexpr):
    tl.store(x, A)
