"""Runs lang/std/*.py under Python on NumPy arrays, one op at a time, each rounded as
lang/tile/tile_ops.h says.  This tests the mathematics of the library without the compiler; std.py
runs the same functions through the compiler too.

    import emulator
    sin = emulator.function('libdevice', 'sin')
    y = sin(emulator.Tile(np.float32([1, 2]))).a

Approximate ops (exp2, log2, sqrt, rsqrt, div of f32 ...) are correctly rounded here; with
emulator.noise = True they err by as much as their bound allows, up or down at random.  Infinities
and NaN are expected: callers silence NumPy's warnings (np.errstate(all="ignore")).
"""
import ctypes
import importlib.util
import math as pymath
import os
import sys
import types

import numpy as np

STD = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'lang', 'std')
noise = False
_rng = np.random.RandomState(1)


class DType:
    def __init__(self, name, short, np_type, kind, bits):
        self.name, self.short, self.np = name, short, np_type
        self.kind, self.primitive_bitwidth = kind, bits
        self.scalar = self

    def is_floating(self): return self.kind == 'f'
    def is_int(self): return self.kind in 'biu'
    def is_int_signed(self): return self.kind == 'i'
    def is_int_unsigned(self): return self.kind in 'bu'
    def is_bool(self): return self.kind == 'b'
    int_bitwidth = property(lambda self: self.primitive_bitwidth)
    def __repr__(self): return self.short
    __str__ = __repr__


_rows = [('int1', 'int1', np.bool_, 'b', 1)]
_rows += [('int%d' % b, 'int%d' % b, np.dtype('i%d' % (b // 8)).type, 'i', b)
          for b in (8, 16, 32, 64)]
_rows += [('uint%d' % b, 'uint%d' % b, np.dtype('u%d' % (b // 8)).type, 'u', b)
          for b in (8, 16, 32, 64)]
_rows += [('float16', 'fp16', np.float16, 'f', 16), ('float32', 'fp32', np.float32, 'f', 32),
          ('float64', 'fp64', np.float64, 'f', 64)]
DTYPES = {r[0]: DType(*r) for r in _rows}
_by_np = {np.dtype(d.np): d for d in DTYPES.values()}
# No NumPy type: only there to be refused.
BF16 = DType('bfloat16', 'bf16', None, 'f', 16)
F32, F64, I32, I64, U32, U64, I1 = (
    DTYPES[n] for n in 'float32 float64 int32 int64 uint32 uint64 int1'.split())


class CompileError(Exception):
    pass


def _number(v):
    return isinstance(v, (bool, int, float, np.bool_, np.integer, np.floating))


def _literal(v, d):
    """A constant of dtype d."""
    if d.kind in 'iu':
        assert v == int(v), 'literal %r for %r' % (v, d)
        info = np.iinfo(d.np)
        if not info.min <= v <= info.max:
            raise CompileError('scalar %d is out of range for type %r' % (v, d))
    return Tile(np.array(v, dtype=d.np))


def to_tensor(v):
    if isinstance(v, Tile): return v
    if isinstance(v, bool): return Tile(np.bool_(v))
    if isinstance(v, int):
        for d in (I32, U32, I64, U64):
            if np.iinfo(d.np).min <= v <= np.iinfo(d.np).max: return _literal(v, d)
    a = abs(v)
    fits = a == 0 or a != a or a == pymath.inf or 2.0**-126 <= a <= (2 - 2.0**-23) * 2.0**127
    return Tile(np.array(v, np.float32 if fits else np.float64))


def _rank(d):
    return {'b': 0, 'i': 1, 'u': 1, 'f': 2}[d.kind]


def _common(a, b, division):
    """The dtype of an operation on two tiles (neither a literal)."""
    if a.dtype == b.dtype and a.dtype.kind != 'f': return a.dtype
    if _rank(a.dtype) != _rank(b.dtype): return max(a.dtype, b.dtype, key=_rank)
    if a.dtype.kind == 'f':
        d = max(a.dtype, b.dtype, key=lambda t: t.primitive_bitwidth)
        return F32 if division and d.primitive_bitwidth == 16 else d
    if a.dtype.primitive_bitwidth != b.dtype.primitive_bitwidth:
        return max(a.dtype, b.dtype, key=lambda t: t.primitive_bitwidth)
    return a.dtype if a.dtype.kind == 'u' else b.dtype


def _pair(x, y, division=False):
    if _number(x) and _number(y): x = to_tensor(x)
    if _number(x): return _pair(y, x, division)[::-1]
    if _number(y):
        t = to_tensor(y)
        weak = _rank(t.dtype) <= _rank(x.dtype) or x.dtype.kind == 'f'
        d = x.dtype if weak else F32
        return x.to(d), _literal(y, d)
    d = _common(x, y, division)
    return x.to(d), y.to(d)


def _err(exact, ulps):
    """f64 as f32: rounded, or where noise is on, any f32 that is at most `ulps` off."""
    a = exact.astype(np.float32)
    if not noise: return a
    n = np.rint(_rng.uniform(-ulps, ulps, a.shape)).astype(np.int64)
    b = (a.view(np.int32) + n).astype(np.int32).view(np.float32)
    ok = np.isfinite(a) & (abs(a) > 2.0**-125) & (abs(a) < 2.0**127)
    one = np.ldexp(1.0, np.frexp(np.nextafter(exact, 0))[1] - 24)
    return np.where(ok & (abs(b - exact) <= ulps * one), b, a)


def _div_full(a, b):
    """x / y of f32 by div.full; other floats: rounded."""
    if a.dtype != np.float32: return a / b
    return _err(a.astype(np.float64) / b.astype(np.float64), 2)


def _tdiv(a, b):
    z = b == 0
    b = np.where(z, np.ones_like(b), b)
    if a.dtype.kind == 'u': return a // b
    q = np.floor_divide(a, b)
    return (q + ((np.remainder(a, b) != 0) & ((a < 0) != (b < 0)))).astype(a.dtype)


class Tile:
    def __init__(self, a, dtype=None):
        self.a = np.asarray(a)
        self.dtype = dtype or _by_np[self.a.dtype]
        self.type = self.dtype

    shape = property(lambda self: list(self.a.shape))
    numel = property(lambda self: int(self.a.size))
    T = property(lambda self: Tile(self.a.T))
    def __repr__(self): return 'Tile(%r)' % self.a

    def __bool__(self):
        assert self.a.ndim == 0, 'a branch on a tile'
        return bool(self.a)

    def to(self, d, fp_downcast_rounding=None, bitcast=False):
        if d == self.dtype: return self
        if bitcast:
            flat = np.ascontiguousarray(self.a).reshape(-1)
            return Tile(flat.view(d.np).reshape(self.a.shape))
        a = self.a
        if d.kind == 'b': return Tile(a != 0)
        if self.dtype.kind == 'f' and d.kind in 'iu':
            info = np.iinfo(d.np)
            t = np.trunc(np.where(np.isnan(a), 0, a)).astype(np.longdouble)
            lo, hi = t <= info.min, t >= info.max
            r = np.where(lo | hi, 0, t).astype(d.np)
            return Tile(np.where(hi, d.np(info.max), np.where(lo, d.np(info.min), r)))
        if self.dtype.kind == 'f' and d == F32 and fp_downcast_rounding == 'rtz':
            r = a.astype(np.float32)
            over = abs(r.astype(np.float64)) > abs(a)
            return Tile(np.where(over, np.nextafter(r, np.float32(0)), r))
        return Tile(a.astype(d.np))

    def cast(self, d, **k): return self.to(d, **k)

    def _bin(self, o, f, division=False, swap=False):
        x, y = _pair(*((o, self) if swap else (self, o)), division=division)
        return f(x.a, y.a, x.dtype)

    def __add__(self, o): return self._bin(o, lambda a, b, d: Tile(a + b))
    def __radd__(self, o): return self._bin(o, lambda a, b, d: Tile(a + b), swap=True)
    def __sub__(self, o): return self._bin(o, lambda a, b, d: Tile(a - b))
    def __rsub__(self, o): return self._bin(o, lambda a, b, d: Tile(a - b), swap=True)
    def __mul__(self, o): return self._bin(o, lambda a, b, d: Tile(a * b))
    def __rmul__(self, o): return self._bin(o, lambda a, b, d: Tile(a * b), swap=True)
    @staticmethod
    def _div(a, b, d):
        return Tile(_div_full(a, b) if d.kind == 'f' else
                    _div_full(a.astype(np.float32), b.astype(np.float32)))
    def __truediv__(self, o): return self._bin(o, Tile._div, division=True)
    def __rtruediv__(self, o): return self._bin(o, Tile._div, division=True, swap=True)
    @staticmethod
    def _idiv(a, b, d):
        assert d.kind in 'iu'
        return Tile(_tdiv(a, b))
    def __floordiv__(self, o): return self._bin(o, Tile._idiv)
    def __rfloordiv__(self, o): return self._bin(o, Tile._idiv, swap=True)
    @staticmethod
    def _mod(a, b, d):
        return Tile(np.fmod(a, b)) if d.kind == 'f' else Tile((a - _tdiv(a, b) * b).astype(a.dtype))
    def __mod__(self, o): return self._bin(o, Tile._mod)
    def __rmod__(self, o): return self._bin(o, Tile._mod, swap=True)
    def __neg__(self): return Tile(-self.a)
    def __invert__(self): return Tile(~self.a)

    @staticmethod
    def _bits(f):
        def g(a, b, d):
            assert d.kind in 'biu', 'bitwise op on %r' % d
            return Tile(f(a, b))
        return g
    def __and__(self, o): return self._bin(o, Tile._bits(np.bitwise_and))
    def __rand__(self, o): return self._bin(o, Tile._bits(np.bitwise_and), swap=True)
    def __or__(self, o): return self._bin(o, Tile._bits(np.bitwise_or))
    def __ror__(self, o): return self._bin(o, Tile._bits(np.bitwise_or), swap=True)
    def __xor__(self, o): return self._bin(o, Tile._bits(np.bitwise_xor))
    def __rxor__(self, o): return self._bin(o, Tile._bits(np.bitwise_xor), swap=True)
    @staticmethod
    def _shl(a, b, d):
        n = d.primitive_bitwidth
        big = (b < 0) | (b >= n) if d.kind == 'i' else b >= n
        return Tile(
            np.where(big, np.zeros_like(a), np.left_shift(a, np.where(big, np.zeros_like(b), b))))
    @staticmethod
    def _shr(a, b, d):
        n = d.primitive_bitwidth
        big = (b < 0) | (b >= n) if d.kind == 'i' else b >= n
        if d.kind == 'i': return Tile(np.right_shift(a, np.where(big, np.full_like(b, n - 1), b)))
        rest = np.right_shift(a, np.where(big, np.zeros_like(b), b))
        return Tile(np.where(big, np.zeros_like(a), rest))
    def __lshift__(self, o): return self._bin(o, Tile._shl)
    def __rlshift__(self, o): return self._bin(o, Tile._shl, swap=True)
    def __rshift__(self, o): return self._bin(o, Tile._shr)
    def __rrshift__(self, o): return self._bin(o, Tile._shr, swap=True)

    def __lt__(self, o): return self._bin(o, lambda a, b, d: Tile(a < b))
    def __le__(self, o): return self._bin(o, lambda a, b, d: Tile(a <= b))
    def __gt__(self, o): return self._bin(o, lambda a, b, d: Tile(a > b))
    def __ge__(self, o): return self._bin(o, lambda a, b, d: Tile(a >= b))
    def __eq__(self, o): return self._bin(o, lambda a, b, d: Tile(a == b))
    def __ne__(self, o): return self._bin(o, lambda a, b, d: Tile(a != b))
    __hash__ = None

    def __getitem__(self, i): return Tile(self.a[i])
    def __getattr__(self, name):
        if name.startswith('_'): raise AttributeError(name)
        return lambda *a, **k: getattr(tl, name)(self, *a, **k)


# ---- fma, rounded once ----

_libm = ctypes.CDLL('libm.so.6')
_libm.fma.restype = ctypes.c_double
_libm.fma.argtypes = [ctypes.c_double] * 3


def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _odd(s, e):
    """The sum s + e (|e| below half an ulp of s) rounded to odd."""
    even = (s.view(np.int64) & 1) == 0
    move = even & (e != 0) & np.isfinite(s) & np.isfinite(e)
    return np.where(move, np.nextafter(s, np.where(e > 0, np.inf, -np.inf)), s)


def _fma32(a, b, c):
    p = a.astype(np.float64) * b.astype(np.float64)
    s, e = _two_sum(p, c.astype(np.float64))
    return _odd(s, e).astype(np.float32)


def _split(a):
    t = a * 134217729.0
    h = t - (t - a)
    return h, a - h


def _fma64(a, b, c):
    a, b, c = (np.atleast_1d(np.ascontiguousarray(v)) for v in np.broadcast_arrays(a, b, c))
    ah, al = _split(a)
    bh, bl = _split(b)
    p = a * b
    q = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    th, tl_ = _two_sum(c, q)
    vh, vl = _two_sum(p, th)
    r = vh + _odd(*_two_sum(tl_, vl))
    big, small = 2.0**900, 2.0**-900
    ok = lambda v: (abs(v) < big) & (abs(v) > small)
    fast = ok(a) & ok(b) & ok(p) & ((c == 0) | ok(c)) & ok(r)
    if not fast.all():
        r = r.copy()
        for i in zip(*np.nonzero(~fast)):
            r[i] = _libm.fma(a[i], b[i], c[i])
    return r


def _fma(a, b, c):
    shape = np.broadcast(a, b, c).shape
    if a.dtype == np.float32: return _fma32(a, b, c).reshape(shape)
    return _fma64(a, b, c).reshape(shape)


# ---- nereid.core: the elementwise ops of lang/tile/tile_ops.h ----

def _same(f, floats=None):
    def op(*args):
        n = len(args)
        t = next(x for x in args if isinstance(x, Tile))
        v = [x if isinstance(x, Tile) else _literal(x, t.dtype) for x in args]
        for x in v: assert x.dtype == t.dtype, 'operands of %r and %r' % (x.dtype, t.dtype)
        if floats is not None: assert (t.dtype.kind == 'f') == floats, 'op on %r' % t.dtype
        r = f(*[x.a for x in v])
        return r if isinstance(r, Tile) else Tile(np.asarray(r, dtype=t.dtype.np))
    return op


def _only32(f):
    def g(a):
        assert a.dtype == np.float32, 'an approximate op on f64'
        return f(a)
    return g


def _approx(f, ulps):
    """f of f32 with an error of up to `ulps`; of other floats rounded."""
    return lambda a: _err(f(a.astype(np.float64)), ulps) if a.dtype == np.float32 else f(a)


def _flushed(f):
    """f that takes and gives 0 for f32 that are no normal numbers, where noise is on."""
    def zero(a): return np.where(abs(a) < 2.0**-126, np.copysign(np.float32(0), a), a)
    return lambda a: zero(f(zero(a))) if noise and a.dtype == np.float32 else f(a)


def _mulhi(a, b):
    n = a.dtype.itemsize * 8
    if n == 32:
        w = np.int64 if a.dtype.kind == 'i' else np.uint64
        return ((a.astype(w) * b.astype(w)) >> w(32)).astype(a.dtype)
    ao, bo = np.broadcast_arrays(a.astype(object), b.astype(object))
    return np.array([(int(x) * int(y)) >> n for x, y in zip(ao.ravel(), bo.ravel())],
                    dtype=object).reshape(ao.shape).astype(a.dtype)


def _bitwise(f):
    def g(a):
        n = a.dtype.itemsize * 8
        u = a.astype(object).ravel()
        r = [f(int(x) & ((1 << n) - 1), n) for x in u]
        r = [x - (1 << n) if a.dtype.kind == 'i' and x >= 1 << (n - 1) else x for x in r]
        return np.array(r, dtype=object).reshape(a.shape).astype(a.dtype)
    return g


def _minmax(f):
    def g(a, b):
        r = f(a, b)
        if a.dtype.kind == 'f': # of two zeros the signed order decides
            z = (a == 0) & (b == 0)
            r = np.where(z, np.where(np.signbit(a) == (f is np.fmin or f is np.minimum), a, b), r)
        return r
    return g


def _select(c, a, b):
    c = to_tensor(c)
    if _number(a) and _number(b): a, b = to_tensor(a), to_tensor(b)
    a, b = _pair(a, b)
    return Tile(np.where(c.a, a.a, b.a).astype(a.dtype.np))


def _log2(a):
    r = np.log2(a.astype(np.float64))
    return (
        r +
        (_rng.uniform(-1, 1, a.shape) * 2.0**-22 * np.clip(abs(r), 0, 1) if noise else 0)).astype(
            np.float32)


core = types.SimpleNamespace(
    add=lambda a, b: a + b,
    sub=lambda a, b: a - b,
    mul=lambda a, b: a * b,
    neg=lambda a: -a,
    select=_select,
    div=_same(lambda a, b: _div_full(a, b) if a.dtype.kind == 'f' else _tdiv(a, b)),
    div_rn=_same(lambda a, b: a / b, True),
    rem=_same(lambda a, b: Tile._mod(a, b, _by_np[a.dtype]).a),
    mulhi=_same(_mulhi, False),
    fma=_same(_fma, True),
    abs=_same(np.abs),
    min=_same(_minmax(np.fmin)),
    max=_same(_minmax(np.fmax)),
    min_nan=_same(_minmax(np.minimum), True),
    max_nan=_same(_minmax(np.maximum), True),
    rcp=_same(_flushed(_approx(lambda a: 1 / a, 1)), True),
    sqrt=_same(_approx(np.sqrt, 1), True),
    sqrt_rn=_same(np.sqrt, True),
    rsqrt=_same(_approx(lambda a: 1 / np.sqrt(a), 2), True),
    exp2=_same(_only32(_flushed(_approx(np.exp2, 2))), True),
    log2=_same(_only32(_log2), True),
    sin=_same(_only32(_approx(np.sin, 0)), True),
    cos=_same(_only32(_approx(np.cos, 0)), True),
    tanh=_same(_only32(_approx(np.tanh, 0)), True),
    floor=_same(np.floor, True),
    ceil=_same(np.ceil, True),
    trunc=_same(np.trunc, True),
    rint=_same(np.rint, True),
    popc=_same(_bitwise(lambda u, n: bin(u).count('1')), False),
    clz=_same(_bitwise(lambda u, n: n - u.bit_length()), False),
    brev=_same(_bitwise(lambda u, n: int(bin(u)[2:].zfill(n)[::-1], 2)), False),
    shl=lambda a, b: a << b,
    shr=lambda a, b: a >> b,
    lt=lambda a, b: a < b,
    le=lambda a, b: a <= b,
    gt=lambda a, b: a > b,
    ge=lambda a, b: a >= b,
    eq=lambda a, b: a == b,
    ne=lambda a, b: a != b,
    bitcast=lambda a, d: a.to(d, bitcast=True),
    cast=lambda a, d, rounding=None: a.to(d, rounding))
setattr(core, 'and', lambda a, b: a & b)

# ---- triton.language: what the library uses of it ----


def _reduce_axis(x, axis, fn, keep_dims, scan=False, reverse=False):
    xs = x if isinstance(x, tuple) else (x,)
    n = xs[0].a.shape[axis]
    order = range(n - 1, -1, -1) if reverse else range(n)
    take = lambda i: [Tile(np.take(t.a, i, axis)) for t in xs]
    acc, steps = None, {}
    for i in order:
        v = take(i)
        if acc is None: acc = v
        else:
            r = fn(*acc, *v)
            acc = list(r) if isinstance(r, tuple) else [r]
        steps[i] = acc
    if scan: out = [Tile(np.stack([steps[i][k].a for i in range(n)], axis)) for k in range(len(xs))]
    else: out = [Tile(np.expand_dims(a.a, axis)) if keep_dims else a for a in acc]
    return tuple(out) if isinstance(x, tuple) else out[0]


def _reduce(x, axis, fn, keep_dims=False):
    xs = x if isinstance(x, tuple) else (x,)
    rank = xs[0].a.ndim
    if axis is None:
        flat = tuple(Tile(t.a.reshape(-1)) for t in xs)
        r = _reduce_axis(flat, 0, fn, False)
        if keep_dims: r = tuple(Tile(t.a.reshape([1] * rank)) for t in r)
        return r if isinstance(x, tuple) else r[0]
    return _reduce_axis(x, axis % rank, fn, keep_dims)


def _expand_dims(x, axis):
    for k in sorted(axis) if isinstance(axis, (list, tuple)) else [axis]:
        x = Tile(np.expand_dims(x.a, k))
    return x


def _static_assert(cond, msg=''):
    if not cond: raise CompileError(str(msg))


def _minimum(f, g):
    def op(x, y, propagate_nan=None):
        x, y = _pair(x, y)
        return (g if propagate_nan == 'all' and x.dtype.kind == 'f' else f)(x, y)
    return op


def _join(a, b):
    a, b = _pair(a, b)
    return Tile(np.stack([a.a, b.a], -1))


class _Language(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        for f in ('standard', 'math', 'random'):
            m = std(f)
            if hasattr(m, name): return getattr(m, name)
        raise AttributeError('triton.language.' + name)
    math = property(lambda self: std('math'))


tl = _Language('triton.language')
for _d in DTYPES.values(): setattr(tl, _d.name, _d)
tl.bfloat16 = BF16
tl.constexpr = lambda v=None: v
tl.static_range = tl.range = lambda *a, **k: (range(
    *[int(v.a) if isinstance(v, Tile) else v for v in a]))
tl.static_assert = _static_assert
tl.to_tensor = to_tensor
tl.where = _select
tl.full = lambda shape, v, dtype: Tile(np.full(shape, v, dtype.np))
tl.arange = lambda a, b: Tile(np.arange(a, b, dtype=np.int32))
tl.reshape = lambda x, *s: Tile(
    x.a.reshape(s[0] if len(s) == 1 and isinstance(s[0], (list, tuple)) else s))
tl.permute = lambda x, order: Tile(x.a.transpose([int(getattr(i, "a", i)) for i in order]))
tl.expand_dims = _expand_dims
tl.broadcast_to = lambda x, *s: Tile(
    np.broadcast_to(x.a, s[0] if isinstance(s[0], (list, tuple)) else s))
def _broadcast(x, y):
    x, y = np.broadcast_arrays(to_tensor(x).a, to_tensor(y).a)
    return Tile(x), Tile(y)
tl.broadcast = _broadcast
tl.join = _join
tl.split = lambda x: (Tile(x.a[..., 0]), Tile(x.a[..., 1]))
tl.target_info = types.SimpleNamespace(is_cuda=lambda: True)
tl.gather = lambda x, i, axis: Tile(np.take_along_axis(x.a, i.a.astype(np.int64), axis))
tl.reduce = _reduce
tl.associative_scan = lambda x, axis, fn, reverse=False: _reduce_axis(
    x, axis % (x[0] if isinstance(x, tuple) else x).a.ndim, fn, False, True, reverse)
tl.PropagateNan = types.SimpleNamespace(NONE=None, ALL='all')
tl.maximum = _minimum(core.max, core.max_nan)
tl.minimum = _minimum(core.min, core.min_nan)
tl.add = lambda a, b, sanitize_overflow=True: a + b
tl.mul = lambda a, b, sanitize_overflow=True: a * b

# ---- builtins in C, as far as the library calls them ----


def _narrow(x):
    if x.dtype.primitive_bitwidth >= 32: return x
    return x.to(F32 if x.dtype.is_floating() else I32)


tl.max = lambda x, axis=None, keep_dims=False: _reduce(_narrow(x), axis, tl.maximum, keep_dims)
tl.min = lambda x, axis=None, keep_dims=False: _reduce(_narrow(x), axis, tl.minimum, keep_dims)
tl.sum = lambda x, axis=None, keep_dims=False: _reduce(x, axis, lambda a, b: a + b, keep_dims)
tl.xor_sum = lambda x, axis=None, keep_dims=False: _reduce(x, axis, lambda a, b: a ^ b, keep_dims)
tl.abs = lambda x: core.abs(to_tensor(x))
tl.fdiv = lambda x, y, ieee_rounding=False: x / y

triton = types.ModuleType('triton')
triton.jit = triton.constexpr_function = triton.aggregate = lambda f: f
triton.language = tl
nereid = types.ModuleType('nereid')
nereid.__path__ = []
nereid.core = core
_loaded = {}


def std(name):
    """The module lang/std/NAME.py."""
    if name not in _loaded:
        spec = importlib.util.spec_from_file_location('nereid.' + name,
                                                      os.path.join(STD, name + '.py'))
        m = _loaded[name] = importlib.util.module_from_spec(spec)
        sys.modules['nereid.' + name] = m
        m.range = lambda *a: (Tile(np.int32(i)) for i in tl.range(*a)) # a run-time loop
        spec.loader.exec_module(m)
    return _loaded[name]


def function(module, name):
    """module.name as a kernel sees it: libdevice is several files."""
    files = ('libdevice', 'integer', 'convert') if module == 'libdevice' else (module, )
    return next(getattr(std(f), name) for f in files if hasattr(std(f), name))


def _nereid_getattr(name):
    if name.startswith('__') or not os.path.exists(os.path.join(STD, name + '.py')):
        raise AttributeError(name)
    return std(name)


nereid.__getattr__ = _nereid_getattr
extra = types.ModuleType('triton.language.extra')
tl.__path__, extra.cuda = [], types.SimpleNamespace()  # of hardware, for effects that no test has
sys.modules.update({'triton': triton, 'triton.language': tl, 'triton.language.extra': extra,
                    'nereid': nereid})
sys.dont_write_bytecode = True
# All at once, since several threads may call the library.
for _name in sorted(name for name in os.listdir(STD) if name.endswith('.py')):
    std(os.path.splitext(_name)[0])
