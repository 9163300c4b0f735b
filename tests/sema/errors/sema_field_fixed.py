# nereid: --sig p=*i32,n=i32
import triton
import triton.language as tl


@triton.aggregate
class Pair:
    x: tl.tensor

    @triton.jit
    def change(self, x):
        self.x = x


@triton.aggregate
class Chosen:
    x: tl.tensor

    @triton.constexpr_function
    def __init__(self, x):
        if x > 0:
            self.x = x
        else:
            self.x = -x


@triton.jit
def kernel(p, n):
    a = Pair(n)
    a.change(3)
    Chosen(n)
