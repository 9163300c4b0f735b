# nereid: --sig n=i32
import triton
import triton.language as tl


@triton.jit
def newcomer(n):
    n++
    m = n ? 1 : 2
    if n > 3 && n < 5:
        m = 1
