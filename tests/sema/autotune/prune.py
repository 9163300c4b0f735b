# What prunes a list of configurations, and what runs before each of them.
import functools
import heapq

import torch
import triton
import triton.language as tl
from triton.runtime import driver


def small_enough(configs, named_args, **kwargs):
    device = named_args["x"].device.index or torch.cuda.current_device()
    limit = driver.active.utils.get_device_properties(device)["max_shared_mem"]
    size = named_args["x"].element_size()
    kept = []
    for config in configs:
        kw = config.kwargs
        block, stages = kw["BLOCK"], config.num_stages
        if block * block * size * stages > limit or block > kwargs["n"]:
            continue
        if kwargs["WIDE"] and config.all_kwargs()["num_warps"] < 8:
            continue
        kept.append(config)
    return kept


def nothing(configs, named_args, **kwargs):
    return [c for c in configs if c.num_warps > 100]


def extremes(configs, named_args, **kwargs):
    few = heapq.nsmallest(2, configs, key=lambda c: (-c.kwargs["BLOCK"], c.num_stages))
    return few + heapq.nlargest(kwargs["n"], configs[:3], key=lambda c: c.num_warps)[:1]


def unknown(configs, named_args, **kwargs):
    return list(heapq.merge(configs, configs))


def init_to_zero(names):
    return lambda nargs: [nargs[name].zero_() for name in names if nargs[name] is not None]


CONFIGS = [triton.Config({"BLOCK": b}, num_stages=s, num_warps=w, pre_hook=init_to_zero(["x"]))
           for b in (64, 128, 256) for s in (2, 6) for w in (4, 8)]


def resize(nargs):
    nargs["x"].block_shape = [1]


@triton.autotune(CONFIGS, key=["n"], prune_configs_by={"early_config_prune": small_enough,
                                                       "perf_model": None, "top_k": 3})
@triton.jit
def kept(x, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    tl.store(x, n)


@triton.autotune(CONFIGS[:2], key=["n"], prune_configs_by={"early_config_prune": nothing})
@triton.jit
def none_left(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)


@triton.autotune(CONFIGS, key=["n"], prune_configs_by={
    "early_config_prune": functools.partial(extremes)})
@triton.jit
def few(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)


@triton.autotune(CONFIGS[:2], key=["n"], prune_configs_by={"early_config_prune": unknown})
@triton.jit
def not_pruned(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)


@triton.autotune(CONFIGS[:2], key=["n"], prune_configs_by={"early_config_prune": heapq.heapify})
@triton.jit
def not_here(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)


@triton.autotune([triton.Config({"BLOCK": 32}, pre_hook=resize)], key=["n"])
@triton.jit
def hooked(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)
