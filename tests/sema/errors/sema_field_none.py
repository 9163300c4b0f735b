# nereid: --sig p=*fp32
import triton
import triton.language as tl


@triton.aggregate
class Pair:
    x: tl.tensor

    def __init__(self, x):
        self.x = x
        self.y = x


@triton.jit
def kernel(p):
    a = Pair(p)
    tl.aggregate_replace(a, z=p)
