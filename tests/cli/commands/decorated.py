"""Kernels with decorators, to be run as they stand."""
import triton
import triton.language as tl

PAIR = [triton.Config({"BLOCK": 32, "k": 200}, num_warps=2), triton.Config({"BLOCK": 64, "k": 3})]


@triton.autotune(PAIR, key=["n"])
@triton.heuristics({"TWICE": lambda args: args["BLOCK"] * 2})
@triton.jit
def pair(x, y, n, k, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n) * k  # i8 by a run-time i32
    tl.static_assert(v.dtype == tl.int32)
    tl.store(y + i, v + TWICE, i < n)


@triton.autotune([triton.Config({"BLOCK": 16})], key=[])
@triton.jit
def single(x, y, n, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, BLOCK, i < n)


def small(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= named_args["n"]]


@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 32, 16)], key=["n"],
                 prune_configs_by={"early_config_prune": small})
@triton.jit
def pruned(y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, BLOCK, i < n)


@triton.autotune(configs=[
    triton.Config({"SPLIT": 4, "BLOCK": 64}, pre_hook=lambda args: args["out_ptr"].zero_()),
    triton.Config({"SPLIT": 1, "BLOCK": 64}),
], key=["n"])
@triton.jit
def split_sum(x_ptr, out_ptr, n, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if SPLIT == 1:
        tl.store(out_ptr, tl.sum(x))
    else:
        tl.atomic_add(out_ptr, tl.sum(x))


@triton.autotune(configs=[triton.Config({}, num_warps=8), triton.Config({}, num_warps=2)], key=[])
@triton.jit
def warps(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
