"""Kernels with the decorators that public files have."""
import torch
import triton
import triton.language as tl

import spaces

KEY = dict(key=["n", "dtype"])


@triton.autotune(configs=spaces.blocks(["BLOCK", "SPLIT"], [32, 48, 64], [1, 2, 4],
                                       hook=spaces.init_to_zero("y")), **KEY)
@triton.heuristics({"EVEN": lambda args: args["n"] % (args["BLOCK"] * args["SPLIT"]) == 0})
@triton.jit
def split(x, y, n, rows, BLOCK: tl.constexpr, SPLIT: tl.constexpr, EVEN: tl.constexpr):
    """Sums of columns.  With SPLIT > 1 parts are added to y, which a hook has zeroed."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(1), rows, SPLIT):
        v = tl.load(x + row * n + i) if EVEN else tl.load(x + row * n + i, i < n, other=0.0)
        total += v
    if SPLIT == 1:
        tl.store(y + i, total, i < n)
    else:
        tl.atomic_add(y + i, total, i < n)


@triton.autotune(configs=spaces.blocks(["BLOCK"], [64, 128, 256]), restore_value=["y"], **KEY)
@triton.jit
def decay(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(y + i, i < n) * 8.0 + tl.load(x + i, i < n), i < n)


@triton.autotune(configs=spaces.blocks(["BLOCK"], [64, 128, 256]), reset_to_zero=["count"], **KEY)
@triton.jit
def census(x, count, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(count + tl.load(x + i, i < n, 0), 1, mask=i < n)


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in spaces.WARPS], **KEY)
@triton.heuristics(values={"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def row(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, i < n, 0.0)
    tl.store(y + tl.program_id(0), tl.sum(v))


@triton.autotune(configs=spaces.blocks(["BLOCK"], [128, 256, 512, 1024, 2048, 4096]),
                 prune_configs_by={"early_config_prune": spaces.nearest}, **KEY)
@triton.heuristics({"HALF": lambda args: args["x"].dtype == torch.float16})
@triton.jit
def pruned(x, y, n, BLOCK: tl.constexpr, HALF: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(y + i, v * 0.5 if HALF else v * 2.0, i < n)


@triton.jit
def neighbours(x, y, n, BLOCK: tl.constexpr):
    """Without `other`, as beyond the border there is nothing to add."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(3):
        at = i + k - 1
        total += tl.load(x + at, (0 <= at) & (at < n))
    tl.store(y + i, total, i < n)


tuned_neighbours = triton.autotune(spaces.blocks(["BLOCK"], [64, 128, 256]), **KEY)(neighbours)
