# libdevice.NAME: the functions of CUDA's libdevice by the names that
# triton.language.extra.libdevice gives them, for f32 and f64; those of integers and of bits are in
# integer.py, conversions in convert.py.  Two operands of different dtypes are brought to the wider
# one.  Errors: tests/conformance/std/functions.py.  Directed rounding is exact: rounding.py.
import triton
import triton.language as tl
from nereid import bessel, core, operands, real32, real64, rounding, special

# ---- elementary functions ----


@triton.jit
def exp(x):
    return operands.one(x, real32.exp, real64.exp)


@triton.jit
def exp2(x):
    return operands.one(x, _exp2_32, real64.exp2)


@triton.jit
def exp10(x):
    return operands.one(x, real32.exp10, real64.exp10)


@triton.jit
def expm1(x):
    return operands.one(x, real32.expm1, real64.expm1)


@triton.jit
def log(x):
    return operands.one(x, real32.log, real64.log)


@triton.jit
def log2(x):
    return operands.one(x, real32.log2, real64.log2)


@triton.jit
def log10(x):
    return operands.one(x, real32.log10, real64.log10)


@triton.jit
def log1p(x):
    return operands.one(x, real32.log1p, real64.log1p)


@triton.jit
def sin(x):
    return operands.one(x, real32.sin, real64.sin)


@triton.jit
def cos(x):
    return operands.one(x, real32.cos, real64.cos)


@triton.jit
def tan(x):
    return operands.one(x, real32.tan, real64.tan)


@triton.jit
def sinpi(x):
    return operands.one(x, real32.sinpi, real64.sinpi)


@triton.jit
def cospi(x):
    return operands.one(x, real32.cospi, real64.cospi)


@triton.jit
def asin(x):
    return operands.one(x, real32.asin, real64.asin)


@triton.jit
def acos(x):
    return operands.one(x, real32.acos, real64.acos)


@triton.jit
def atan(x):
    return operands.one(x, real32.atan, real64.atan)


@triton.jit
def sinh(x):
    return operands.one(x, real32.sinh, real64.sinh)


@triton.jit
def cosh(x):
    return operands.one(x, real32.cosh, real64.cosh)


@triton.jit
def tanh(x):
    return operands.one(x, real32.tanh, real64.tanh)


@triton.jit
def asinh(x):
    return operands.one(x, real32.asinh, real64.asinh)


@triton.jit
def acosh(x):
    return operands.one(x, real32.acosh, real64.acosh)


@triton.jit
def atanh(x):
    return operands.one(x, real32.atanh, real64.atanh)


@triton.jit
def cbrt(x):
    return operands.one(x, real32.cbrt, real64.cbrt)


@triton.jit
def rcbrt(x):
    return operands.one(x, real32.rcbrt, real64.rcbrt)


@triton.jit
def erf(x):
    return operands.one(x, real32.erf, real64.erf)


@triton.jit
def erfc(x):
    return operands.one(x, real32.erfc, real64.erfc)


@triton.jit
def erfcx(x):
    return operands.one(x, real32.erfcx, real64.erfcx)


@triton.jit
def normcdf(x):
    return operands.one(x, real32.normcdf, real64.normcdf)


@triton.jit
def _exp2_32(x):
    # core.exp2 may give 0 for what is no normal number: the root of that, squared.
    tiny = x < -126.0
    r = core.exp2(tl.where(tiny, 0.5 * x, x))
    return tl.where(tiny, r * r, r)


@triton.jit
def erfinv(x):
    return operands.one(x, special.erfinv32, special.erfinv64)


@triton.jit
def erfcinv(x):
    return operands.one(x, special.erfcinv32, special.erfcinv64)


@triton.jit
def normcdfinv(x):
    return operands.one(x, special.normcdfinv32, special.normcdfinv64)


@triton.jit
def lgamma(x):
    return operands.via64(x, special.lgamma64)


@triton.jit
def tgamma(x):
    return operands.via64(x, special.tgamma64)


@triton.jit
def j0(x):
    return operands.via64(x, bessel.j0)


@triton.jit
def j1(x):
    return operands.via64(x, bessel.j1)


@triton.jit
def y0(x):
    return operands.via64(x, bessel.y0)


@triton.jit
def y1(x):
    return operands.via64(x, bessel.y1)


@triton.jit
def cyl_bessel_i0(x):
    return operands.via64(x, bessel.i0)


@triton.jit
def cyl_bessel_i1(x):
    return operands.via64(x, bessel.i1)


@triton.jit
def jn(n, x):
    x = tl.to_tensor(x)
    n = tl.to_tensor(n)
    t = x + n
    y = operands.like(x, t).to(tl.float64)
    return bessel.jn(operands.like(n, t.to(tl.int32)), y).to(x.dtype)


@triton.jit
def yn(n, x):
    x = tl.to_tensor(x)
    n = tl.to_tensor(n)
    t = x + n
    y = operands.like(x, t).to(tl.float64)
    return bessel.yn(operands.like(n, t.to(tl.int32)), y).to(x.dtype)


@triton.jit
def atan2(y, x):
    return operands.two(y, x, real32.atan2, real64.atan2)


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
        return operands.two(x, y, real32.pow, real64.pow)


@triton.jit
def _powi(x, n, f: tl.constexpr):
    t = x + n
    return f(operands.like(x, t), operands.like(n, t.to(tl.int32)))


# ---- roots and norms ----


@triton.jit
def sqrt(x):
    """f32: the hardware's approximation (1 ulp); f64: correctly rounded."""
    return operands.both(x, _sqrt)


@triton.jit
def _sqrt(x):
    if x.dtype == tl.float64:
        return core.sqrt_rn(x)
    else:
        return core.sqrt(x)


@triton.jit
def rsqrt(x):
    """f32: the hardware's approximation (2 ulp)."""
    return operands.one(x, _rsqrt32, real64.rsqrt)


@triton.jit
def _rsqrt32(x):
    return core.rsqrt(x)


@triton.jit
def rsqrt_rn(x):
    x = tl.to_tensor(x)
    return real32.rsqrt_rn(x)


@triton.jit
def _norm(x, y, z, w, f32: tl.constexpr, f64: tl.constexpr):
    t = tl.to_tensor(x) + y
    if z is not None:
        t = t + z
    if w is not None:
        t = t + w
    c = None if z is None else operands.like(z, t)
    d = None if w is None else operands.like(w, t)
    if t.dtype == tl.float64:
        return f64(operands.like(x, t), operands.like(y, t), c, d)
    else:
        return f32(operands.like(x, t), operands.like(y, t), c, d)


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
def abs(x):
    x = tl.to_tensor(x)
    return core.abs(x)


@triton.jit
def _floor(x):
    return core.floor(x)


@triton.jit
def floor(x):
    return operands.both(x, _floor)


@triton.jit
def _ceil(x):
    return core.ceil(x)


@triton.jit
def ceil(x):
    return operands.both(x, _ceil)


@triton.jit
def _trunc(x):
    return core.trunc(x)


@triton.jit
def trunc(x):
    return operands.both(x, _trunc)


@triton.jit
def _rint(x):
    return core.rint(x)


@triton.jit
def rint(x):
    return operands.both(x, _rint)


@triton.jit
def nearbyint(x):
    return operands.both(x, _rint)


@triton.jit
def _round(x):
    a = core.abs(x)
    r = core.trunc(a)
    return rounding.copysign(tl.where(a - r >= 0.5, r + 1.0, r), x)


@triton.jit
def round(x):
    """To the nearest integer, ties away from zero."""
    return operands.both(x, _round)


@triton.jit
def llrint(x):
    return rint(x).to(tl.int64)


@triton.jit
def llround(x):
    return round(x).to(tl.int64)


@triton.jit
def copysign(x, y):
    return operands.pair(x, y, rounding.copysign)


@triton.jit
def signbit(x):
    x = tl.to_tensor(x)
    return (rounding.bits_of(x) < 0).to(tl.int32)


@triton.jit
def isnan(x):
    x = tl.to_tensor(x)
    return x != x


@triton.jit
def isinf(x):
    x = tl.to_tensor(x)
    return core.abs(x) == float("inf")


@triton.jit
def finitef(x):
    x = tl.to_tensor(x)
    return core.abs(x) < float("inf")


@triton.jit
def isfinited(x):
    x = tl.to_tensor(x)
    return core.abs(x) < float("inf")


@triton.jit
def ilogb(x):
    """The exponent; of 0 and NaN the smallest i32, of infinities the largest."""
    return operands.both(x, rounding.ilogb)


@triton.jit
def logb(x):
    return operands.both(x, rounding.logb)


@triton.jit
def ldexp(x, n):
    """x * 2^n, rounded once."""
    x = tl.to_tensor(x)
    n = tl.to_tensor(n)
    t = x + n
    return rounding.ldexp(operands.like(x, t), operands.like(n, t.to(tl.int32)))


@triton.jit
def scalbn(x, n):
    return ldexp(x, n)


@triton.jit
def nextafter(x, y):
    return operands.pair(x, y, rounding.nextafter)


@triton.jit
def fdim(x, y):
    """x - y where that is positive, else 0."""
    x, y = operands.common(x, y)
    return tl.where(x <= y, 0.0, x - y)


@triton.jit
def fmod(x, y):
    return operands.pair(x, y, rounding.fmod)


@triton.jit
def remainder(x, y):
    return operands.pair(x, y, rounding.remainder)


@triton.jit
def saturatef(x):
    """Into [0, 1]; NaN gives 0."""
    x = tl.to_tensor(x)
    return core.min(core.max(x, 0.0), 1.0)


# ---- arithmetic with a given rounding ----


@triton.jit
def add_rn(x, y):
    return operands.pair(x, y, rounding.add_rn)


@triton.jit
def add_rz(x, y):
    return operands.pair(x, y, rounding.add_rz)


@triton.jit
def add_rd(x, y):
    return operands.pair(x, y, rounding.add_rd)


@triton.jit
def add_ru(x, y):
    return operands.pair(x, y, rounding.add_ru)


@triton.jit
def sub_rn(x, y):
    return operands.pair(x, y, rounding.sub_rn)


@triton.jit
def sub_rz(x, y):
    return operands.pair(x, y, rounding.sub_rz)


@triton.jit
def sub_rd(x, y):
    return operands.pair(x, y, rounding.sub_rd)


@triton.jit
def sub_ru(x, y):
    return operands.pair(x, y, rounding.sub_ru)


@triton.jit
def mul_rn(x, y):
    return operands.pair(x, y, rounding.mul_rn)


@triton.jit
def mul_rz(x, y):
    return operands.pair(x, y, rounding.mul_rz)


@triton.jit
def mul_rd(x, y):
    return operands.pair(x, y, rounding.mul_rd)


@triton.jit
def mul_ru(x, y):
    return operands.pair(x, y, rounding.mul_ru)


@triton.jit
def div_rn(x, y):
    return operands.pair(x, y, rounding.div_rn)


@triton.jit
def div_rz(x, y):
    return operands.pair(x, y, rounding.div_rz)


@triton.jit
def div_rd(x, y):
    return operands.pair(x, y, rounding.div_rd)


@triton.jit
def div_ru(x, y):
    return operands.pair(x, y, rounding.div_ru)


@triton.jit
def rcp_rn(x):
    return operands.both(x, rounding.rcp_rn)


@triton.jit
def rcp_rz(x):
    return operands.both(x, rounding.rcp_rz)


@triton.jit
def rcp_rd(x):
    return operands.both(x, rounding.rcp_rd)


@triton.jit
def rcp_ru(x):
    return operands.both(x, rounding.rcp_ru)


@triton.jit
def sqrt_rn(x):
    return operands.both(x, rounding.sqrt_rn)


@triton.jit
def sqrt_rz(x):
    return operands.both(x, rounding.sqrt_rz)


@triton.jit
def sqrt_rd(x):
    return operands.both(x, rounding.sqrt_rd)


@triton.jit
def sqrt_ru(x):
    return operands.both(x, rounding.sqrt_ru)


@triton.jit
def fma(x, y, z):
    return operands.three(x, y, z, rounding.fma_rn)


@triton.jit
def fma_rn(x, y, z):
    return operands.three(x, y, z, rounding.fma_rn)


@triton.jit
def fma_rz(x, y, z):
    return operands.three(x, y, z, rounding.fma_rz)


@triton.jit
def fma_rd(x, y, z):
    return operands.three(x, y, z, rounding.fma_rd)


@triton.jit
def fma_ru(x, y, z):
    return operands.three(x, y, z, rounding.fma_ru)


# ---- fast forms of f32: the hardware's approximations ----


@triton.jit
def fast_sinf(x):
    x = tl.to_tensor(x)
    return core.sin(x)


@triton.jit
def fast_cosf(x):
    x = tl.to_tensor(x)
    return core.cos(x)


@triton.jit
def fast_tanf(x):
    x = tl.to_tensor(x)
    return core.sin(x) * core.rcp(core.cos(x))


@triton.jit
def fast_tanhf(x):
    x = tl.to_tensor(x)
    return core.tanh(x)


@triton.jit
def fast_expf(x):
    x = tl.to_tensor(x)
    return core.exp2(x * 1.4426950408889634)


@triton.jit
def fast_exp10f(x):
    x = tl.to_tensor(x)
    return core.exp2(x * 3.321928094887362)


@triton.jit
def fast_log2f(x):
    x = tl.to_tensor(x)
    return core.log2(x)


@triton.jit
def fast_logf(x):
    x = tl.to_tensor(x)
    return core.log2(x) * 0.6931471805599453


@triton.jit
def fast_log10f(x):
    x = tl.to_tensor(x)
    return core.log2(x) * 0.3010299956639812


@triton.jit
def fast_powf(x, y):
    x, y = operands.common(x, y)
    return core.exp2(y * core.log2(x))


@triton.jit
def fast_dividef(x, y):
    x, y = operands.common(x, y)
    return x * core.rcp(y)
