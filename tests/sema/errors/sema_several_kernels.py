import triton
import triton.language as tl


@triton.jit
def first(x, n):
    pass


@triton.jit
def second(x):
    pass
