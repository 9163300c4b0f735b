# nereid: --sig x=*fp32 --run-passes ''
# Branches by element become selects.
import triton
import triton.language as tl


@triton.jit
def selu(v, alpha):
    if v > 0:
        return v
    else:
        return alpha * (tl.exp(v) - 1)


@triton.jit
def kernel(x):
    o = tl.arange(0, 16)
    tl.store(x + o, tl.map_elementwise(selu, tl.load(x + o), 1.5))
