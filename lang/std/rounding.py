# Directed rounding, remainders, and the parts of a number, for libdevice.py; f32 and f64 alike.
#
# Rounding down, up or towards zero starts from the rounded result s and the sign of exact - s,
# which an error-free transformation gives: where the two disagree, the neighbour of s is the
# answer.
import triton
import triton.language as tl
from nereid import basic, core, real32, real64

# ---- bits ----


@triton.jit
def bits_of(x):
    if x.dtype == tl.float64:
        return core.bitcast(x, tl.int64)
    else:
        return core.bitcast(x, tl.int32)


@triton.jit
def _from_bits(b):
    if b.dtype == tl.int64:
        return core.bitcast(b, tl.float64)
    else:
        return core.bitcast(b, tl.float32)


@triton.jit
def sign_bit(x):
    """The sign bit of x, alone."""
    if x.dtype == tl.float64:
        return core.bitcast(x, tl.int64) & -9223372036854775808
    else:
        return core.bitcast(x, tl.int32) & -2147483648


@triton.jit
def with_sign(x, sign):
    """x, not negative, with a sign from sign_bit."""
    return _from_bits(bits_of(x) | sign)


@triton.jit
def copysign(x, y):
    return with_sign(core.abs(x), sign_bit(y))


@triton.jit
def _next_up(x):
    """The number above x (not NaN or inf)."""
    b = bits_of(x)
    one = bits_of(x) * 0 + 1
    return _from_bits(tl.where(x == 0.0, one, tl.where(b < 0, b - 1, b + 1)))


@triton.jit
def _next_down(x):
    return -_next_up(-x)


@triton.jit
def nextafter(x, y):
    """The number beside x in the direction of y."""
    r = tl.where(y > x, _next_up(x), _next_down(x))
    r = tl.where(x == y, y, r)
    return tl.where((x != x) | (y != y), x + y, r)


@triton.jit
def _parts(x):
    """A finite x, not 0, as m * 2^k: m with the sign of x, |m| in [1, 2), and i32 k."""
    if x.dtype == tl.float64:
        tiny = core.abs(x) < 2.2250738585072014e-308
        b = core.bitcast(tl.where(tiny, x * 18014398509481984.0, x), tl.int64)
        k = ((b >> 52) & 2047).to(tl.int32) - tl.where(tiny, 1077, 1023)
        m = (b & -9218868437227405313) | 0x3ff0000000000000
    else:
        tiny = core.abs(x) < 1.1754943508222875e-38
        b = core.bitcast(tl.where(tiny, x * 16777216.0, x), tl.int32)
        k = ((b >> 23) & 255) - tl.where(tiny, 151, 127)
        m = (b & -2139095041) | 0x3f800000
    return _from_bits(m), k


@triton.jit
def _scale(m, n):
    """m * 2^n, rounded once, |m| in [1, 4)."""
    if m.dtype == tl.float64:
        return real64.scale(m, core.min(core.max(n, -1100), 1100))
    else:
        return real32.scale(m, core.min(core.max(n, -160), 160))


@triton.jit
def ldexp(x, n):
    """x * 2^n, rounded once, for any i32 n."""
    m, k = _parts(x)
    r = _scale(m, k + core.min(core.max(n, -5000), 5000))
    return tl.where((x == 0.0) | ~(core.abs(x) < float("inf")), x, r)


@triton.jit
def ilogb(x):
    m, k = _parts(x)
    k = tl.where((x == 0.0) | (x != x), -2147483648, k)
    return tl.where(core.abs(x) == float("inf"), 2147483647, k)


@triton.jit
def logb(x):
    m, k = _parts(x)
    r = tl.where(x == 0.0, float("-inf"), k.to(x.dtype))
    return tl.where(core.abs(x) < float("inf"), r, x * x)


# ---- choosing the neighbour: e has the sign of exact - s ----


@triton.jit
def _to_zero(s, e):
    inward = ((e < 0.0) & (s > 0.0)) | ((e > 0.0) & (s < 0.0))
    return tl.where(inward, _from_bits(bits_of(s) - 1), s)


@triton.jit
def _down(s, e):
    return tl.where(e < 0.0, _next_down(s), s)


@triton.jit
def _up(s, e):
    return tl.where(e > 0.0, _next_up(s), s)


@triton.jit
def _overflow(s, e, finite):
    """e, made right where finite operands gave an infinite s, and 0 for operands that are not."""
    return tl.where(finite, tl.where(core.abs(s) == float("inf"), -s, e), 0.0)


@triton.jit
def _finite(x):
    return core.abs(x) < float("inf")


# ---- sums ----


@triton.jit
def _add(a, b):
    s = a + b
    larger = core.abs(a) >= core.abs(b)
    e = tl.where(larger, b, a) - (s - tl.where(larger, a, b))
    return s, _overflow(s, e, _finite(a) & _finite(b))


@triton.jit
def _zero_down(r, e, sign):
    """r, but an exact zero sum is -0 when rounding down, unless both terms are +0."""
    return tl.where((r == 0.0) & (e == 0.0), _from_bits(sign), r)


@triton.jit
def add_rn(a, b):
    """a + b, in which no fma takes the place of a product before it."""
    return core.fma(a, 1.0, b)


@triton.jit
def add_rz(a, b):
    s, e = _add(a, b)
    return _to_zero(s, e)


@triton.jit
def add_rd(a, b):
    s, e = _add(a, b)
    return _zero_down(_down(s, e), e, sign_bit(a) | sign_bit(b))


@triton.jit
def add_ru(a, b):
    s, e = _add(a, b)
    return _up(s, e)


@triton.jit
def sub_rn(a, b):
    return core.fma(b, -1.0, a)


@triton.jit
def sub_rz(a, b):
    return add_rz(a, -b)


@triton.jit
def sub_rd(a, b):
    return add_rd(a, -b)


@triton.jit
def sub_ru(a, b):
    return add_ru(a, -b)


# ---- products: the residual is taken of the significands, so that it can't underflow ----


@triton.jit
def _mul(a, b):
    p = a * b
    am, ak = _parts(a)
    bm, bk = _parts(b)
    e = core.fma(am, bm, -ldexp(p, -(ak + bk)))
    e = tl.where((a == 0.0) | (b == 0.0), 0.0, e)
    return p, _overflow(p, e, _finite(a) & _finite(b))


@triton.jit
def mul_rn(a, b):
    """a * b, which no sum after it may take into an fma."""
    return core.fma(a, b, -0.0)


@triton.jit
def mul_rz(a, b):
    p, e = _mul(a, b)
    return _to_zero(p, e)


@triton.jit
def mul_rd(a, b):
    p, e = _mul(a, b)
    return _down(p, e)


@triton.jit
def mul_ru(a, b):
    p, e = _mul(a, b)
    return _up(p, e)


@triton.jit
def _div(a, b):
    q = core.div_rn(a, b)
    am, ak = _parts(a)
    bm, bk = _parts(b)
    e = core.fma(-ldexp(q, bk - ak), bm, am)
    e = tl.where(b < 0.0, -e, e)
    e = tl.where(a == 0.0, 0.0, e)
    return q, _overflow(q, e, _finite(a) & _finite(b) & (b != 0.0))


@triton.jit
def div_rn(a, b):
    return core.div_rn(a, b)


@triton.jit
def div_rz(a, b):
    q, e = _div(a, b)
    return _to_zero(q, e)


@triton.jit
def div_rd(a, b):
    q, e = _div(a, b)
    return _down(q, e)


@triton.jit
def div_ru(a, b):
    q, e = _div(a, b)
    return _up(q, e)


@triton.jit
def _one(x):
    """1, of the dtype and shape of x."""
    return _from_bits(bits_of(x) * 0) + 1.0


@triton.jit
def rcp_rn(x):
    return core.div_rn(1.0, x)


@triton.jit
def rcp_rz(x):
    return div_rz(_one(x), x)


@triton.jit
def rcp_rd(x):
    return div_rd(_one(x), x)


@triton.jit
def rcp_ru(x):
    return div_ru(_one(x), x)


@triton.jit
def _sqrt(x):
    r = core.sqrt_rn(x)
    if x.dtype == tl.float64:
        tiny = x < 1e-250
        p = tl.where(tiny, x * 4.149515568880993e180, x)
        q = tl.where(tiny, r * 2.037035976334486e90, r)
    else:
        tiny = x < 1e-20
        p = tl.where(tiny, x * 7.922816251426434e28, x)
        q = tl.where(tiny, r * 281474976710656.0, r)
    return r, core.fma(-q, q, p)


@triton.jit
def sqrt_rn(x):
    return core.sqrt_rn(x)


@triton.jit
def sqrt_rz(x):
    r, e = _sqrt(x)
    return _to_zero(r, e)


@triton.jit
def sqrt_rd(x):
    r, e = _sqrt(x)
    return _down(r, e)


@triton.jit
def sqrt_ru(x):
    r, e = _sqrt(x)
    return _up(r, e)


# ---- fused multiply-add ----


@triton.jit
def _fma32(a, b, c, s):
    """The residual, in f64: the product is exact there."""
    h, l = basic.two_sum_any(a.to(tl.float64) * b.to(tl.float64), c.to(tl.float64))
    return (h - s.to(tl.float64)) + l


@triton.jit
def _fma64(a, b, c, s):
    """The residual (Boldo and Muller), of operands scaled so that the larger of a b and c is near
    1. The other, if 2^-200 or less, only counts by its sign."""
    am, ak = _parts(a)
    bm, bk = _parts(b)
    cm, ck = _parts(c)
    ck = tl.where(c == 0.0, -4000, ck)
    k = core.max(ak + bk, ck)
    p, pl = basic.two_prod(am, _scale(bm, core.max(ak + bk - k, -200)))
    c = tl.where(c == 0.0, 0.0, _scale(cm, core.max(ck - k, -200)))
    c, cl = basic.two_sum_any(c, pl)
    h, l = basic.two_sum_any(p, c)
    return ((h - ldexp(s, -k)) + l) + cl


@triton.jit
def _fma(a, b, c):
    s = core.fma(a, b, c)
    if a.dtype == tl.float64:
        e = tl.where((a == 0.0) | (b == 0.0), 0.0, _fma64(a, b, c, s))
    else:
        e = _fma32(a, b, c, s)
    return s, _overflow(s.to(e.dtype), e, _finite(a) & _finite(b) & _finite(c))


@triton.jit
def fma_rn(a, b, c):
    return core.fma(a, b, c)


@triton.jit
def fma_rz(a, b, c):
    s, e = _fma(a, b, c)
    return _to_zero(s, e)


@triton.jit
def fma_rd(a, b, c):
    s, e = _fma(a, b, c)
    return _zero_down(_down(s, e), e, (sign_bit(a) ^ sign_bit(b)) | sign_bit(c))


@triton.jit
def fma_ru(a, b, c):
    s, e = _fma(a, b, c)
    return _up(s, e)


# ---- conversions ----


@triton.jit
def narrow_rn(x):
    return x.to(tl.float32)


@triton.jit
def narrow_rz(x):
    s = x.to(tl.float32)
    return _to_zero(s, x - s.to(tl.float64))


@triton.jit
def narrow_rd(x):
    s = x.to(tl.float32)
    return _down(s, x - s.to(tl.float64))


@triton.jit
def narrow_ru(x):
    s = x.to(tl.float32)
    return _up(s, x - s.to(tl.float64))


@triton.jit
def _truncated(x, target: tl.constexpr):
    """An integer as a float rounded towards zero, without its sign; whether x is negative; whether
    the float is smaller."""
    u = x.to(tl.uint64)
    negative = x < 0
    u = tl.where(negative, 0 - u, u)
    if target == tl.float64:
        drop = 11 - core.min(core.clz(u), 11)
    else:
        drop = 40 - core.min(core.clz(u), 40)
    kept = (u >> drop) << drop
    return kept.to(target), negative, kept != u


@triton.jit
def from_int_rn(x, target: tl.constexpr):
    return x.to(target)


@triton.jit
def from_int_rz(x, target: tl.constexpr):
    f, negative, less = _truncated(x, target)
    return tl.where(negative, -f, f)


@triton.jit
def from_int_rd(x, target: tl.constexpr):
    f, negative, less = _truncated(x, target)
    return tl.where(negative, -tl.where(less, _next_up(f), f), f)


@triton.jit
def from_int_ru(x, target: tl.constexpr):
    f, negative, less = _truncated(x, target)
    return tl.where(negative, -f, tl.where(less, _next_up(f), f))


# ---- remainders ----


@triton.jit
def _fmod_step(r, y):
    """r mod y for r >= 0, y > 0, r / y below 2^22 (f32) or 2^51 (f64); exact."""
    r = core.fma(-core.trunc(core.div_rn(r, y)), y, r)
    # The quotient may have been rounded up to an integer.
    return tl.where(r < 0.0, r + y, r)


@triton.jit
def _fmod_abs(x, y):
    """x mod y for x >= 0, y > 0.  Large quotients are rare: the loop, which takes off 20 (f32) or
    50 bits at a time, is skipped unless an element needs it."""
    xm, xk = _parts(x)
    ym, yk = _parts(y)
    d = xk - yk
    if x.dtype == tl.float64:
        bits: tl.constexpr = 50
        steps: tl.constexpr = 43
    else:
        bits: tl.constexpr = 20
        steps: tl.constexpr = 15
    r = _fmod_step(x, tl.where(d > bits, x, y))
    far = (d > bits) & _finite(x) & (y > 0.0)
    if basic.some(far):
        t = x
        for i in range(steps):
            d = core.max(d - bits, 0)
            t = _fmod_step(t, _scale(ym, yk + d))
        r = tl.where(far, t, r)
    r = tl.where(y == float("inf"), x, r)
    return tl.where((y > 0.0) & _finite(x), r, float("nan"))


@triton.jit
def fmod(x, y):
    """x - y trunc(x / y), exactly."""
    return with_sign(_fmod_abs(core.abs(x), core.abs(y)), sign_bit(x))


@triton.jit
def remainder(x, y):
    """x - y n, exactly, n the integer nearest x / y, of two the even one."""
    a = core.abs(y)
    r = _fmod_abs(core.abs(x), a + a)
    over = r + r > a
    r = tl.where(over, r - a, r)
    r = tl.where(over & (r + r >= a), r - a, r)
    return _from_bits(bits_of(r) ^ sign_bit(x))
