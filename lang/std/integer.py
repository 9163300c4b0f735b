# libdevice.NAME of integers, and of the bits of floats.
import triton
import triton.language as tl
from nereid import core, operands

# ---- integers ----


@triton.jit
def clz(x):
    x = tl.to_tensor(x)
    return core.clz(x).to(tl.int32)


@triton.jit
def popc(x):
    x = tl.to_tensor(x)
    return core.popc(x).to(tl.int32)


@triton.jit
def brev(x):
    """The bits in reverse order."""
    x = tl.to_tensor(x)
    return core.brev(x)


@triton.jit
def ffs(x):
    """The number of the lowest one bit, from 1; 0 for 0."""
    x = tl.to_tensor(x)
    return (x.dtype.primitive_bitwidth - core.clz(x & -x)).to(tl.int32)


@triton.jit
def mulhi(x, y):
    x, y = operands.common(x, y)
    return core.mulhi(x, y)


@triton.jit
def mul24(x, y):
    """The product of the low 24 bits."""
    x, y = operands.common(x, y)
    return ((x << 8) >> 8) * ((y << 8) >> 8)


@triton.jit
def hadd(x, y):
    """The mean, rounded down."""
    x, y = operands.common(x, y)
    return (x & y) + ((x ^ y) >> 1)


@triton.jit
def rhadd(x, y):
    """The mean, rounded up."""
    x, y = operands.common(x, y)
    return (x | y) - ((x ^ y) >> 1)


@triton.jit
def sad(x, y, z):
    """|x - y| + z"""
    x, y = operands.common(x, y)
    return tl.where(x > y, x - y, y - x) + tl.to_tensor(z).to(x.dtype)


@triton.jit
def _byte(x, y, s, i: tl.constexpr):
    """Byte i of byte_perm: which of the eight bytes of y:x it is, nibble i of s says."""
    n = (s >> (4 * i)) & 7
    word = tl.where(n < 4, x, y)
    return ((word >> ((n & 3) * 8)) & 255) << (8 * i)


@triton.jit
def byte_perm(x, y, s):
    """Four bytes chosen from the eight of y:x."""
    t = tl.to_tensor(x) + y + s
    x = core.bitcast(operands.like(x, t), tl.uint32)
    y = core.bitcast(operands.like(y, t), tl.uint32)
    s = core.bitcast(operands.like(s, t), tl.uint32)
    r = _byte(x, y, s, 0) | _byte(x, y, s, 1) | _byte(x, y, s, 2) | _byte(x, y, s, 3)
    return core.bitcast(r, tl.int32)


# ---- bit casts ----


@triton.jit
def int_as_float(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.float32)


@triton.jit
def float_as_int(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.int32)


@triton.jit
def uint_as_float(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.float32)


@triton.jit
def float_as_uint(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.int32)


@triton.jit
def longlong_as_double(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.float64)


@triton.jit
def double_as_longlong(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.int64)


@triton.jit
def hiloint2double(hi, lo):
    hi, lo = operands.common(hi, lo)
    return core.bitcast((hi.to(tl.int64) << 32) | (lo.to(tl.int64) & 0xffffffff), tl.float64)


@triton.jit
def double2loint(x):
    x = tl.to_tensor(x)
    return core.bitcast(x, tl.int64).to(tl.int32)


@triton.jit
def double2hiint(x):
    x = tl.to_tensor(x)
    return (core.bitcast(x, tl.int64) >> 32).to(tl.int32)


@triton.jit
def rcp64h(x):
    """1 / x from and to the upper 32 bits; the others are 0."""
    x = tl.to_tensor(x)
    high = core.bitcast(core.bitcast(x, tl.int64) & -4294967296, tl.float64)
    return core.bitcast(core.bitcast(core.div_rn(1.0, high), tl.int64) & -4294967296, tl.float64)
