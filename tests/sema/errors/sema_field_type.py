# nereid: --sig p=*fp32
import triton
import triton.language as tl


@triton.aggregate
class Pair:
    x: tl.tensor
    n: tl.constexpr


@triton.jit
def kernel(p):
    a = Pair("x", 1)
    b = Pair(p, tl.load(p))
