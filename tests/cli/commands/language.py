import triton
import triton.language as tl


@triton.jit
def three():
    return 3


@triton.jit
def kernel(p, q):
    tl.static_print(tl.maximum(tl.load(p), 0.5).dtype, (tl.load(q) + three()).dtype, triton.__version__)
