"""The functions of libdevice, whose `f` and `rn` are CUDA's.

Made by `make docs` from the compiler's table of builtins and lang/std.
"""

from __future__ import annotations

from nereid.language.core import tensor
from nereid.language.types import outside_kernel

__all__ = [
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinpi",
    "cospi", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt",
    "rcbrt", "erf", "erfc", "erfcx", "normcdf", "erfinv", "erfcinv", "normcdfinv", "lgamma",
    "tgamma", "j0", "j1", "y0", "y1", "cyl_bessel_i0", "cyl_bessel_i1", "jn", "yn", "atan2", "pow",
    "sqrt", "rsqrt", "rsqrt_rn", "hypot", "rhypot", "norm3d", "rnorm3d", "norm4d", "rnorm4d", "abs",
    "floor", "ceil", "trunc", "rint", "nearbyint", "round", "llrint", "llround", "copysign",
    "signbit", "isnan", "isinf", "finitef", "isfinited", "ilogb", "logb", "ldexp", "scalbn",
    "nextafter", "fdim", "fmod", "remainder", "saturatef", "add_rn", "add_rz", "add_rd", "add_ru",
    "sub_rn", "sub_rz", "sub_rd", "sub_ru", "mul_rn", "mul_rz", "mul_rd", "mul_ru", "div_rn",
    "div_rz", "div_rd", "div_ru", "rcp_rn", "rcp_rz", "rcp_rd", "rcp_ru", "sqrt_rn", "sqrt_rz",
    "sqrt_rd", "sqrt_ru", "fma", "fma_rn", "fma_rz", "fma_rd", "fma_ru", "fast_sinf", "fast_cosf",
    "fast_tanf", "fast_tanhf", "fast_expf", "fast_exp10f", "fast_log2f", "fast_logf", "fast_log10f",
    "fast_powf", "fast_dividef", "clz", "popc", "brev", "ffs", "mulhi", "mul24", "hadd", "rhadd",
    "sad", "byte_perm", "int_as_float", "float_as_int", "uint_as_float", "float_as_uint",
    "longlong_as_double", "double_as_longlong", "hiloint2double", "double2loint", "double2hiint",
    "rcp64h", "float2int_rn", "float2int_rz", "float2int_rd", "float2int_ru", "float2uint_rn",
    "float2uint_rz", "float2uint_rd", "float2uint_ru", "float2ll_rn", "float2ll_rz", "float2ll_rd",
    "float2ll_ru", "float2ull_rn", "float2ull_rz", "float2ull_rd", "float2ull_ru", "double2int_rn",
    "double2int_rz", "double2int_rd", "double2int_ru", "double2uint_rn", "double2uint_rz",
    "double2uint_rd", "double2uint_ru", "double2ll_rn", "double2ll_rz", "double2ll_rd",
    "double2ll_ru", "double2ull_rn", "double2ull_rz", "double2ull_rd", "double2ull_ru",
    "int2float_rn", "int2float_rz", "int2float_rd", "int2float_ru", "int2double_rn",
    "uint2float_rn", "uint2float_rz", "uint2float_rd", "uint2float_ru", "uint2double_rn",
    "ll2float_rn", "ll2float_rz", "ll2float_rd", "ll2float_ru", "ll2double_rn", "ll2double_rz",
    "ll2double_rd", "ll2double_ru", "ull2float_rn", "ull2float_rz", "ull2float_rd", "ull2float_ru",
    "ull2double_rn", "ull2double_rz", "ull2double_rd", "ull2double_ru", "double2float_rn",
    "double2float_rz", "double2float_rd", "double2float_ru",
]


def exp(x, _semantic=None) -> tensor:
    """e to the power of x."""
    raise outside_kernel("extra.libdevice.exp")


def exp2(x, _semantic=None) -> tensor:
    """2 to the power of x."""
    raise outside_kernel("extra.libdevice.exp2")


def exp10(x, _semantic=None) -> tensor:
    """10 to the power of x."""
    raise outside_kernel("extra.libdevice.exp10")


def expm1(x, _semantic=None) -> tensor:
    """exp(x) - 1."""
    raise outside_kernel("extra.libdevice.expm1")


def log(x, _semantic=None) -> tensor:
    """The natural logarithm."""
    raise outside_kernel("extra.libdevice.log")


def log2(x, _semantic=None) -> tensor:
    """The logarithm to base 2."""
    raise outside_kernel("extra.libdevice.log2")


def log10(x, _semantic=None) -> tensor:
    """The logarithm to base 10."""
    raise outside_kernel("extra.libdevice.log10")


def log1p(x, _semantic=None) -> tensor:
    """log(1 + x)."""
    raise outside_kernel("extra.libdevice.log1p")


def sin(x, _semantic=None) -> tensor:
    """The sine."""
    raise outside_kernel("extra.libdevice.sin")


def cos(x, _semantic=None) -> tensor:
    """The cosine."""
    raise outside_kernel("extra.libdevice.cos")


def tan(x, _semantic=None) -> tensor:
    """The tangent."""
    raise outside_kernel("extra.libdevice.tan")


def sinpi(x, _semantic=None) -> tensor:
    """sin(pi x)."""
    raise outside_kernel("extra.libdevice.sinpi")


def cospi(x, _semantic=None) -> tensor:
    """cos(pi x)."""
    raise outside_kernel("extra.libdevice.cospi")


def asin(x, _semantic=None) -> tensor:
    """The inverse of the sine."""
    raise outside_kernel("extra.libdevice.asin")


def acos(x, _semantic=None) -> tensor:
    """The inverse of the cosine."""
    raise outside_kernel("extra.libdevice.acos")


def atan(x, _semantic=None) -> tensor:
    """The inverse of the tangent."""
    raise outside_kernel("extra.libdevice.atan")


def sinh(x, _semantic=None) -> tensor:
    """The hyperbolic sine."""
    raise outside_kernel("extra.libdevice.sinh")


def cosh(x, _semantic=None) -> tensor:
    """The hyperbolic cosine."""
    raise outside_kernel("extra.libdevice.cosh")


def tanh(x, _semantic=None) -> tensor:
    """The hyperbolic tangent."""
    raise outside_kernel("extra.libdevice.tanh")


def asinh(x, _semantic=None) -> tensor:
    """The inverse of the hyperbolic sine."""
    raise outside_kernel("extra.libdevice.asinh")


def acosh(x, _semantic=None) -> tensor:
    """The inverse of the hyperbolic cosine."""
    raise outside_kernel("extra.libdevice.acosh")


def atanh(x, _semantic=None) -> tensor:
    """The inverse of the hyperbolic tangent."""
    raise outside_kernel("extra.libdevice.atanh")


def cbrt(x, _semantic=None) -> tensor:
    """The cube root."""
    raise outside_kernel("extra.libdevice.cbrt")


def rcbrt(x, _semantic=None) -> tensor:
    """1 over the cube root."""
    raise outside_kernel("extra.libdevice.rcbrt")


def erf(x, _semantic=None) -> tensor:
    """The error function."""
    raise outside_kernel("extra.libdevice.erf")


def erfc(x, _semantic=None) -> tensor:
    """1 - erf(x)."""
    raise outside_kernel("extra.libdevice.erfc")


def erfcx(x, _semantic=None) -> tensor:
    """exp(x^2) erfc(x)."""
    raise outside_kernel("extra.libdevice.erfcx")


def normcdf(x, _semantic=None) -> tensor:
    """The distribution function of the standard normal distribution."""
    raise outside_kernel("extra.libdevice.normcdf")


def erfinv(x, _semantic=None) -> tensor:
    """The inverse of the error function."""
    raise outside_kernel("extra.libdevice.erfinv")


def erfcinv(x, _semantic=None) -> tensor:
    """The inverse of erfc."""
    raise outside_kernel("extra.libdevice.erfcinv")


def normcdfinv(x, _semantic=None) -> tensor:
    """The inverse of normcdf."""
    raise outside_kernel("extra.libdevice.normcdfinv")


def lgamma(x, _semantic=None) -> tensor:
    """The logarithm of the absolute value of the gamma function."""
    raise outside_kernel("extra.libdevice.lgamma")


def tgamma(x, _semantic=None) -> tensor:
    """The gamma function."""
    raise outside_kernel("extra.libdevice.tgamma")


def j0(x, _semantic=None) -> tensor:
    """The Bessel function of the first kind of order 0."""
    raise outside_kernel("extra.libdevice.j0")


def j1(x, _semantic=None) -> tensor:
    """The Bessel function of the first kind of order 1."""
    raise outside_kernel("extra.libdevice.j1")


def y0(x, _semantic=None) -> tensor:
    """The Bessel function of the second kind of order 0."""
    raise outside_kernel("extra.libdevice.y0")


def y1(x, _semantic=None) -> tensor:
    """The Bessel function of the second kind of order 1."""
    raise outside_kernel("extra.libdevice.y1")


def cyl_bessel_i0(x, _semantic=None) -> tensor:
    """The modified Bessel function of order 0."""
    raise outside_kernel("extra.libdevice.cyl_bessel_i0")


def cyl_bessel_i1(x, _semantic=None) -> tensor:
    """The modified Bessel function of order 1."""
    raise outside_kernel("extra.libdevice.cyl_bessel_i1")


def jn(n, x, _semantic=None) -> tensor:
    """The Bessel function of the first kind of order n."""
    raise outside_kernel("extra.libdevice.jn")


def yn(n, x, _semantic=None) -> tensor:
    """The Bessel function of the second kind of order n."""
    raise outside_kernel("extra.libdevice.yn")


def atan2(y, x, _semantic=None) -> tensor:
    """The angle of the point (x, y)."""
    raise outside_kernel("extra.libdevice.atan2")


def pow(x, y, _semantic=None) -> tensor:
    """X^y; y may be an i32."""
    raise outside_kernel("extra.libdevice.pow")


def sqrt(x, _semantic=None) -> tensor:
    """F32: the hardware's approximation (1 ulp); f64: correctly rounded."""
    raise outside_kernel("extra.libdevice.sqrt")


def rsqrt(x, _semantic=None) -> tensor:
    """F32: the hardware's approximation (2 ulp)."""
    raise outside_kernel("extra.libdevice.rsqrt")


def rsqrt_rn(x, _semantic=None) -> tensor:
    """1 / sqrt(x), rounded to the nearest."""
    raise outside_kernel("extra.libdevice.rsqrt_rn")


def hypot(x, y, _semantic=None) -> tensor:
    """sqrt(x^2 + y^2)."""
    raise outside_kernel("extra.libdevice.hypot")


def rhypot(x, y, _semantic=None) -> tensor:
    """1 / sqrt(x^2 + y^2)."""
    raise outside_kernel("extra.libdevice.rhypot")


def norm3d(x, y, z, _semantic=None) -> tensor:
    """sqrt(x^2 + y^2 + z^2)."""
    raise outside_kernel("extra.libdevice.norm3d")


def rnorm3d(x, y, z, _semantic=None) -> tensor:
    """1 / sqrt(x^2 + y^2 + z^2)."""
    raise outside_kernel("extra.libdevice.rnorm3d")


def norm4d(x, y, z, w, _semantic=None) -> tensor:
    """sqrt(x^2 + y^2 + z^2 + w^2)."""
    raise outside_kernel("extra.libdevice.norm4d")


def rnorm4d(x, y, z, w, _semantic=None) -> tensor:
    """1 / sqrt(x^2 + y^2 + z^2 + w^2)."""
    raise outside_kernel("extra.libdevice.rnorm4d")


def abs(x, _semantic=None) -> tensor:
    """The absolute value."""
    raise outside_kernel("extra.libdevice.abs")


def floor(x, _semantic=None) -> tensor:
    """The next integer towards minus infinity."""
    raise outside_kernel("extra.libdevice.floor")


def ceil(x, _semantic=None) -> tensor:
    """The next integer towards infinity."""
    raise outside_kernel("extra.libdevice.ceil")


def trunc(x, _semantic=None) -> tensor:
    """The next integer towards zero."""
    raise outside_kernel("extra.libdevice.trunc")


def rint(x, _semantic=None) -> tensor:
    """The nearest integer, of two the even one."""
    raise outside_kernel("extra.libdevice.rint")


def nearbyint(x, _semantic=None) -> tensor:
    """The nearest integer, of two the even one."""
    raise outside_kernel("extra.libdevice.nearbyint")


def round(x, _semantic=None) -> tensor:
    """To the nearest integer, ties away from zero."""
    raise outside_kernel("extra.libdevice.round")


def llrint(x, _semantic=None) -> tensor:
    """The nearest integer as int64, of two the even one."""
    raise outside_kernel("extra.libdevice.llrint")


def llround(x, _semantic=None) -> tensor:
    """The nearest integer as int64, ties away from zero."""
    raise outside_kernel("extra.libdevice.llround")


def copysign(x, y, _semantic=None) -> tensor:
    """x with the sign of y."""
    raise outside_kernel("extra.libdevice.copysign")


def signbit(x, _semantic=None) -> tensor:
    """Whether the sign bit is set."""
    raise outside_kernel("extra.libdevice.signbit")


def isnan(x, _semantic=None) -> tensor:
    """Whether x is NaN."""
    raise outside_kernel("extra.libdevice.isnan")


def isinf(x, _semantic=None) -> tensor:
    """Whether x is infinite."""
    raise outside_kernel("extra.libdevice.isinf")


def finitef(x, _semantic=None) -> tensor:
    """Whether a float32 is finite."""
    raise outside_kernel("extra.libdevice.finitef")


def isfinited(x, _semantic=None) -> tensor:
    """Whether a float64 is finite."""
    raise outside_kernel("extra.libdevice.isfinited")


def ilogb(x, _semantic=None) -> tensor:
    """The exponent; of 0 and NaN the smallest i32, of infinities the largest."""
    raise outside_kernel("extra.libdevice.ilogb")


def logb(x, _semantic=None) -> tensor:
    """The exponent, as a float."""
    raise outside_kernel("extra.libdevice.logb")


def ldexp(x, n, _semantic=None) -> tensor:
    """X * 2^n, rounded once."""
    raise outside_kernel("extra.libdevice.ldexp")


def scalbn(x, n, _semantic=None) -> tensor:
    """x * 2^n, rounded once."""
    raise outside_kernel("extra.libdevice.scalbn")


def nextafter(x, y, _semantic=None) -> tensor:
    """The next float from x towards y."""
    raise outside_kernel("extra.libdevice.nextafter")


def fdim(x, y, _semantic=None) -> tensor:
    """X - y where that is positive, else 0."""
    raise outside_kernel("extra.libdevice.fdim")


def fmod(x, y, _semantic=None) -> tensor:
    """The remainder of the division, with the sign of x."""
    raise outside_kernel("extra.libdevice.fmod")


def remainder(x, y, _semantic=None) -> tensor:
    """The remainder of the division to the nearest."""
    raise outside_kernel("extra.libdevice.remainder")


def saturatef(x, _semantic=None) -> tensor:
    """Into [0, 1]; NaN gives 0."""
    raise outside_kernel("extra.libdevice.saturatef")


def add_rn(x, y, _semantic=None) -> tensor:
    """x + y, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.add_rn")


def add_rz(x, y, _semantic=None) -> tensor:
    """x + y, rounded towards zero."""
    raise outside_kernel("extra.libdevice.add_rz")


def add_rd(x, y, _semantic=None) -> tensor:
    """x + y, rounded down."""
    raise outside_kernel("extra.libdevice.add_rd")


def add_ru(x, y, _semantic=None) -> tensor:
    """x + y, rounded up."""
    raise outside_kernel("extra.libdevice.add_ru")


def sub_rn(x, y, _semantic=None) -> tensor:
    """x - y, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.sub_rn")


def sub_rz(x, y, _semantic=None) -> tensor:
    """x - y, rounded towards zero."""
    raise outside_kernel("extra.libdevice.sub_rz")


def sub_rd(x, y, _semantic=None) -> tensor:
    """x - y, rounded down."""
    raise outside_kernel("extra.libdevice.sub_rd")


def sub_ru(x, y, _semantic=None) -> tensor:
    """x - y, rounded up."""
    raise outside_kernel("extra.libdevice.sub_ru")


def mul_rn(x, y, _semantic=None) -> tensor:
    """x * y, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.mul_rn")


def mul_rz(x, y, _semantic=None) -> tensor:
    """x * y, rounded towards zero."""
    raise outside_kernel("extra.libdevice.mul_rz")


def mul_rd(x, y, _semantic=None) -> tensor:
    """x * y, rounded down."""
    raise outside_kernel("extra.libdevice.mul_rd")


def mul_ru(x, y, _semantic=None) -> tensor:
    """x * y, rounded up."""
    raise outside_kernel("extra.libdevice.mul_ru")


def div_rn(x, y, _semantic=None) -> tensor:
    """x / y, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.div_rn")


def div_rz(x, y, _semantic=None) -> tensor:
    """x / y, rounded towards zero."""
    raise outside_kernel("extra.libdevice.div_rz")


def div_rd(x, y, _semantic=None) -> tensor:
    """x / y, rounded down."""
    raise outside_kernel("extra.libdevice.div_rd")


def div_ru(x, y, _semantic=None) -> tensor:
    """x / y, rounded up."""
    raise outside_kernel("extra.libdevice.div_ru")


def rcp_rn(x, _semantic=None) -> tensor:
    """1 / x, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.rcp_rn")


def rcp_rz(x, _semantic=None) -> tensor:
    """1 / x, rounded towards zero."""
    raise outside_kernel("extra.libdevice.rcp_rz")


def rcp_rd(x, _semantic=None) -> tensor:
    """1 / x, rounded down."""
    raise outside_kernel("extra.libdevice.rcp_rd")


def rcp_ru(x, _semantic=None) -> tensor:
    """1 / x, rounded up."""
    raise outside_kernel("extra.libdevice.rcp_ru")


def sqrt_rn(x, _semantic=None) -> tensor:
    """The square root, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.sqrt_rn")


def sqrt_rz(x, _semantic=None) -> tensor:
    """The square root, rounded towards zero."""
    raise outside_kernel("extra.libdevice.sqrt_rz")


def sqrt_rd(x, _semantic=None) -> tensor:
    """The square root, rounded down."""
    raise outside_kernel("extra.libdevice.sqrt_rd")


def sqrt_ru(x, _semantic=None) -> tensor:
    """The square root, rounded up."""
    raise outside_kernel("extra.libdevice.sqrt_ru")


def fma(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded once."""
    raise outside_kernel("extra.libdevice.fma")


def fma_rn(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.fma_rn")


def fma_rz(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded towards zero."""
    raise outside_kernel("extra.libdevice.fma_rz")


def fma_rd(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded down."""
    raise outside_kernel("extra.libdevice.fma_rd")


def fma_ru(x, y, z, _semantic=None) -> tensor:
    """x * y + z, rounded up."""
    raise outside_kernel("extra.libdevice.fma_ru")


def fast_sinf(x, _semantic=None) -> tensor:
    """The sine by the hardware."""
    raise outside_kernel("extra.libdevice.fast_sinf")


def fast_cosf(x, _semantic=None) -> tensor:
    """The cosine by the hardware."""
    raise outside_kernel("extra.libdevice.fast_cosf")


def fast_tanf(x, _semantic=None) -> tensor:
    """The tangent by the hardware."""
    raise outside_kernel("extra.libdevice.fast_tanf")


def fast_tanhf(x, _semantic=None) -> tensor:
    """The hyperbolic tangent by the hardware."""
    raise outside_kernel("extra.libdevice.fast_tanhf")


def fast_expf(x, _semantic=None) -> tensor:
    """e to the power of x by the hardware."""
    raise outside_kernel("extra.libdevice.fast_expf")


def fast_exp10f(x, _semantic=None) -> tensor:
    """10 to the power of x by the hardware."""
    raise outside_kernel("extra.libdevice.fast_exp10f")


def fast_log2f(x, _semantic=None) -> tensor:
    """The logarithm to base 2 by the hardware."""
    raise outside_kernel("extra.libdevice.fast_log2f")


def fast_logf(x, _semantic=None) -> tensor:
    """The natural logarithm by the hardware."""
    raise outside_kernel("extra.libdevice.fast_logf")


def fast_log10f(x, _semantic=None) -> tensor:
    """The logarithm to base 10 by the hardware."""
    raise outside_kernel("extra.libdevice.fast_log10f")


def fast_powf(x, y, _semantic=None) -> tensor:
    """x to the power of y by the hardware."""
    raise outside_kernel("extra.libdevice.fast_powf")


def fast_dividef(x, y, _semantic=None) -> tensor:
    """x / y by the hardware."""
    raise outside_kernel("extra.libdevice.fast_dividef")


def clz(x, _semantic=None) -> tensor:
    """The number of leading zero bits."""
    raise outside_kernel("extra.libdevice.clz")


def popc(x, _semantic=None) -> tensor:
    """The number of one bits."""
    raise outside_kernel("extra.libdevice.popc")


def brev(x, _semantic=None) -> tensor:
    """The bits in reverse order."""
    raise outside_kernel("extra.libdevice.brev")


def ffs(x, _semantic=None) -> tensor:
    """The number of the lowest one bit, from 1; 0 for 0."""
    raise outside_kernel("extra.libdevice.ffs")


def mulhi(x, y, _semantic=None) -> tensor:
    """The upper half of the product."""
    raise outside_kernel("extra.libdevice.mulhi")


def mul24(x, y, _semantic=None) -> tensor:
    """The product of the low 24 bits."""
    raise outside_kernel("extra.libdevice.mul24")


def hadd(x, y, _semantic=None) -> tensor:
    """The mean, rounded down."""
    raise outside_kernel("extra.libdevice.hadd")


def rhadd(x, y, _semantic=None) -> tensor:
    """The mean, rounded up."""
    raise outside_kernel("extra.libdevice.rhadd")


def sad(x, y, z, _semantic=None) -> tensor:
    """abs(x - y) + z."""
    raise outside_kernel("extra.libdevice.sad")


def byte_perm(x, y, s, _semantic=None) -> tensor:
    """Four bytes chosen from the eight of y:x."""
    raise outside_kernel("extra.libdevice.byte_perm")


def int_as_float(x, _semantic=None) -> tensor:
    """The bits of an int32 as a float32."""
    raise outside_kernel("extra.libdevice.int_as_float")


def float_as_int(x, _semantic=None) -> tensor:
    """The bits of a float32 as an int32."""
    raise outside_kernel("extra.libdevice.float_as_int")


def uint_as_float(x, _semantic=None) -> tensor:
    """The bits of a uint32 as a float32."""
    raise outside_kernel("extra.libdevice.uint_as_float")


def float_as_uint(x, _semantic=None) -> tensor:
    """The bits of a float32 as a uint32."""
    raise outside_kernel("extra.libdevice.float_as_uint")


def longlong_as_double(x, _semantic=None) -> tensor:
    """The bits of an int64 as a float64."""
    raise outside_kernel("extra.libdevice.longlong_as_double")


def double_as_longlong(x, _semantic=None) -> tensor:
    """The bits of a float64 as an int64."""
    raise outside_kernel("extra.libdevice.double_as_longlong")


def hiloint2double(hi, lo, _semantic=None) -> tensor:
    """The float64 of two halves of bits."""
    raise outside_kernel("extra.libdevice.hiloint2double")


def double2loint(x, _semantic=None) -> tensor:
    """The lower half of the bits of a float64."""
    raise outside_kernel("extra.libdevice.double2loint")


def double2hiint(x, _semantic=None) -> tensor:
    """The upper half of the bits of a float64."""
    raise outside_kernel("extra.libdevice.double2hiint")


def rcp64h(x, _semantic=None) -> tensor:
    """1 / x from and to the upper 32 bits; the others are 0."""
    raise outside_kernel("extra.libdevice.rcp64h")


def float2int_rn(x, _semantic=None) -> tensor:
    """The float32 x as int32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.float2int_rn")


def float2int_rz(x, _semantic=None) -> tensor:
    """The float32 x as int32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.float2int_rz")


def float2int_rd(x, _semantic=None) -> tensor:
    """The float32 x as int32, rounded down."""
    raise outside_kernel("extra.libdevice.float2int_rd")


def float2int_ru(x, _semantic=None) -> tensor:
    """The float32 x as int32, rounded up."""
    raise outside_kernel("extra.libdevice.float2int_ru")


def float2uint_rn(x, _semantic=None) -> tensor:
    """The float32 x as uint32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.float2uint_rn")


def float2uint_rz(x, _semantic=None) -> tensor:
    """The float32 x as uint32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.float2uint_rz")


def float2uint_rd(x, _semantic=None) -> tensor:
    """The float32 x as uint32, rounded down."""
    raise outside_kernel("extra.libdevice.float2uint_rd")


def float2uint_ru(x, _semantic=None) -> tensor:
    """The float32 x as uint32, rounded up."""
    raise outside_kernel("extra.libdevice.float2uint_ru")


def float2ll_rn(x, _semantic=None) -> tensor:
    """The float32 x as int64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.float2ll_rn")


def float2ll_rz(x, _semantic=None) -> tensor:
    """The float32 x as int64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.float2ll_rz")


def float2ll_rd(x, _semantic=None) -> tensor:
    """The float32 x as int64, rounded down."""
    raise outside_kernel("extra.libdevice.float2ll_rd")


def float2ll_ru(x, _semantic=None) -> tensor:
    """The float32 x as int64, rounded up."""
    raise outside_kernel("extra.libdevice.float2ll_ru")


def float2ull_rn(x, _semantic=None) -> tensor:
    """The float32 x as uint64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.float2ull_rn")


def float2ull_rz(x, _semantic=None) -> tensor:
    """The float32 x as uint64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.float2ull_rz")


def float2ull_rd(x, _semantic=None) -> tensor:
    """The float32 x as uint64, rounded down."""
    raise outside_kernel("extra.libdevice.float2ull_rd")


def float2ull_ru(x, _semantic=None) -> tensor:
    """The float32 x as uint64, rounded up."""
    raise outside_kernel("extra.libdevice.float2ull_ru")


def double2int_rn(x, _semantic=None) -> tensor:
    """The float64 x as int32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.double2int_rn")


def double2int_rz(x, _semantic=None) -> tensor:
    """The float64 x as int32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.double2int_rz")


def double2int_rd(x, _semantic=None) -> tensor:
    """The float64 x as int32, rounded down."""
    raise outside_kernel("extra.libdevice.double2int_rd")


def double2int_ru(x, _semantic=None) -> tensor:
    """The float64 x as int32, rounded up."""
    raise outside_kernel("extra.libdevice.double2int_ru")


def double2uint_rn(x, _semantic=None) -> tensor:
    """The float64 x as uint32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.double2uint_rn")


def double2uint_rz(x, _semantic=None) -> tensor:
    """The float64 x as uint32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.double2uint_rz")


def double2uint_rd(x, _semantic=None) -> tensor:
    """The float64 x as uint32, rounded down."""
    raise outside_kernel("extra.libdevice.double2uint_rd")


def double2uint_ru(x, _semantic=None) -> tensor:
    """The float64 x as uint32, rounded up."""
    raise outside_kernel("extra.libdevice.double2uint_ru")


def double2ll_rn(x, _semantic=None) -> tensor:
    """The float64 x as int64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.double2ll_rn")


def double2ll_rz(x, _semantic=None) -> tensor:
    """The float64 x as int64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.double2ll_rz")


def double2ll_rd(x, _semantic=None) -> tensor:
    """The float64 x as int64, rounded down."""
    raise outside_kernel("extra.libdevice.double2ll_rd")


def double2ll_ru(x, _semantic=None) -> tensor:
    """The float64 x as int64, rounded up."""
    raise outside_kernel("extra.libdevice.double2ll_ru")


def double2ull_rn(x, _semantic=None) -> tensor:
    """The float64 x as uint64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.double2ull_rn")


def double2ull_rz(x, _semantic=None) -> tensor:
    """The float64 x as uint64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.double2ull_rz")


def double2ull_rd(x, _semantic=None) -> tensor:
    """The float64 x as uint64, rounded down."""
    raise outside_kernel("extra.libdevice.double2ull_rd")


def double2ull_ru(x, _semantic=None) -> tensor:
    """The float64 x as uint64, rounded up."""
    raise outside_kernel("extra.libdevice.double2ull_ru")


def int2float_rn(x, _semantic=None) -> tensor:
    """The int32 x as float32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.int2float_rn")


def int2float_rz(x, _semantic=None) -> tensor:
    """The int32 x as float32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.int2float_rz")


def int2float_rd(x, _semantic=None) -> tensor:
    """The int32 x as float32, rounded down."""
    raise outside_kernel("extra.libdevice.int2float_rd")


def int2float_ru(x, _semantic=None) -> tensor:
    """The int32 x as float32, rounded up."""
    raise outside_kernel("extra.libdevice.int2float_ru")


def int2double_rn(x, _semantic=None) -> tensor:
    """The int32 x as float64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.int2double_rn")


def uint2float_rn(x, _semantic=None) -> tensor:
    """The uint32 x as float32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.uint2float_rn")


def uint2float_rz(x, _semantic=None) -> tensor:
    """The uint32 x as float32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.uint2float_rz")


def uint2float_rd(x, _semantic=None) -> tensor:
    """The uint32 x as float32, rounded down."""
    raise outside_kernel("extra.libdevice.uint2float_rd")


def uint2float_ru(x, _semantic=None) -> tensor:
    """The uint32 x as float32, rounded up."""
    raise outside_kernel("extra.libdevice.uint2float_ru")


def uint2double_rn(x, _semantic=None) -> tensor:
    """The uint32 x as float64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.uint2double_rn")


def ll2float_rn(x, _semantic=None) -> tensor:
    """The int64 x as float32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.ll2float_rn")


def ll2float_rz(x, _semantic=None) -> tensor:
    """The int64 x as float32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.ll2float_rz")


def ll2float_rd(x, _semantic=None) -> tensor:
    """The int64 x as float32, rounded down."""
    raise outside_kernel("extra.libdevice.ll2float_rd")


def ll2float_ru(x, _semantic=None) -> tensor:
    """The int64 x as float32, rounded up."""
    raise outside_kernel("extra.libdevice.ll2float_ru")


def ll2double_rn(x, _semantic=None) -> tensor:
    """The int64 x as float64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.ll2double_rn")


def ll2double_rz(x, _semantic=None) -> tensor:
    """The int64 x as float64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.ll2double_rz")


def ll2double_rd(x, _semantic=None) -> tensor:
    """The int64 x as float64, rounded down."""
    raise outside_kernel("extra.libdevice.ll2double_rd")


def ll2double_ru(x, _semantic=None) -> tensor:
    """The int64 x as float64, rounded up."""
    raise outside_kernel("extra.libdevice.ll2double_ru")


def ull2float_rn(x, _semantic=None) -> tensor:
    """The uint64 x as float32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.ull2float_rn")


def ull2float_rz(x, _semantic=None) -> tensor:
    """The uint64 x as float32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.ull2float_rz")


def ull2float_rd(x, _semantic=None) -> tensor:
    """The uint64 x as float32, rounded down."""
    raise outside_kernel("extra.libdevice.ull2float_rd")


def ull2float_ru(x, _semantic=None) -> tensor:
    """The uint64 x as float32, rounded up."""
    raise outside_kernel("extra.libdevice.ull2float_ru")


def ull2double_rn(x, _semantic=None) -> tensor:
    """The uint64 x as float64, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.ull2double_rn")


def ull2double_rz(x, _semantic=None) -> tensor:
    """The uint64 x as float64, rounded towards zero."""
    raise outside_kernel("extra.libdevice.ull2double_rz")


def ull2double_rd(x, _semantic=None) -> tensor:
    """The uint64 x as float64, rounded down."""
    raise outside_kernel("extra.libdevice.ull2double_rd")


def ull2double_ru(x, _semantic=None) -> tensor:
    """The uint64 x as float64, rounded up."""
    raise outside_kernel("extra.libdevice.ull2double_ru")


def double2float_rn(x, _semantic=None) -> tensor:
    """The float64 x as float32, rounded to nearest even."""
    raise outside_kernel("extra.libdevice.double2float_rn")


def double2float_rz(x, _semantic=None) -> tensor:
    """The float64 x as float32, rounded towards zero."""
    raise outside_kernel("extra.libdevice.double2float_rz")


def double2float_rd(x, _semantic=None) -> tensor:
    """The float64 x as float32, rounded down."""
    raise outside_kernel("extra.libdevice.double2float_rd")


def double2float_ru(x, _semantic=None) -> tensor:
    """The float64 x as float32, rounded up."""
    raise outside_kernel("extra.libdevice.double2float_ru")
