# nereid: --sig p=*fp32
import triton
import triton.language as tl


@triton.aggregate
class Pair:
    x: tl.tensor
    n: tl.constexpr

    def __init__(self, x):
        self.x = x


@triton.jit
def kernel(p):
    Pair(p)
