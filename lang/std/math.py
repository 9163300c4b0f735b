# tl.NAME and tl.math.NAME: the elementary functions, with the accuracy that Triton's have on CUDA:
# exp, exp2, sqrt, rsqrt and division of f32 are the hardware's approximations, log, log2, sin, cos
# and erf are accurate.  Only f32 and f64 are accepted, as in Triton.  tl.math.NAME of any other
# name is libdevice's, as it was in older versions.
import triton
import triton.language as tl
from nereid import core, operands, real32, real64


@triton.jit
def _exp32(x):
    return core.exp2(x * 1.4426950408889634)


@triton.jit
def _exp2_32(x):
    return core.exp2(x)


@triton.jit
def _sqrt(x):
    return core.sqrt(x)


@triton.jit
def _sqrt_rn(x):
    return core.sqrt_rn(x)


@triton.jit
def _rsqrt32(x):
    return core.rsqrt(x)


@triton.jit
def _floor(x):
    return core.floor(x)


@triton.jit
def _ceil(x):
    return core.ceil(x)


@triton.jit
def exp(x):
    """f32: 2^(x log2 e) by the hardware, a relative error of 2^-22 + |x| 2^-24; below 2^-126 it may
    be 0."""
    return operands.one(x, _exp32, real64.exp)


@triton.jit
def exp2(x):
    return operands.one(x, _exp2_32, real64.exp2)


@triton.jit
def log(x):
    return operands.one(x, real32.log, real64.log)


@triton.jit
def log2(x):
    return operands.one(x, real32.log2, real64.log2)


@triton.jit
def sin(x):
    return operands.one(x, real32.sin, real64.sin)


@triton.jit
def cos(x):
    return operands.one(x, real32.cos, real64.cos)


@triton.jit
def erf(x):
    return operands.one(x, real32.erf, real64.erf)


@triton.jit
def sqrt(x):
    """f32: the hardware's approximation (1 ulp)."""
    return operands.one(x, _sqrt, _sqrt_rn)


@triton.jit
def sqrt_rn(x):
    return operands.one(x, _sqrt_rn, _sqrt_rn)


@triton.jit
def rsqrt(x):
    """f32: the hardware's approximation (2 ulp)."""
    return operands.one(x, _rsqrt32, real64.rsqrt)


@triton.jit
def floor(x):
    return operands.one(x, _floor, _floor)


@triton.jit
def ceil(x):
    return operands.one(x, _ceil, _ceil)


@triton.jit
def div_rn(x, y):
    """x / y, correctly rounded."""
    x, y = operands.common(x, y)
    return core.div_rn(x, y)
