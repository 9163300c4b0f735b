import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=4),
                          triton.Config({"BLOCK": 4096}, num_warps=8),
                          triton.Config({"BLOCK": 100}, num_warps=4)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK != 100, "BLOCK is 100")
    if EVEN:
        tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))
    else:
        mask = offsets < n
        tl.store(out + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask), mask)
