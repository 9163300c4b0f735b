# nereid: --sig x=*fp32
import triton
import triton.language as tl


def table():
    with open("t") as f:
        return float(f.read())


@triton.jit
def kernel(x):
    tl.store(x, table())
