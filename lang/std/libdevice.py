# libdevice.NAME: the functions of CUDA's libdevice by the names that
# triton.language.extra.libdevice gives them, for f32 and f64 (or the integers that each name
# takes).  Two operands of different dtypes are brought to the wider one.  Accuracy: real32.py,
# real64.py and special.py; at least what CUDA documents.  Directed rounding is exact: rounding.py.
import triton
import triton.language as tl
from nereid import bessel, convert, core, real32, real64, rounding, special

# ---- choosing by dtype ----


@triton.jit
def _check(x):
    tl.static_assert(
        x.dtype == tl.float32 or x.dtype == tl.float64,
        f"Expected dtype ['fp32', 'fp64'] but got {x.dtype}: convert with x.to(tl.float32)")


@triton.jit
def _only(x, dtype: tl.constexpr):
    tl.static_assert(x.dtype == dtype, f"Expected dtype {dtype} but got {x.dtype}")


@triton.jit
def _check_int(x):
    tl.static_assert(x.dtype.is_int() and x.dtype.primitive_bitwidth >= 32,
                     f"Expected an integer dtype of 32 or 64 bits but got {x.dtype}")


@triton.jit
def like(x, t):
    """x with the dtype and the shape of t."""
    x = tl.to_tensor(x).to(t.dtype)
    if len(t.shape) == 0:
        return x
    else:
        return tl.broadcast_to(x, t.shape)


@triton.jit
def common(x, y):
    """Both with their common dtype and shape."""
    x = tl.to_tensor(x)
    y = tl.to_tensor(y)
    t = x + y
    return like(x, t), like(y, t)


@triton.jit
def _one(x, f32: tl.constexpr, f64: tl.constexpr):
    x = tl.to_tensor(x)
    _check(x)
    if x.dtype == tl.float64:
        return f64(x)
    else:
        return f32(x)


@triton.jit
def _any(x, f: tl.constexpr):
    """A function that suits both dtypes."""
    x = tl.to_tensor(x)
    _check(x)
    return f(x)


@triton.jit
def _via64(x, f64: tl.constexpr):
    """f32 through f64."""
    x = tl.to_tensor(x)
    _check(x)
    return f64(x.to(tl.float64)).to(x.dtype)


@triton.jit
def _two(x, y, f32: tl.constexpr, f64: tl.constexpr):
    x, y = common(x, y)
    _check(x)
    if x.dtype == tl.float64:
        return f64(x, y)
    else:
        return f32(x, y)


@triton.jit
def _pair(x, y, f: tl.constexpr):
    x, y = common(x, y)
    _check(x)
    return f(x, y)


@triton.jit
def _ints(x, y):
    x, y = common(x, y)
    _check_int(x)
    return x, y


# ---- elementary functions ----


@triton.jit
def exp(x):
    return _one(x, real32.exp, real64.exp)


@triton.jit
def exp2(x):
    return _one(x, _exp2_32, real64.exp2)


@triton.jit
def exp10(x):
    return _one(x, real32.exp10, real64.exp10)


@triton.jit
def expm1(x):
    return _one(x, real32.expm1, real64.expm1)


@triton.jit
def log(x):
    return _one(x, real32.log, real64.log)


@triton.jit
def log2(x):
    return _one(x, real32.log2, real64.log2)


@triton.jit
def log10(x):
    return _one(x, real32.log10, real64.log10)


@triton.jit
def log1p(x):
    return _one(x, real32.log1p, real64.log1p)


@triton.jit
def sin(x):
    return _one(x, real32.sin, real64.sin)


@triton.jit
def cos(x):
    return _one(x, real32.cos, real64.cos)


@triton.jit
def tan(x):
    return _one(x, real32.tan, real64.tan)


@triton.jit
def sinpi(x):
    return _one(x, real32.sinpi, real64.sinpi)


@triton.jit
def cospi(x):
    return _one(x, real32.cospi, real64.cospi)


@triton.jit
def asin(x):
    return _one(x, real32.asin, real64.asin)


@triton.jit
def acos(x):
    return _one(x, real32.acos, real64.acos)


@triton.jit
def atan(x):
    return _one(x, real32.atan, real64.atan)


@triton.jit
def sinh(x):
    return _one(x, real32.sinh, real64.sinh)


@triton.jit
def cosh(x):
    return _one(x, real32.cosh, real64.cosh)


@triton.jit
def tanh(x):
    return _one(x, real32.tanh, real64.tanh)


@triton.jit
def asinh(x):
    return _one(x, real32.asinh, real64.asinh)


@triton.jit
def acosh(x):
    return _one(x, real32.acosh, real64.acosh)


@triton.jit
def atanh(x):
    return _one(x, real32.atanh, real64.atanh)


@triton.jit
def cbrt(x):
    return _one(x, real32.cbrt, real64.cbrt)


@triton.jit
def rcbrt(x):
    return _one(x, real32.rcbrt, real64.rcbrt)


@triton.jit
def erf(x):
    return _one(x, real32.erf, real64.erf)


@triton.jit
def erfc(x):
    return _one(x, real32.erfc, real64.erfc)


@triton.jit
def erfcx(x):
    return _one(x, real32.erfcx, real64.erfcx)


@triton.jit
def normcdf(x):
    return _one(x, real32.normcdf, real64.normcdf)


@triton.jit
def _exp2_32(x):
    return core.exp2(x)


@triton.jit
def erfinv(x):
    return _one(x, special.erfinv32, special.erfinv64)


@triton.jit
def erfcinv(x):
    return _one(x, special.erfcinv32, special.erfcinv64)


@triton.jit
def normcdfinv(x):
    return _one(x, special.normcdfinv32, special.normcdfinv64)


@triton.jit
def lgamma(x):
    return _via64(x, special.lgamma64)


@triton.jit
def tgamma(x):
    return _via64(x, special.tgamma64)


@triton.jit
def j0(x):
    return _via64(x, bessel.j0)


@triton.jit
def j1(x):
    return _via64(x, bessel.j1)


@triton.jit
def y0(x):
    return _via64(x, bessel.y0)


@triton.jit
def y1(x):
    return _via64(x, bessel.y1)


@triton.jit
def cyl_bessel_i0(x):
    return _via64(x, bessel.i0)


@triton.jit
def cyl_bessel_i1(x):
    return _via64(x, bessel.i1)


@triton.jit
def jn(n, x):
    x = tl.to_tensor(x)
    _check(x)
    n = tl.to_tensor(n)
    _only(n, tl.int32)
    t = x + n
    y = like(x, t).to(tl.float64)
    return bessel.jn(like(n, t.to(tl.int32)), y).to(x.dtype)


@triton.jit
def yn(n, x):
    x = tl.to_tensor(x)
    _check(x)
    n = tl.to_tensor(n)
    _only(n, tl.int32)
    t = x + n
    y = like(x, t).to(tl.float64)
    return bessel.yn(like(n, t.to(tl.int32)), y).to(x.dtype)


@triton.jit
def atan2(y, x):
    return _two(y, x, real32.atan2, real64.atan2)


@triton.jit
def pow(x, y):
    """x^y; y may be an i32."""
    x = tl.to_tensor(x)
    y = tl.to_tensor(y)
    if y.dtype == tl.int32 and x.dtype == tl.float32:
        return _powi(x, y, real32.powi)
    elif y.dtype == tl.int32 and x.dtype == tl.float64:
        return _powi(x, y, real64.powi)
    else:
        return _two(x, y, real32.pow, real64.pow)


@triton.jit
def _powi(x, n, f: tl.constexpr):
    t = x + n
    return f(like(x, t), like(n, t.to(tl.int32)))


# ---- roots and norms ----


@triton.jit
def sqrt(x):
    """f32: the hardware's approximation (1 ulp); f64: correctly rounded."""
    return _any(x, _sqrt)


@triton.jit
def _sqrt(x):
    if x.dtype == tl.float64:
        return core.sqrt_rn(x)
    else:
        return core.sqrt(x)


@triton.jit
def rsqrt(x):
    """f32: the hardware's approximation (2 ulp)."""
    return _one(x, _rsqrt32, real64.rsqrt)


@triton.jit
def _rsqrt32(x):
    return core.rsqrt(x)


@triton.jit
def rsqrt_rn(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return real32.rsqrt_rn(x)


@triton.jit
def _norm(x, y, z, w, f32: tl.constexpr, f64: tl.constexpr):
    t = x + y
    if z is not None:
        t = t + z
    if w is not None:
        t = t + w
    _check(t)
    c = None if z is None else like(z, t)
    d = None if w is None else like(w, t)
    if t.dtype == tl.float64:
        return f64(like(x, t), like(y, t), c, d)
    else:
        return f32(like(x, t), like(y, t), c, d)


@triton.jit
def hypot(x, y):
    return _norm(x, y, None, None, real32.norm, real64.norm)


@triton.jit
def rhypot(x, y):
    return _norm(x, y, None, None, real32.rnorm, real64.rnorm)


@triton.jit
def norm3d(x, y, z):
    return _norm(x, y, z, None, real32.norm, real64.norm)


@triton.jit
def rnorm3d(x, y, z):
    return _norm(x, y, z, None, real32.rnorm, real64.rnorm)


@triton.jit
def norm4d(x, y, z, w):
    return _norm(x, y, z, w, real32.norm, real64.norm)


@triton.jit
def rnorm4d(x, y, z, w):
    return _norm(x, y, z, w, real32.rnorm, real64.rnorm)


# ---- rounding to integers, parts of a number ----


@triton.jit
def _floor(x):
    return core.floor(x)


@triton.jit
def floor(x):
    return _any(x, _floor)


@triton.jit
def _ceil(x):
    return core.ceil(x)


@triton.jit
def ceil(x):
    return _any(x, _ceil)


@triton.jit
def _trunc(x):
    return core.trunc(x)


@triton.jit
def trunc(x):
    return _any(x, _trunc)


@triton.jit
def _rint(x):
    return core.rint(x)


@triton.jit
def rint(x):
    return _any(x, _rint)


@triton.jit
def nearbyint(x):
    return _any(x, _rint)


@triton.jit
def _round(x):
    a = core.abs(x)
    r = core.trunc(a)
    return rounding.copysign(tl.where(a - r >= 0.5, r + 1.0, r), x)


@triton.jit
def round(x):
    """To the nearest integer, ties away from zero."""
    return _any(x, _round)


@triton.jit
def llrint(x):
    return rint(x).to(tl.int64)


@triton.jit
def llround(x):
    return round(x).to(tl.int64)


@triton.jit
def copysign(x, y):
    return _pair(x, y, rounding.copysign)


@triton.jit
def signbit(x):
    x = tl.to_tensor(x)
    _check(x)
    return (rounding.bits_of(x) < 0).to(tl.int32)


@triton.jit
def isnan(x):
    x = tl.to_tensor(x)
    _check(x)
    return x != x


@triton.jit
def isinf(x):
    x = tl.to_tensor(x)
    _check(x)
    return core.abs(x) == float("inf")


@triton.jit
def finitef(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.abs(x) < float("inf")


@triton.jit
def isfinited(x):
    x = tl.to_tensor(x)
    _only(x, tl.float64)
    return core.abs(x) < float("inf")


@triton.jit
def ilogb(x):
    """The exponent; of 0 and NaN the smallest i32, of infinities the largest."""
    return _any(x, rounding.ilogb)


@triton.jit
def logb(x):
    return _any(x, rounding.logb)


@triton.jit
def ldexp(x, n):
    """x * 2^n, rounded once."""
    x = tl.to_tensor(x)
    _check(x)
    n = tl.to_tensor(n)
    _only(n, tl.int32)
    t = x + n
    return rounding.ldexp(like(x, t), like(n, t.to(tl.int32)))


@triton.jit
def scalbn(x, n):
    return ldexp(x, n)


@triton.jit
def nextafter(x, y):
    return _pair(x, y, rounding.nextafter)


@triton.jit
def fdim(x, y):
    """x - y where that is positive, else 0."""
    x, y = common(x, y)
    _check(x)
    return tl.where(x <= y, 0.0, x - y)


@triton.jit
def fmod(x, y):
    return _pair(x, y, rounding.fmod)


@triton.jit
def remainder(x, y):
    return _pair(x, y, rounding.remainder)


@triton.jit
def saturatef(x):
    """Into [0, 1]; NaN gives 0."""
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.min(core.max(x, 0.0), 1.0)


# ---- arithmetic with a given rounding ----


@triton.jit
def add_rn(x, y):
    return _pair(x, y, rounding.add_rn)


@triton.jit
def add_rz(x, y):
    return _pair(x, y, rounding.add_rz)


@triton.jit
def add_rd(x, y):
    return _pair(x, y, rounding.add_rd)


@triton.jit
def add_ru(x, y):
    return _pair(x, y, rounding.add_ru)


@triton.jit
def sub_rn(x, y):
    return _pair(x, y, rounding.sub_rn)


@triton.jit
def sub_rz(x, y):
    return _pair(x, y, rounding.sub_rz)


@triton.jit
def sub_rd(x, y):
    return _pair(x, y, rounding.sub_rd)


@triton.jit
def sub_ru(x, y):
    return _pair(x, y, rounding.sub_ru)


@triton.jit
def mul_rn(x, y):
    return _pair(x, y, rounding.mul_rn)


@triton.jit
def mul_rz(x, y):
    return _pair(x, y, rounding.mul_rz)


@triton.jit
def mul_rd(x, y):
    return _pair(x, y, rounding.mul_rd)


@triton.jit
def mul_ru(x, y):
    return _pair(x, y, rounding.mul_ru)


@triton.jit
def div_rn(x, y):
    return _pair(x, y, rounding.div_rn)


@triton.jit
def div_rz(x, y):
    return _pair(x, y, rounding.div_rz)


@triton.jit
def div_rd(x, y):
    return _pair(x, y, rounding.div_rd)


@triton.jit
def div_ru(x, y):
    return _pair(x, y, rounding.div_ru)


@triton.jit
def rcp_rn(x):
    return _any(x, rounding.rcp_rn)


@triton.jit
def rcp_rz(x):
    return _any(x, rounding.rcp_rz)


@triton.jit
def rcp_rd(x):
    return _any(x, rounding.rcp_rd)


@triton.jit
def rcp_ru(x):
    return _any(x, rounding.rcp_ru)


@triton.jit
def sqrt_rn(x):
    return _any(x, rounding.sqrt_rn)


@triton.jit
def sqrt_rz(x):
    return _any(x, rounding.sqrt_rz)


@triton.jit
def sqrt_rd(x):
    return _any(x, rounding.sqrt_rd)


@triton.jit
def sqrt_ru(x):
    return _any(x, rounding.sqrt_ru)


@triton.jit
def _three(x, y, z, f: tl.constexpr):
    t = x + y + z
    _check(t)
    return f(like(x, t), like(y, t), like(z, t))


@triton.jit
def fma(x, y, z):
    return _three(x, y, z, rounding.fma_rn)


@triton.jit
def fma_rn(x, y, z):
    return _three(x, y, z, rounding.fma_rn)


@triton.jit
def fma_rz(x, y, z):
    return _three(x, y, z, rounding.fma_rz)


@triton.jit
def fma_rd(x, y, z):
    return _three(x, y, z, rounding.fma_rd)


@triton.jit
def fma_ru(x, y, z):
    return _three(x, y, z, rounding.fma_ru)


# ---- fast forms of f32: the hardware's approximations ----


@triton.jit
def fast_sinf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.sin(x)


@triton.jit
def fast_cosf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.cos(x)


@triton.jit
def fast_tanf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.div(core.sin(x), core.cos(x))


@triton.jit
def fast_tanhf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.tanh(x)


@triton.jit
def fast_expf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.exp2(x * 1.4426950408889634)


@triton.jit
def fast_exp10f(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.exp2(x * 3.321928094887362)


@triton.jit
def fast_log2f(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.log2(x)


@triton.jit
def fast_logf(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.log2(x) * 0.6931471805599453


@triton.jit
def fast_log10f(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.log2(x) * 0.3010299956639812


@triton.jit
def fast_powf(x, y):
    x, y = common(x, y)
    _only(x, tl.float32)
    return core.exp2(y * core.log2(x))


@triton.jit
def fast_dividef(x, y):
    x, y = common(x, y)
    _only(x, tl.float32)
    return core.div(x, y)


# ---- integers ----


@triton.jit
def abs(x):
    x = tl.to_tensor(x)
    return core.abs(x)


@triton.jit
def clz(x):
    x = tl.to_tensor(x)
    _check_int(x)
    return core.clz(x).to(tl.int32)


@triton.jit
def popc(x):
    x = tl.to_tensor(x)
    _check_int(x)
    return core.popc(x).to(tl.int32)


@triton.jit
def brev(x):
    """The bits in reverse order."""
    x = tl.to_tensor(x)
    _check_int(x)
    return core.brev(x)


@triton.jit
def ffs(x):
    """The number of the lowest one bit, from 1; 0 for 0."""
    x = tl.to_tensor(x)
    _check_int(x)
    return (x.dtype.primitive_bitwidth - core.clz(x & -x)).to(tl.int32)


@triton.jit
def mulhi(x, y):
    x, y = _ints(x, y)
    return core.mulhi(x, y)


@triton.jit
def mul24(x, y):
    """The product of the low 24 bits."""
    x, y = _ints(x, y)
    return ((x << 8) >> 8) * ((y << 8) >> 8)


@triton.jit
def hadd(x, y):
    """The mean, rounded down."""
    x, y = _ints(x, y)
    return (x & y) + ((x ^ y) >> 1)


@triton.jit
def rhadd(x, y):
    """The mean, rounded up."""
    x, y = _ints(x, y)
    return (x | y) - ((x ^ y) >> 1)


@triton.jit
def sad(x, y, z):
    """|x - y| + z"""
    x, y = _ints(x, y)
    return tl.where(x > y, x - y, y - x) + z.to(x.dtype)


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
    _only(t, tl.int32)
    x = core.bitcast(like(x, t), tl.uint32)
    y = core.bitcast(like(y, t), tl.uint32)
    s = core.bitcast(like(s, t), tl.uint32)
    r = _byte(x, y, s, 0) | _byte(x, y, s, 1) | _byte(x, y, s, 2) | _byte(x, y, s, 3)
    return core.bitcast(r, tl.int32)


# ---- bit casts ----


@triton.jit
def int_as_float(x):
    x = tl.to_tensor(x)
    _only(x, tl.int32)
    return core.bitcast(x, tl.float32)


@triton.jit
def float_as_int(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.bitcast(x, tl.int32)


@triton.jit
def uint_as_float(x):
    x = tl.to_tensor(x)
    _only(x, tl.uint32)
    return core.bitcast(x, tl.float32)


@triton.jit
def float_as_uint(x):
    x = tl.to_tensor(x)
    _only(x, tl.float32)
    return core.bitcast(x, tl.int32)


@triton.jit
def longlong_as_double(x):
    x = tl.to_tensor(x)
    _only(x, tl.int64)
    return core.bitcast(x, tl.float64)


@triton.jit
def double_as_longlong(x):
    x = tl.to_tensor(x)
    _only(x, tl.float64)
    return core.bitcast(x, tl.int64)


@triton.jit
def hiloint2double(hi, lo):
    hi, lo = common(hi, lo)
    _only(hi, tl.int32)
    return core.bitcast((hi.to(tl.int64) << 32) | (lo.to(tl.int64) & 0xffffffff), tl.float64)


@triton.jit
def double2loint(x):
    x = tl.to_tensor(x)
    _only(x, tl.float64)
    return core.bitcast(x, tl.int64).to(tl.int32)


@triton.jit
def double2hiint(x):
    x = tl.to_tensor(x)
    _only(x, tl.float64)
    return (core.bitcast(x, tl.int64) >> 32).to(tl.int32)


@triton.jit
def rcp64h(x):
    """1 / x from and to the upper 32 bits; the others are 0."""
    x = tl.to_tensor(x)
    _only(x, tl.float64)
    high = core.bitcast(core.bitcast(x, tl.int64) & -4294967296, tl.float64)
    return core.bitcast(core.bitcast(core.div_rn(1.0, high), tl.int64) & -4294967296, tl.float64)


# ---- conversions with a given rounding ----

float2int_rn = convert.float2int_rn
float2int_rz = convert.float2int_rz
float2int_rd = convert.float2int_rd
float2int_ru = convert.float2int_ru
float2uint_rn = convert.float2uint_rn
float2uint_rz = convert.float2uint_rz
float2uint_rd = convert.float2uint_rd
float2uint_ru = convert.float2uint_ru
float2ll_rn = convert.float2ll_rn
float2ll_rz = convert.float2ll_rz
float2ll_rd = convert.float2ll_rd
float2ll_ru = convert.float2ll_ru
float2ull_rn = convert.float2ull_rn
float2ull_rz = convert.float2ull_rz
float2ull_rd = convert.float2ull_rd
float2ull_ru = convert.float2ull_ru
double2int_rn = convert.double2int_rn
double2int_rz = convert.double2int_rz
double2int_rd = convert.double2int_rd
double2int_ru = convert.double2int_ru
double2uint_rn = convert.double2uint_rn
double2uint_rz = convert.double2uint_rz
double2uint_rd = convert.double2uint_rd
double2uint_ru = convert.double2uint_ru
double2ll_rn = convert.double2ll_rn
double2ll_rz = convert.double2ll_rz
double2ll_rd = convert.double2ll_rd
double2ll_ru = convert.double2ll_ru
double2ull_rn = convert.double2ull_rn
double2ull_rz = convert.double2ull_rz
double2ull_rd = convert.double2ull_rd
double2ull_ru = convert.double2ull_ru
int2float_rn = convert.int2float_rn
int2float_rz = convert.int2float_rz
int2float_rd = convert.int2float_rd
int2float_ru = convert.int2float_ru
int2double_rn = convert.int2double_rn
uint2float_rn = convert.uint2float_rn
uint2float_rz = convert.uint2float_rz
uint2float_rd = convert.uint2float_rd
uint2float_ru = convert.uint2float_ru
uint2double_rn = convert.uint2double_rn
ll2float_rn = convert.ll2float_rn
ll2float_rz = convert.ll2float_rz
ll2float_rd = convert.ll2float_rd
ll2float_ru = convert.ll2float_ru
ll2double_rn = convert.ll2double_rn
ll2double_rz = convert.ll2double_rz
ll2double_rd = convert.ll2double_rd
ll2double_ru = convert.ll2double_ru
ull2float_rn = convert.ull2float_rn
ull2float_rz = convert.ull2float_rz
ull2float_rd = convert.ull2float_rd
ull2float_ru = convert.ull2float_ru
ull2double_rn = convert.ull2double_rn
ull2double_rz = convert.ull2double_rz
ull2double_rd = convert.ull2double_rd
ull2double_ru = convert.ull2double_ru
double2float_rn = convert.double2float_rn
double2float_rz = convert.double2float_rz
double2float_rd = convert.double2float_rd
double2float_ru = convert.double2float_ru
