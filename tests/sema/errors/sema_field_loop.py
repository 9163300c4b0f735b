# nereid: --sig p=*i32,n=i32
import triton
import triton.language as tl


@triton.aggregate
class Pair:
    x: tl.tensor
    n: tl.constexpr


@triton.jit
def kernel(p, n):
    a = Pair(n, 1)
    for i in range(n):
        a = Pair(a.x + 1, 2)
    tl.store(p, a.x)
