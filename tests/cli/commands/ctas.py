import triton
import triton.language as tl


@triton.autotune([triton.Config({"B": 1024}, num_warps=1, num_ctas=c) for c in (2, 4)], key=["n"])
@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
