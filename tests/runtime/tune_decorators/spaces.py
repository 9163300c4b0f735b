"""Lists of configurations that another file builds, as libraries do."""
import heapq
import itertools
import os

import triton

WARPS = [2, 4] if os.environ.get("FEW_WARPS", "1") == "1" else [1, 2, 4, 8, 16]


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def blocks(names, *sizes, hook=None):
    if not is_cuda():
        return [triton.Config({})]
    rows = itertools.product(*sizes, WARPS)
    return [triton.Config(dict(zip(names, row[:-1])), num_warps=row[-1], pre_hook=hook)
            for row in rows if row[0] != 48]


def init_to_zero(name):
    return lambda nargs: nargs[name].zero_()


def nearest(configs, named_args, **kwargs):
    """The two blocks that are nearest to what a byte count asks for."""
    wanted = 4096 // named_args["x"].element_size()
    fits = [c for c in configs if c.kwargs["BLOCK"] <= kwargs["n"]]
    few = heapq.nsmallest(2, {c.kwargs["BLOCK"] for c in fits}, key=lambda b: abs(b - wanted))
    return [c for c in fits if c.kwargs["BLOCK"] in few]
