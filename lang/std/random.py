# tl.NAME: Philox-4x32 and 4x64 random numbers, bit for bit those of Triton 3.6 (randn up to the
# rounding of log, sin and cos).
import triton
import triton.language as tl
from nereid import core, real32


@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = 10):
    """n_rounds rounds of Philox on the counter c0..c3 with key (k0, k1), all u32 or all u64."""
    if c0.dtype == tl.uint32:
        KEY_A: tl.constexpr = 0x9E3779B9
        KEY_B: tl.constexpr = 0xBB67AE85
        ROUND_A: tl.constexpr = 0xD2511F53
        ROUND_B: tl.constexpr = 0xCD9E8D57
    else:
        tl.static_assert(c0.dtype == tl.uint64, "dtype not supported in philox_impl")
        KEY_A: tl.constexpr = 0x9E3779B97F4A7C15
        KEY_B: tl.constexpr = 0xBB67AE8584CAA73B
        ROUND_A: tl.constexpr = 0xD2E7470EE14C6C93
        ROUND_B: tl.constexpr = 0xCA5A826395121157
    for _ in tl.static_range(n_rounds):
        a = c0
        b = c2
        c0 = core.mulhi(b, ROUND_B) ^ c1 ^ k0
        c2 = core.mulhi(a, ROUND_A) ^ c3 ^ k1
        c1 = b * ROUND_B
        c3 = a * ROUND_A
        k0 = k0 + KEY_A
        k1 = k1 + KEY_B
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = 10):
    """Philox with a 64-bit seed as the key; counters of 32 bits or of 64 bits."""
    seed = tl.to_tensor(seed)
    tl.static_assert(seed.dtype.is_int(), "philox: the seed must be an integer")
    seed = seed.to(tl.uint64)
    c0 = tl.to_tensor(c0)
    c1 = tl.to_tensor(c1)
    c2 = tl.to_tensor(c2)
    c3 = tl.to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        dtype: tl.constexpr = tl.uint32
        seed_hi = (seed >> 32).to(tl.uint32)
        seed_lo = (seed & 0xFFFFFFFF).to(tl.uint32)
    else:
        tl.static_assert(c0.dtype.primitive_bitwidth == 64, "bitwidth not supported in philox")
        dtype: tl.constexpr = tl.uint64
        seed_hi = tl.full((1, ), 0, tl.uint64)
        seed_lo = seed
    c0 = c0.to(dtype, bitcast=True)
    c1 = c1.to(dtype, bitcast=True)
    c2 = c2.to(dtype, bitcast=True)
    c3 = c3.to(dtype, bitcast=True)
    return philox_impl(c0, c1, c2, c3, seed_lo, seed_hi, n_rounds)


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = 10):
    """Four blocks of random u32 for a scalar seed and a block of offsets, i32 or i64."""
    offset_lo = offset.to(tl.uint32)
    zero = offset_lo * 0
    if offset.dtype.primitive_bitwidth > 32:
        offset_hi = (offset >> 32).to(tl.uint32)
    else:
        offset_hi = zero
    return philox(seed, offset_lo, offset_hi, zero, zero, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of random u32."""
    i, _, _, _ = randint4x(seed, offset, n_rounds)
    return i


@triton.jit
def uint_to_uniform_float(x):
    """A random integer as an f32 in [0, 1): its distance from 0, or -1 if negative, scaled so that
    the largest one stays below 1."""
    if x.dtype == tl.uint32 or x.dtype == tl.int32:
        x = x.to(tl.int32, bitcast=True)
        scale: tl.constexpr = 4.6566127342e-10
    else:
        tl.static_assert(x.dtype == tl.uint64 or x.dtype == tl.int64,
                         "uint_to_uniform_float: an integer of 32 or 64 bits is needed")
        x = x.to(tl.int64, bitcast=True)
        scale: tl.constexpr = 1.0842020432385337e-19
    x = tl.where(x < 0, -x - 1, x)
    return x * scale


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of f32, uniform in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offsets, n_rounds: tl.constexpr = 10):
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    return (uint_to_uniform_float(i1), uint_to_uniform_float(i2), uint_to_uniform_float(i3),
            uint_to_uniform_float(i4))


@triton.jit
def pair_uniform_to_normal(u1, u2):
    """Box-Muller: two independent normal values from two uniform ones."""
    u1 = tl.maximum(1.0e-7, u1)
    th = 6.283185307179586 * u2
    r = tl.sqrt(-2.0 * tl.log(u1))
    if th.dtype == tl.float32:
        # The angle is below 2 pi: no reduction of large arguments is needed.
        sin, cos = real32.sincos_small(th)
        return r * cos, r * sin
    else:
        return r * tl.cos(th), r * tl.sin(th)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of f32, normal with mean 0 and deviation 1."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    n1, _ = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return n1


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = 10):
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
