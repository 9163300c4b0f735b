# Every form in which kernel files write their lists of configurations.
import copy
import functools
import itertools
import os
from itertools import product

import torch
import triton
import triton.language as tl
from other_tuner import grid_tune
from triton import Config


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def is_old_hip():
    return torch.version.hip is not None and torch.version.hip < "6"


@functools.lru_cache
def processors():
    return torch.cuda.get_device_properties(0).multi_processor_count


def cuda_list():
    return [
        triton.Config({"BM": 64, "BN": 64, "GROUP": 8}, num_stages=3, num_warps=8),
        triton.Config({"BM": 32, "BN": 64, "GROUP": 8}, num_stages=5, num_warps=2),
    ]


@triton.autotune(configs=cuda_list() if is_cuda() else [], key=["m", "n"])
@triton.jit
def by_functions(x, m, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    tl.store(x, m)


BLOCKS = [16, 32] if not is_old_hip() else [8]
SHARED = [Config(kwargs={"BM": bm, "BN": bn}, num_warps=w)
          for bm, bn in product(BLOCKS, repeat=2)
          for w in ([4, 8] if torch.cuda.get_device_capability()[0] >= 9 else [4])
          if bm != bn if not (bm == 16 and w == 8)]
SHARED.append(Config(dict(BM=128, **{"BN": 128}), maxnreg=128))
for stages in range(1, 3):
    SHARED += []
    SHARED.append(Config({"BM": 256, "BN": 16}, num_stages=stages))


@triton.autotune(SHARED, ["m"])
@triton.jit
def by_comprehension(x, m, BM: tl.constexpr, BN: tl.constexpr):
    tl.store(x, m)


def loops(most, extra=None):
    """Builds a list as programs do."""
    out, seen = [], set([128])
    size = 16
    while True:
        size *= 2
        if size > most:
            break
        if size in seen or size % 3 == 0:
            continue
        for i, stages in enumerate((2, 3)):
            if i == 1 and size >= 64:
                continue
            out.append(triton.Config({"BM": size, "BN": triton.next_power_of_2(size + 1)},
                                     num_stages=stages, num_warps=max(1, min(4, size // 16))))
    try:
        print("tuning", len(out), f"{most}")
        undefined_logger.info("not needed")
        last = int(os.environ.get("MOST", "7")) + int(os.getenv("LESS", 1))
        out.extend([copy.deepcopy(c) for c in out if c.kwargs["BM"] == last])
        if most > 1024:
            raise ValueError("too many")
    except ValueError:
        return []
    names = {c.kwargs["BM"]: c for c in sorted(out, key=lambda c: -c.num_warps)}
    for key, value in names.items():
        if key == 32:
            value.num_warps = 16
    return list(filter(lambda c: c.kwargs["BN"] < 512, out)) + (extra or [])


@triton.autotune(configs=loops(256), key=[], reset_to_zero=["x"], restore_value=["y"],
                 use_cuda_graph=True, warmup=10, rep=40, do_bench=None)
@triton.jit
def by_loops(x, y, BM: tl.constexpr, BN: tl.constexpr):
    tl.store(x, 1)


# A decorator of another name, and one behind a name.
tuned = functools.partial(triton.Config, num_warps=2)
mine = triton.autotune(configs=[tuned({"BM": processors()})], key=["m"])


@grid_tune(configs=[triton.Config({"BM": triton.cdiv(100, 8), "BN": 8})], key=["m"], strategy=["log"])
@triton.jit
def by_other_name(x, m, BM: tl.constexpr, BN: tl.constexpr):
    tl.store(x, m)


@mine
@triton.jit
def by_alias(x, m, BM: tl.constexpr):
    tl.store(x, m)


# Two decorators: all pairs.  An option in the dict, a name that other back ends take.
@triton.autotune([triton.Config({"A": a}) for a in (1, 2)], key=["m"])
@triton.autotune([triton.Config({"B": b, "waves_per_eu": 2, "num_warps": 8}) for b in (3, 4)], key=["n"])
@triton.jit
def stacked(x, m, n, A: tl.constexpr, B: tl.constexpr):
    tl.store(x, m)


def plain(x, m, A: tl.constexpr):
    tl.store(x, m)


def renamed(x, m, A: tl.constexpr):
    tl.store(x, m)


renamed = triton.jit(renamed)
renamed = triton.autotune([triton.Config({"A": 1.5})], key=["m"])(renamed)
wrapped = triton.autotune([triton.Config({"A": "relu"}), triton.Config({"A": None})], key=[])(triton.jit(plain))



@triton.jit
def inner(x, m, A: tl.constexpr):
    tl.store(x, m)


outer = triton.autotune(configs=[triton.Config({"A": 7})], key=["m"])(inner)
other = triton.heuristics({"B": lambda args: 1})(triton.autotune([triton.Config({"A": 8})], ["m"])(inner))

SHARED = []  # not what by_comprehension was decorated with
