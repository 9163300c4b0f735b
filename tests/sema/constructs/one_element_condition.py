# nereid: --sig x=*i32,y=*i32 --run-passes ''
# A tile of one element is a condition as its element is.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    above = tl.load(x + tl.arange(0, 1)) > 42
    if above:
        tl.store(x, 42)
    tl.store(y, 3 if above else 5)
