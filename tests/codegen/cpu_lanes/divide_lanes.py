# nereid: --sig x=*i32:16,y=*i32:16 --target cpu
import triton
import triton.language as tl


@triton.jit
def divide_lanes(x, y):
    """Vectors are divided by constants as wholes, by other numbers lane by lane."""
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    tl.store(y + i, a // 48 + a % 7 + a // (a + 1))
