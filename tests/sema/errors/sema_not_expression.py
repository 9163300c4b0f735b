# nereid: --sig x=*fp32
import triton
import triton.language as tl


def numbers():
    return (yield 1)


@triton.jit
def kernel(x):
    tl.store(x, numbers())
