# nereid: --sig x=*fp32 --run-passes ''
# Returns inside branches of a helper.
import triton
import triton.language as tl


@triton.jit
def sign(v):
    if v > 0:
        return 1.0
    elif v < 0:
        return -1.0
    return 0.0


@triton.jit
def kernel(x):
    tl.store(x, sign(tl.load(x)))
