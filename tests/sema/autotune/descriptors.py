"""Decorators that read and change tensor descriptors, as the launchers of Triton's tutorials do."""
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(nargs):
    if not isinstance(nargs["d"], TensorDescriptor):
        return
    for name in ("d", "e"):
        nargs[name].block_shape = [nargs["M"], nargs["N"]]
    if isinstance(nargs["count"], TensorDescriptor) or not nargs["num_warps"]:
        raise ValueError("count is no descriptor")
    nargs["count"].zero_()


def fits(configs, named_args, **kwargs):
    d = named_args["d"]
    return [c for c in configs if c.kwargs["N"] <= d.shape[1] and d.strides[0] >= c.kwargs["N"]]


@triton.autotune(
    configs=[triton.Config(dict(M=m, N=n), num_warps=2, pre_hook=set_blocks)
             for m in (2, 4) for n in (8, 16, 32)], key=["rows"],
    prune_configs_by={"early_config_prune": fits})
@triton.heuristics({"EVEN": lambda args: args["d"].shape[0] % args["d"].block_shape[0] == 0})
@triton.jit
def copy(d, e, count, rows, M: tl.constexpr, N: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(d.block_shape == [M, N] and e.block_shape == [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    e.store(at, d.load(at))
    tl.atomic_add(count, 1)


def set_row(nargs):
    nargs["d"].block_shape = [3]


@triton.autotune(configs=[triton.Config({}, num_warps=2, pre_hook=set_row)], key=[])
@triton.jit
def odd(d):
    d.store([0], d.load([0]))
