/* The elementwise ops on arrays of scalars.
 *
 * A row of the table has a loop for each class of dtype: S signed integers, U unsigned integers,
 * i1 and pointers (both in 64 bits; the result is wrapped to the dtype afterwards), F floats of up
 * to 32 bits (in f32; the result is rounded to the dtype afterwards), D f64. */
#include "lang/tile/scalar.h"

#include <math.h>
#include <string.h>

typedef void Loop(size_t n, Scalar *o, const Scalar *x, const Scalar *y, const Scalar *z,
                  unsigned bits);

/* clang-format off */
#define LOOP(name, body)                                                                          \
  static void name(size_t n, Scalar *o, const Scalar *x, const Scalar *y, const Scalar *z,        \
                   unsigned bits) {                                                               \
    (void)x, (void)y, (void)z, (void)bits;                                                        \
    for (size_t i = 0; i < n; i++) body                                                           \
  }
/* T: the type to compute in; R: the member the result goes to. */
#define UNARY(name, T, M, R, expr) LOOP(name, { T a = (T)x[i].M; o[i].R = (expr); })
#define BINARY(name, T, M, R, expr) \
  LOOP(name, { T a = (T)x[i].M; T b = (T)y[i].M; o[i].R = (expr); })
/* clang-format on */

/* ---- integers ---- */

static inline int64_t int_div(int64_t a, int64_t b) {
  return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t int_rem(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
static inline uint64_t uint_div(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline uint64_t uint_rem(uint64_t a, uint64_t b) { return b == 0 ? a : a % b; }

static inline int64_t high_signed(int64_t a, int64_t b, unsigned bits) {
  return bits < 64 ? (a * b) >> bits : (int64_t)((__int128)a * b >> 64);
}
static inline uint64_t high_unsigned(uint64_t a, uint64_t b, unsigned bits) {
  return bits < 64 ? (a * b) >> bits : (uint64_t)((unsigned __int128)a * b >> 64);
}

/* The low `bits` of v, which is what the functions on bits look at. */
static inline uint64_t low(int64_t v, unsigned bits) {
  return (uint64_t)v << (64 - bits) >> (64 - bits);
}
static inline unsigned leading_zeros(uint64_t v, unsigned bits) {
  return v ? (unsigned)__builtin_clzll(v) - (64 - bits) : bits;
}
static inline uint64_t reverse(uint64_t v, unsigned bits) {
  v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
  v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(v) >> (64 - bits);
}

static inline uint64_t bytes_product(int64_t a, int64_t b) {
  int64_t sum = 0;
  for (int i = 0; i < 32; i += 8) sum += (int64_t)(int8_t)(a >> i) * (int8_t)(b >> i);
  return (uint64_t)sum;
}

static inline float bits_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static inline int64_t pairs_product(int64_t a, int64_t b, int64_t c) {
  uint32_t x = (uint32_t)a, y = (uint32_t)b;
  float sum = fmaf(bits_float(x << 16), bits_float(y << 16), bits_float((uint32_t)c));
  sum = fmaf(bits_float(x & 0xffff0000), bits_float(y & 0xffff0000), sum);
  int32_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return bits;
}

/* clang-format off */
/* Signless ops are done on uint64_t, so that nothing is undefined. */
BINARY(i_add, uint64_t, i, i, (int64_t)(a + b))
BINARY(i_sub, uint64_t, i, i, (int64_t)(a - b))
BINARY(i_mul, uint64_t, i, i, (int64_t)(a * b))
BINARY(i_and, uint64_t, i, i, (int64_t)(a & b))
BINARY(i_or, uint64_t, i, i, (int64_t)(a | b))
BINARY(i_xor, uint64_t, i, i, (int64_t)(a ^ b))
BINARY(i_shl, uint64_t, i, i, b < bits ? (int64_t)(a << b) : 0)
BINARY(i_eq, uint64_t, i, i, a == b)
BINARY(i_ne, uint64_t, i, i, a != b)
LOOP(i_dot2, { o[i].i = pairs_product(x[i].i, y[i].i, z[i].i); })
LOOP(i_dot4, { o[i].i = (int64_t)((uint64_t)z[i].i + bytes_product(x[i].i, y[i].i)); })
UNARY(i_not, uint64_t, i, i, (int64_t)~a)
UNARY(i_neg, uint64_t, i, i, (int64_t)(0 - a))
UNARY(i_popc, int64_t, i, i, __builtin_popcountll(low(a, bits)))
UNARY(i_clz, int64_t, i, i, leading_zeros(low(a, bits), bits))
UNARY(i_brev, int64_t, i, i, (int64_t)reverse(low(a, bits), bits))
UNARY(u_abs, uint64_t, i, i, (int64_t)a)
UNARY(s_abs, int64_t, i, i, a < 0 ? (int64_t)(0 - (uint64_t)a) : a)

BINARY(s_div, int64_t, i, i, int_div(a, b))
BINARY(u_div, uint64_t, i, i, (int64_t)uint_div(a, b))
BINARY(s_rem, int64_t, i, i, int_rem(a, b))
BINARY(u_rem, uint64_t, i, i, (int64_t)uint_rem(a, b))
BINARY(s_mulhi, int64_t, i, i, high_signed(a, b, bits))
BINARY(u_mulhi, uint64_t, i, i, (int64_t)high_unsigned(a, b, bits))
BINARY(s_shr, int64_t, i, i, a >> ((uint64_t)b < bits ? b : 63))
BINARY(u_shr, uint64_t, i, i, b < bits ? (int64_t)(a >> b) : 0)
BINARY(s_min, int64_t, i, i, a < b ? a : b)
BINARY(u_min, uint64_t, i, i, (int64_t)(a < b ? a : b))
BINARY(s_max, int64_t, i, i, a > b ? a : b)
BINARY(u_max, uint64_t, i, i, (int64_t)(a > b ? a : b))
BINARY(s_lt, int64_t, i, i, a < b)
BINARY(u_lt, uint64_t, i, i, a < b)
BINARY(s_le, int64_t, i, i, a <= b)
BINARY(u_le, uint64_t, i, i, a <= b)
BINARY(s_gt, int64_t, i, i, a > b)
BINARY(u_gt, uint64_t, i, i, a > b)
BINARY(s_ge, int64_t, i, i, a >= b)
BINARY(u_ge, uint64_t, i, i, a >= b)
/* clang-format on */

/* ---- floats ---- */

/* -0 counts as less than +0. */
#define PICK(name, T, less)                                 \
  static inline T name(T a, T b) {                          \
    if (a != a) return b;                                   \
    if (b != b) return a;                                   \
    if (a == b) return (signbit(a) != 0) == (less) ? a : b; \
    return (a < b) == (less) ? a : b;                       \
  }
PICK(min_f, float, 1)
PICK(max_f, float, 0)
PICK(min_d, double, 1)
PICK(max_d, double, 0)

/* clang-format off */
#define FLOAT_LOOPS(P, T, F)                                                                \
  BINARY(P##_add, T, f, f, a + b)                                                           \
  BINARY(P##_sub, T, f, f, a - b)                                                           \
  BINARY(P##_mul, T, f, f, a * b)                                                           \
  BINARY(P##_div, T, f, f, a / b)                                                           \
  BINARY(P##_rem, T, f, f, F(fmod)(a, b))                                                   \
  BINARY(P##_min, T, f, f, min_##P(a, b))                                                   \
  BINARY(P##_max, T, f, f, max_##P(a, b))                                                   \
  BINARY(P##_min_nan, T, f, f, a != a || b != b ? a + b : min_##P(a, b))                    \
  BINARY(P##_max_nan, T, f, f, a != a || b != b ? a + b : max_##P(a, b))                    \
  BINARY(P##_lt, T, f, i, a < b)                                                            \
  BINARY(P##_le, T, f, i, a <= b)                                                           \
  BINARY(P##_gt, T, f, i, a > b)                                                            \
  BINARY(P##_ge, T, f, i, a >= b)                                                           \
  BINARY(P##_eq, T, f, i, a == b)                                                           \
  BINARY(P##_ne, T, f, i, a != b)                                                           \
  LOOP(P##_fma, { o[i].f = F(fma)((T)x[i].f, (T)y[i].f, (T)z[i].f); })                   \
  UNARY(P##_rcp, T, f, f, 1 / a)                                                            \
  UNARY(P##_sqrt, T, f, f, F(sqrt)(a))                                                      \
  UNARY(P##_rsqrt, T, f, f, 1 / F(sqrt)(a))                                                 \
  UNARY(P##_exp2, T, f, f, F(exp2)(a))                                                      \
  UNARY(P##_log2, T, f, f, F(log2)(a))                                                      \
  UNARY(P##_sin, T, f, f, F(sin)(a))                                                        \
  UNARY(P##_cos, T, f, f, F(cos)(a))                                                        \
  UNARY(P##_tanh, T, f, f, F(tanh)(a))                                                      \
  UNARY(P##_floor, T, f, f, F(floor)(a))                                                    \
  UNARY(P##_ceil, T, f, f, F(ceil)(a))                                                      \
  UNARY(P##_trunc, T, f, f, F(trunc)(a))                                                    \
  UNARY(P##_rint, T, f, f, F(rint)(a))
#define SINGLE(name) name##f
#define DOUBLE(name) name
FLOAT_LOOPS(f, float, SINGLE)
FLOAT_LOOPS(d, double, DOUBLE)
/* Sign operations keep every bit else, also those of a NaN. */
UNARY(any_neg, double, f, f, -a)
UNARY(any_abs, double, f, f, fabs(a))
/* clang-format on */

/* ---- the table ---- */

typedef struct {
  Loop *s, *u, *f, *d;
  bool wraps;   /* an integer result may not fit the dtype */
  bool rounds;  /* a float result may not be a number of the dtype */
  bool compare; /* the result is i1 */
} Row;

/* clang-format off */
#define BOTH(name) s_##name, u_##name, f_##name, d_##name
#define INTS(name) i_##name, i_##name
#define FLOATS(name) f_##name, d_##name
#define FLOAT_ROW(name) {NULL, NULL, FLOATS(name), .rounds = true}

static const Row rows[TILE_OP_COUNT] = {
    [TILE_ADD] = {INTS(add), FLOATS(add), .wraps = true, .rounds = true},
    [TILE_SUB] = {INTS(sub), FLOATS(sub), .wraps = true, .rounds = true},
    [TILE_MUL] = {INTS(mul), FLOATS(mul), .wraps = true, .rounds = true},
    [TILE_DIV] = {BOTH(div), .wraps = true, .rounds = true},
    [TILE_DIV_RN] = FLOAT_ROW(div),
    [TILE_REM] = {BOTH(rem), .rounds = true},
    [TILE_MULHI] = {s_mulhi, u_mulhi, NULL, NULL},
    [TILE_FMA] = FLOAT_ROW(fma),
    [TILE_DOT2] = {i_dot2, NULL, NULL, NULL},
    [TILE_DOT4] = {i_dot4, NULL, NULL, NULL, .wraps = true},
    [TILE_NEG] = {INTS(neg), any_neg, any_neg, .wraps = true},
    [TILE_ABS] = {s_abs, u_abs, any_abs, any_abs, .wraps = true},
    [TILE_MIN] = {BOTH(min)},
    [TILE_MAX] = {BOTH(max)},
    [TILE_MIN_NAN] = {NULL, NULL, FLOATS(min_nan)},
    [TILE_MAX_NAN] = {NULL, NULL, FLOATS(max_nan)},
    [TILE_AND] = {INTS(and), NULL, NULL},
    [TILE_OR] = {INTS(or), NULL, NULL},
    [TILE_XOR] = {INTS(xor), NULL, NULL},
    [TILE_NOT] = {INTS(not), NULL, NULL, .wraps = true},
    [TILE_SHL] = {INTS(shl), NULL, NULL, .wraps = true},
    [TILE_SHR] = {s_shr, u_shr, NULL, NULL},
    [TILE_RCP] = FLOAT_ROW(rcp),
    [TILE_SQRT] = FLOAT_ROW(sqrt),
    [TILE_SQRT_RN] = FLOAT_ROW(sqrt),
    [TILE_RSQRT] = FLOAT_ROW(rsqrt),
    [TILE_EXP2] = FLOAT_ROW(exp2),
    [TILE_LOG2] = FLOAT_ROW(log2),
    [TILE_SIN] = FLOAT_ROW(sin),
    [TILE_COS] = FLOAT_ROW(cos),
    [TILE_TANH] = FLOAT_ROW(tanh),
    [TILE_FLOOR] = FLOAT_ROW(floor),
    [TILE_CEIL] = FLOAT_ROW(ceil),
    [TILE_TRUNC] = FLOAT_ROW(trunc),
    [TILE_RINT] = FLOAT_ROW(rint),
    [TILE_POPC] = {INTS(popc), NULL, NULL, .wraps = true},
    [TILE_CLZ] = {INTS(clz), NULL, NULL, .wraps = true},
    [TILE_BREV] = {INTS(brev), NULL, NULL, .wraps = true},
    [TILE_LT] = {BOTH(lt), .compare = true},
    [TILE_LE] = {BOTH(le), .compare = true},
    [TILE_GT] = {BOTH(gt), .compare = true},
    [TILE_GE] = {BOTH(ge), .compare = true},
    [TILE_EQ] = {INTS(eq), FLOATS(eq), .compare = true},
    [TILE_NE] = {INTS(ne), FLOATS(ne), .compare = true},
};
/* clang-format on */

static Loop *loop_for(const Row *r, DType t) {
  switch (dtype_kind(t)) {
    case DK_FLOAT: return t == DT_F64 ? r->d : r->f;
    case DK_INT: return r->s;
    default: return r->u;
  }
}

/* ---- wrapping and conversion ---- */

#define WRAP(T)                            \
  for (size_t i = 0; i < n; i++) {         \
    int64_t v = x[i].i, w = (int64_t)(T)v; \
    lost |= v ^ w;                         \
    x[i].i = w;                            \
  }

/* Wraps 64-bit results to t; true if that changed any. */
static bool wrap_all(DType t, size_t n, Scalar *x) {
  int64_t lost = 0;
  switch (t) {
    case DT_I8: WRAP(int8_t) break;
    case DT_I16: WRAP(int16_t) break;
    case DT_I32: WRAP(int32_t) break;
    case DT_U8: WRAP(uint8_t) break;
    case DT_U16: WRAP(uint16_t) break;
    case DT_U32: WRAP(uint32_t) break;
    case DT_I1:
      for (size_t i = 0; i < n; i++) x[i].i &= 1;
      break;
    default: break;
  }
  return lost != 0;
}

static int64_t scalar_float_to_int(DType to, double v) {
  unsigned bits = dtype_bits(to);
  if (isnan(v)) return 0;
  v = trunc(v);
  if (dtype_is_signed(to)) {
    double top = ldexp(1, (int)bits - 1);
    int64_t max = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    return v >= top ? max : v < -top ? -max - 1 : (int64_t)v;
  }
  if (v >= ldexp(1, (int)bits)) return (int64_t)(UINT64_MAX >> (64 - bits));
  return v <= 0 ? 0 : (int64_t)(uint64_t)v;
}

/* |v| as a double with its lowest bit set if bits were lost, so that a second rounding to a
 * narrower format comes out as if it were the first. */
static double odd_double(uint64_t v) {
  int shift = v >> 53 ? 11 - __builtin_clzll(v) : 0;
  uint64_t sticky = (v & ((UINT64_C(1) << shift) - 1)) != 0;
  return ldexp((double)(v >> shift | sticky), shift);
}

static double scalar_int_to_float(DType t, DType to, int64_t v) {
  bool negative = v < 0 && dtype_is_signed(t);
  uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
  if (to == DT_F64) return negative ? (double)v : (double)magnitude;
  double r = odd_double(magnitude);
  return scalar_round(to, negative ? -r : r);
}

static Scalar cast_scalar(DType t, DType to, Scalar x, bool rtz) {
  bool from_float = dtype_is_float(t);
  if (to == DT_I1) return (Scalar){.i = from_float ? x.f != 0 : x.i != 0};
  if (dtype_is_float(to)) {
    if (!from_float) return (Scalar){.f = scalar_int_to_float(t, to, x.i)};
    return (Scalar){.f = rtz ? scalar_round_zero(to, x.f) : scalar_round(to, x.f)};
  }
  if (from_float) return (Scalar){.i = scalar_float_to_int(to, x.f)};
  wrap_all(to, 1, &x);
  return x;
}

/* Widening, and wrapping between integers, are the common casts. */
static bool cast_fast(DType t, DType to, bool rtz, size_t n, Scalar *o, const Scalar *x) {
  bool ff = dtype_is_float(t) && dtype_is_float(to);
  if (to == DT_I1 || dtype_is_float(t) != dtype_is_float(to)) return false;
  if (ff && rtz && to != DT_F64) return false;
  if (o != x) memmove(o, x, n * sizeof *o);
  if (!ff) return wrap_all(to, n, o), true;
  if (to == DT_F32)
    for (size_t i = 0; i < n; i++) o[i].f = (double)(float)o[i].f;
  else scalar_round_all(to, n, o);
  return true;
}

static void cast_all(DType t, DType to, bool rtz, size_t n, Scalar *o, const Scalar *x) {
  if (cast_fast(t, to, rtz, n, o, x)) return;
  for (size_t i = 0; i < n; i++) o[i] = cast_scalar(t, to, x[i], rtz);
}

static void bitcast_all(DType t, DType to, size_t n, Scalar *o, const Scalar *x) {
  for (size_t i = 0; i < n; i++) {
    uint64_t raw = 0;
    scalar_store(t, x[i], &raw);
    o[i] = scalar_load(to, &raw);
  }
}

/* ---- entry points ---- */

bool scalar_ops(TileCode code, DType t, DType to, bool rtz, size_t n, Scalar *o, const Scalar *x,
                const Scalar *y, const Scalar *z) {
  if (code == TILE_CAST) return cast_all(t, to, rtz, n, o, x), false;
  if (code == TILE_BITCAST) return bitcast_all(t, to, n, o, x), false;
  const Row *r = &rows[code];
  Loop *loop = loop_for(r, t);
  BUG_IF(!loop, "no scalar meaning of %s on %s", tile_op_name(code), dtype_name(t));
  loop(n, o, x, y, z, dtype_bits(t));
  if (r->compare) return false;
  if (dtype_is_float(t)) {
    if (r->rounds) scalar_round_all(t, n, o);
    return false;
  }
  bool lost = r->wraps && wrap_all(t, n, o);
  return lost && dtype_is_signed(t) && (code == TILE_ADD || code == TILE_SUB || code == TILE_MUL);
}

Scalar scalar_op(TileCode code, DType t, DType to, const Scalar *x, bool rtz) {
  Scalar out;
  scalar_ops(code, t, to, rtz, 1, &out, x, x + 1, x + 2);
  return out;
}

/* ---- tf32 ---- */

enum { TF32_DROPPED_BITS = 13 };

float scalar_tf32(Tf32 how, float v) {
  uint32_t u, unit = UINT32_C(1) << TF32_DROPPED_BITS;
  if (how == TF32_NONE || !isfinite(v)) return v;
  memcpy(&u, &v, sizeof u);
  if (how == TF32_ROUNDED) u += unit / 2;
  u &= ~(unit - 1);
  memcpy(&v, &u, sizeof v);
  return v;
}
