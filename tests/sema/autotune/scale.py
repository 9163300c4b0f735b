import triton
import triton.language as tl

@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"]), "HAS_BIAS": lambda args: args["bias"] is not None})
@triton.jit
def scale(x, bias, n, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if HAS_BIAS:
        v += tl.load(bias + i, mask=i < n)
    tl.store(x + i, v * 2, mask=i < n)


@triton.autotune([triton.Config({"BLOCK": 8}, num_stages=s) for s in (2, 4)], key=[])
@triton.jit
def depth(x, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i + num_stages)
