# nereid: --sig n=i32
import triton
import triton.language as tl


@triton.jit
def count(n):
    i = tl.arange(0, 64)
    while i < n:
        i += 1
