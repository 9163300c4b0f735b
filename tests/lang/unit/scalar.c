/* Scalar arithmetic: every elementwise op on every dtype, against references that are written
 * another way.  Integers: 128-bit arithmetic, then the residue.  Floats: long double, then the
 * nearest number in a table of all numbers of a narrow format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "tests/support/tally.h"

typedef __int128 Wide;

/* A check is one op on one dtype; the first wrong element is shown. */
static void verdict(bool ok, const char *what) {
  if (ok) passed++;
  else if (failed++ < 50) printf("FAIL %s\n", what);
}

static const DType all_types[] = {
#define X(id, name, kind, bits, lang, aliases) DT_##id,
    DTYPES(X)
#undef X
};
enum { NTYPES = sizeof all_types / sizeof *all_types };

static uint64_t seed = 1;
static uint64_t random64(void) {
  seed += 0x9e3779b97f4a7c15u;
  uint64_t z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* ---- reference: integers ---- */

static Wide residue(DType t, Wide v) {
  unsigned bits = dtype_bits(t);
  Wide m = (Wide)1 << bits, r = ((v % m) + m) % m;
  return dtype_is_signed(t) && r >= m / 2 ? r - m : r;
}
static Wide int_value(DType t, Scalar x) {
  return dtype_is_signed(t) ? (Wide)x.i : (Wide)(uint64_t)x.i;
}
static Wide bits_value(DType t, Wide v) { return v < 0 ? v + ((Wide)1 << dtype_bits(t)) : v; }

static Wide ref_div(DType t, Wide a, Wide b) { return residue(t, b ? a / b : -1); }
static Wide ref_rem(DType t, Wide a, Wide b) { return residue(t, b ? a % b : a); }
static Wide ref_mulhi(DType t, Wide a, Wide b) {
  Wide m = (Wide)1 << dtype_bits(t);
  if (dtype_bits(t) == 64 && !dtype_is_signed(t))
    return (Wide)(((unsigned __int128)a * (unsigned __int128)b) >> 64);
  Wide p = a * b, q = p / m;
  return residue(t, q * m > p ? q - 1 : q);
}
static Wide ref_shl(DType t, Wide a, Wide b) {
  b = bits_value(t, b);
  if (b >= dtype_bits(t)) return 0;
  for (; b > 0; b--) a = residue(t, a * 2);
  return a;
}
static Wide ref_shr(DType t, Wide a, Wide b) {
  b = bits_value(t, b);
  for (int i = 0; i < 64 && b > 0; i++, b--) a = a < 0 ? (a - 1) / 2 : a / 2;
  return a;
}
/* Bits of the values as sets. */
static Wide ref_bits(TileCode op, DType t, Wide a, Wide b) {
  Wide r = 0;
  a = bits_value(t, a), b = bits_value(t, b);
  for (unsigned i = 0; i < dtype_bits(t); i++) {
    bool x = (a >> i) & 1, y = (b >> i) & 1;
    bool z = op == TILE_AND ? x && y : op == TILE_OR ? x || y : op == TILE_XOR ? x != y : !x;
    if (z) r += (Wide)1 << i;
  }
  return residue(t, r);
}
static Wide ref_count(TileCode op, DType t, Wide a) {
  Wide ones = 0, zeros = 0, reversed = 0;
  unsigned bits = dtype_bits(t);
  a = bits_value(t, a);
  for (unsigned i = 0; i < bits; i++) {
    bool x = (a >> i) & 1;
    ones += x;
    zeros = x ? 0 : zeros + 1;
    reversed = reversed * 2 + x;
  }
  return residue(t, op == TILE_POPC ? ones : op == TILE_CLZ ? zeros : reversed);
}

static bool ref_compare(TileCode op, long double a, long double b) {
  switch (op) {
    case TILE_LT: return a < b;
    case TILE_LE: return a <= b;
    case TILE_GT: return a > b;
    case TILE_GE: return a >= b;
    case TILE_EQ: return a == b;
    default: return a != b;
  }
}
_Static_assert(TILE_NE - TILE_LT == 5 && TILE_TANH - TILE_RSQRT == 5 &&
                   TILE_MAX_NAN - TILE_NEG == 5,
               "ops of a kind stand together");
static bool is_compare(TileCode op) { return op >= TILE_LT && op <= TILE_NE; }

static Wide ref_int(TileCode op, DType t, Wide a, Wide b) {
  switch (op) {
    case TILE_ADD: return residue(t, a + b);
    case TILE_SUB: return residue(t, a - b);
    case TILE_MUL: return residue(t, residue(DT_I64, a) * residue(DT_I64, b));
    case TILE_DIV: return ref_div(t, a, b);
    case TILE_REM: return ref_rem(t, a, b);
    case TILE_MULHI: return ref_mulhi(t, a, b);
    case TILE_NEG: return residue(t, -a);
    case TILE_ABS: return residue(t, a < 0 ? -a : a);
    case TILE_MIN: return a < b ? a : b;
    case TILE_MAX: return a < b ? b : a;
    case TILE_SHL: return ref_shl(t, a, b);
    case TILE_SHR: return ref_shr(t, a, b);
    case TILE_POPC:
    case TILE_CLZ:
    case TILE_BREV: return ref_count(op, t, a);
    case TILE_AND:
    case TILE_OR:
    case TILE_XOR:
    case TILE_NOT: return ref_bits(op, t, a, b);
    default: return ref_compare(op, a, b);
  }
}

/* ---- values to try ---- */

enum { MANY = 400 };

static uint32_t int_samples(DType t, Scalar *out) {
  static const int64_t base[] = {0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255};
  uint32_t n = 0;
  uint64_t top = UINT64_C(1) << (dtype_bits(t) - 1);
  for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
    uint64_t v[] = {(uint64_t)base[i], 0 - (uint64_t)base[i], top + (uint64_t)base[i],
                    top - (uint64_t)base[i]};
    for (int k = 0; k < 4; k++) out[n++].i = (int64_t)residue(t, (Wide)v[k]);
  }
  while (n < 100) {
    uint64_t r = random64();
    out[n++].i = (int64_t)residue(t, (Wide)(r >> random64() % 64));
  }
  return n;
}

static void check_int_op(TileCode op, DType t) {
  Scalar s[MANY];
  uint32_t n = int_samples(t, s);
  DType to = is_compare(op) ? DT_I1 : t;
  char text[200] = "";
  for (uint32_t i = 0; i < n && !*text; i++)
    for (uint32_t k = 0; k < n && !*text; k++) {
      Scalar x[3] = {s[i], s[k], s[i]}, got = scalar_op(op, t, to, x, false);
      int64_t want = (int64_t)ref_int(op, t, int_value(t, x[0]), int_value(t, x[1]));
      if (got.i != want)
        snprintf(text, sizeof text, "%s %s of %lld, %lld: %lld, expected %lld", tile_op_name(op),
                 dtype_name(t), (long long)x[0].i, (long long)x[1].i, (long long)got.i,
                 (long long)want);
    }
  verdict(!*text, text);
}

/* ---- reference: floats ---- */

typedef struct {
  unsigned ebits, mbits;
  int bias;
  bool infinite; /* the top exponent is infinity and NaN */
  bool saturates;
} Shape;

static Shape shape_of(DType t) {
  switch (t) {
    case DT_F8E5: return (Shape){5, 2, 15, true, true};
    case DT_F8E4NV: return (Shape){4, 3, 7, false, true};
    case DT_F8E4B15: return (Shape){4, 3, 15, false, true};
    case DT_F16: return (Shape){5, 10, 15, true, false};
    default: return (Shape){8, 7, 127, true, false};
  }
}

static long double decode(DType t, unsigned bits) {
  Shape s = shape_of(t);
  unsigned e = bits >> s.mbits & ((1u << s.ebits) - 1), m = bits & ((1u << s.mbits) - 1);
  long double sign = bits >> (s.ebits + s.mbits) ? -1 : 1;
  if (t == DT_F8E4NV && (bits & 0x7f) == 0x7f) return sign * NAN;
  if (s.infinite && e == (1u << s.ebits) - 1) return m ? sign * NAN : sign * INFINITY;
  if (!e) return sign * ldexpl(m, 1 - s.bias - (int)s.mbits);
  return sign * ldexpl(1 + ldexpl(m, -(int)s.mbits), (int)e - s.bias);
}

/* The bits of the largest finite number. */
static unsigned top_bits(DType t) {
  Shape s = shape_of(t);
  unsigned all = (1u << (s.ebits + s.mbits)) - 1;
  return s.infinite ? all - (1u << s.mbits) : all - 1;
}

/* Rounds by search in the sorted positive numbers, whose order is that of their bits. */
static long double ref_narrow(DType t, long double v, bool rtz) {
  Shape s = shape_of(t);
  if (v != v) return t == DT_F8E4B15 ? 1.75L : v;
  long double a = fabsl(v), sign = signbit(v) ? -1 : 1;
  unsigned lo = 0, hi = top_bits(t);
  long double max = decode(t, hi), step = max - decode(t, hi - 1);
  if (a > max) {
    if (s.saturates || (rtz && !isinf(v))) return sign * max;
    return sign * (rtz || a >= max + step / 2 ? INFINITY : max);
  }
  while (lo < hi) {
    unsigned mid = (lo + hi + 1) / 2;
    if (decode(t, mid) <= a) lo = mid;
    else hi = mid - 1;
  }
  long double below = decode(t, lo), above = decode(t, lo + 1);
  if (rtz || a == below) return sign * below;
  if (t == DT_F8E4B15) return sign * (a - below >= above - a ? above : below);
  if (a - below == above - a) return sign * (lo & 1 ? above : below);
  return sign * (a - below > above - a ? above : below);
}

static double ref_round(DType t, long double v) {
  if (t == DT_F64) return (double)v;
  if (t == DT_F32) return (double)(float)v;
  if (t == DT_F8E4B15) v = ref_narrow(DT_F16, v, false);
  if (t == DT_F8E4B15 && fabsl(v) > 1.75L) return v < 0 ? -1.75 : 1.75;
  return (double)ref_narrow(t, v, false);
}

static bool same_float(double a, double b) {
  return a != a ? b != b : a == b && signbit(a) == signbit(b);
}

static long double ref_min(long double a, long double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}

static long double ref_float(TileCode op, DType t, long double a, long double b) {
  (void)t;
  bool nan = a != a || b != b;
  switch (op) {
    case TILE_ADD: return a + b;
    case TILE_SUB: return a - b;
    case TILE_MUL: return a * b;
    case TILE_DIV:
    case TILE_DIV_RN: return a / b;
    case TILE_REM: return fmodl(a, b);
    case TILE_NEG: return -a;
    case TILE_ABS: return fabsl(a);
    case TILE_MIN: return ref_min(a, b);
    case TILE_MAX: return -ref_min(-a, -b);
    case TILE_MIN_NAN: return nan ? NAN : ref_min(a, b);
    case TILE_MAX_NAN: return nan ? NAN : -ref_min(-a, -b);
    case TILE_RCP: return 1 / a;
    case TILE_SQRT:
    case TILE_SQRT_RN: return sqrtl(a);
    case TILE_RSQRT: return 1 / sqrtl(a);
    case TILE_EXP2: return exp2l(a);
    case TILE_LOG2: return log2l(a);
    case TILE_SIN: return sinl(a);
    case TILE_COS: return cosl(a);
    case TILE_TANH: return tanhl(a);
    case TILE_FLOOR: return floorl(a);
    case TILE_CEIL: return ceill(a);
    case TILE_TRUNC: return truncl(a);
    default: return rintl(a);
  }
}

/* f64 has no wider reference that rounds once; the operations themselves are the hardware's. */
static double ref_f64(TileCode op, double a, double b) {
  switch (op) {
    case TILE_ADD: return a + b;
    case TILE_SUB: return a - b;
    case TILE_MUL: return a * b;
    case TILE_DIV:
    case TILE_DIV_RN: return a / b;
    case TILE_RCP: return 1 / a;
    case TILE_SQRT:
    case TILE_SQRT_RN: return sqrt(a);
    default: return (double)ref_float(op, DT_F64, a, b);
  }
}

/* Functions of libm may be off by some units in the last place. */
static bool close_float(DType t, double got, double want) {
  if (same_float(got, want)) return true;
  if (got != got || want != want || isinf(want)) return false;
  int e;
  frexp(want, &e);
  int digits = t == DT_F64 ? 53 : t == DT_F32 ? 24 : (int)shape_of(t).mbits + 1;
  double tiny = t == DT_F64 ? 0 : t == DT_F32 ? 0x1p-149 : (double)decode(t, 1);
  return fabs(got - want) <= 2 * fmax(ldexp(1, e - digits), tiny);
}

static uint32_t float_samples(DType t, Scalar *out) {
  static const double base[] = {0,    -0.0,  1,   -1,      0.5,      1.5,       2.5,   -2.5,
                                3,    10,    448, 0x1p-24, 0x1p-126, 0x1p-149,  65504, 0x1p127,
                                1e30, -1e30, 0.1, 3.14159, INFINITY, -INFINITY, NAN};
  uint32_t n = 0;
  for (size_t i = 0; i < sizeof base / sizeof *base; i++) out[n++].f = ref_round(t, base[i]);
  for (unsigned i = 0; dtype_bits(t) == 8 && i < 256; i++) out[n++].f = (double)decode(t, i);
  while (n < 90) {
    double m = (double)random64() / 0x1p63 - 1;
    int range = t == DT_F16 ? 24 : 100, e = (int)(random64() % (unsigned)range) - range / 2;
    out[n++].f = ref_round(t, ldexp(m, random64() % 2 ? e : 2));
  }
  return n;
}

static bool is_library(TileCode op) { return op >= TILE_RSQRT && op <= TILE_TANH; }

/* These give one of the operands, up to its sign: infinity of f8e5 stays. */
static bool is_exact(TileCode op) { return op >= TILE_NEG && op <= TILE_MAX_NAN; }

static double want_of(TileCode op, DType t, double a, double b) {
  if (t == DT_F64) return ref_f64(op, a, b);
  long double exact = ref_float(op, t, a, b);
  if (is_exact(op)) return (double)exact;
  return ref_round(t, exact);
}

static void check_float_op(TileCode op, DType t) {
  Scalar s[MANY];
  bool binary = !strcmp(tile_op_args(op), "vv");
  uint32_t n = float_samples(t, s);
  char text[200] = "";
  for (uint32_t i = 0; i < n && !*text; i++)
    for (uint32_t k = 0; k < (binary ? n : 1) && !*text; k++) {
      Scalar x[3] = {s[i], s[k], s[i]}, got = scalar_op(op, t, t, x, false);
      double want = want_of(op, t, x[0].f, x[1].f);
      bool ok = is_library(op) ? close_float(t, got.f, want) : same_float(got.f, want);
      if (!ok)
        snprintf(text, sizeof text, "%s %s of %a, %a: %a, expected %a", tile_op_name(op),
                 dtype_name(t), x[0].f, x[1].f, got.f, want);
    }
  verdict(!*text, text);
}

static void check_float_compare(TileCode op, DType t) {
  Scalar s[MANY];
  uint32_t n = float_samples(t, s);
  char text[200] = "";
  for (uint32_t i = 0; i < n && !*text; i++)
    for (uint32_t k = 0; k < n && !*text; k++) {
      Scalar x[3] = {s[i], s[k], s[i]}, got = scalar_op(op, t, DT_I1, x, false);
      if (got.i != ref_compare(op, x[0].f, x[1].f))
        snprintf(text, sizeof text, "%s %s of %a, %a: %lld", tile_op_name(op), dtype_name(t),
                 x[0].f, x[1].f, (long long)got.i);
    }
  verdict(!*text, text);
}

/* ---- every op ---- */

static bool takes(TileCode op, DType t) {
  const char *doc = tile_op_doc(op);
  static const TileCode floats[] = {TILE_DIV_RN, TILE_MIN_NAN, TILE_MAX_NAN, TILE_RCP,
                                    TILE_SQRT,   TILE_SQRT_RN, TILE_RSQRT,   TILE_EXP2,
                                    TILE_LOG2,   TILE_SIN,     TILE_COS,     TILE_TANH,
                                    TILE_FLOOR,  TILE_CEIL,    TILE_TRUNC,   TILE_RINT};
  static const TileCode ints[] = {TILE_MULHI, TILE_AND, TILE_OR,   TILE_XOR, TILE_NOT,
                                  TILE_SHL,   TILE_SHR, TILE_POPC, TILE_CLZ, TILE_BREV};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (op == floats[i]) return dtype_is_float(t);
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
    if (op == ints[i])
      return dtype_is_int(t) && (!strstr(doc, "32- and 64-bit") || dtype_bits(t) >= 32);
  return true;
}

/* These have checks of their own, or none here. */
static bool is_special(TileCode op) {
  return op == TILE_CONST || op == TILE_UNDEF || op == TILE_SELECT || op == TILE_CAST ||
         op == TILE_BITCAST || op == TILE_PTR_ADD || op == TILE_HINT || op == TILE_FMA ||
         op == TILE_DOT4 || op == TILE_DOT2;
}

static void check_ops(void) {
  for (TileCode op = 0; op < TILE_OP_COUNT; op++) {
    if (!(tile_op_flags(op) & TILE_ELEM) || is_special(op)) continue;
    for (int i = 0; i < NTYPES; i++) {
      DType t = all_types[i];
      if (!takes(op, t)) continue;
      if (!dtype_is_float(t)) check_int_op(op, t);
      else if (is_compare(op)) check_float_compare(op, t);
      else check_float_op(op, t);
    }
  }
}

/* ---- conversions ---- */

static int64_t ref_to_int(DType to, long double v) {
  bool is_signed = dtype_is_signed(to);
  int bits = (int)dtype_bits(to);
  if (v != v) return 0;
  v = truncl(v);
  long double top = ldexpl(1, bits - is_signed) - 1, bottom = is_signed ? -ldexpl(1, bits - 1) : 0;
  if (v > top) v = top;
  if (v < bottom) v = bottom;
  return is_signed ? (int64_t)v : (int64_t)(uint64_t)v;
}

/* From the exact value towards zero. */
static double ref_zero(DType to, double v) {
  if (to == DT_F64) return v;
  if (to != DT_F32) return (double)ref_narrow(to, v, true);
  float f = (float)v;
  if (isinf(f) && !isinf(v)) return copysign(0x1.fffffep127, v);
  return fabs((double)f) > fabs(v) ? (double)nextafterf(f, 0) : (double)f;
}

static bool check_one_cast(DType t, DType to, Scalar x, bool rtz) {
  Scalar got = scalar_op(TILE_CAST, t, to, &x, rtz);
  bool from_float = dtype_is_float(t);
  long double exact = from_float ? (long double)x.f : (long double)int_value(t, x);
  if (to == DT_I1) return got.i == (exact != 0);
  if (dtype_is_float(to)) {
    double want = rtz && from_float ? ref_zero(to, x.f) : ref_round(to, exact);
    return same_float(got.f, want);
  }
  return got.i == (from_float ? ref_to_int(to, exact) : (int64_t)residue(to, int_value(t, x)));
}

static void check_cast(DType t, DType to, bool rtz) {
  Scalar s[MANY], all[3];
  char text[200] = "";
  uint32_t n = dtype_is_float(t) ? float_samples(t, s) : int_samples(t, s);
  for (uint32_t i = 0; i < n && !*text; i++)
    if (!check_one_cast(t, to, s[i], rtz)) {
      all[0] = scalar_op(TILE_CAST, t, to, &s[i], rtz);
      snprintf(text, sizeof text, "cast %s to %s%s of %a or %lld: %a or %lld", dtype_name(t),
               dtype_name(to), rtz ? " rtz" : "", s[i].f, (long long)s[i].i, all[0].f,
               (long long)all[0].i);
    }
  verdict(!*text, text);
}

/* Halfway cases of i64 to narrow floats, where rounding twice would show. */
static void check_int_halves(void) {
  int64_t v = (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1;
  Scalar x = {.i = v}, y = {.i = -v};
  verdict(scalar_op(TILE_CAST, DT_I64, DT_BF16, &x, false).f == 0x1.02p62, "i64 above a half");
  verdict(scalar_op(TILE_CAST, DT_I64, DT_BF16, &y, false).f == -0x1.02p62, "-i64 above a half");
  x.i = (INT64_C(1) << 62) + (INT64_C(1) << 54);
  verdict(scalar_op(TILE_CAST, DT_I64, DT_BF16, &x, false).f == 0x1p62, "i64 at a half");
  x.f = 1 + 0x1p-11 + 0x1p-40;
  verdict(scalar_op(TILE_CAST, DT_F64, DT_F16, &x, false).f == 1 + 0x1p-10, "f64 to f16, once");
}

static void check_bits(DType t) {
  bool ok = true;
  for (unsigned b = 0; b < 1u << dtype_bits(t); b++) {
    uint32_t in = b, out = 0;
    Scalar v = scalar_load(t, &in);
    scalar_store(t, v, &out);
    ok &= same_float(v.f, (double)decode(t, b));
    ok &= out == in;
    ok &= !isfinite(v.f) || same_float(scalar_round(t, v.f), v.f);
  }
  verdict(ok, dtype_name(t));
}

static void check_bitcasts(void) {
  static const struct {
    DType a, b;
  } pairs[] = {{DT_I32, DT_F32},  {DT_U32, DT_F32}, {DT_I64, DT_F64}, {DT_I16, DT_F16},
               {DT_U16, DT_BF16}, {DT_U8, DT_F8E5}, {DT_U64, DT_PTR}, {DT_I32, DT_U32}};
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    Scalar s[MANY];
    uint32_t n = int_samples(pairs[k].a, s);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
      Scalar there = scalar_op(TILE_BITCAST, pairs[k].a, pairs[k].b, &s[i], false);
      ok &= scalar_op(TILE_BITCAST, pairs[k].b, pairs[k].a, &there, false).i == s[i].i;
    }
    verdict(ok, "bitcast there and back");
  }
  Scalar one = {.f = 1.0};
  verdict(scalar_op(TILE_BITCAST, DT_F32, DT_I32, &one, false).i == 0x3f800000, "bits of 1.0");
}

static void check_conversions(void) {
  for (int i = 0; i < NTYPES; i++)
    for (int k = 0; k < NTYPES; k++) {
      check_cast(all_types[i], all_types[k], false);
      bool floats = dtype_is_float(all_types[i]) && dtype_is_float(all_types[k]);
      if (floats && all_types[k] != DT_F8E4B15) check_cast(all_types[i], all_types[k], true);
    }
  check_int_halves();
  check_bits(DT_F8E5);
  check_bits(DT_F8E4NV);
  check_bits(DT_F16);
  check_bits(DT_BF16);
  check_bitcasts();
}

/* ---- fma, and values worked out by hand ---- */

static void check_fma(DType t, double a, double b, double c, double want) {
  Scalar x[3] = {{.f = a}, {.f = b}, {.f = c}};
  verdict(same_float(scalar_op(TILE_FMA, t, t, x, false).f, want), "fma");
}

static void check_dot4(uint32_t a, uint32_t b, int32_t c, int32_t want) {
  Scalar x[3] = {{.i = (int32_t)a}, {.i = (int32_t)b}, {.i = c}};
  verdict(scalar_op(TILE_DOT4, DT_I32, DT_I32, x, false).i == want, "dot4");
}

/* Pairs of bf16, and the bits of a float. */
static void check_dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t want) {
  Scalar x[3] = {{.i = (int32_t)a}, {.i = (int32_t)b}, {.i = (int32_t)c}};
  verdict((uint32_t)scalar_op(TILE_DOT2, DT_I32, DT_I32, x, false).i == want, "dot2");
}

static void check_by_hand(void) {
  check_dot2(0x40003f80, 0x40404080, 0x3f800000, 0x41300000); /* 1 + 1 * 4 + 2 * 3 */
  check_dot2(0x7f803f80, 0x3f803f80, 0, 0x7f800000);          /* 1 + infinity */
  check_dot2(0x00003f80, 0x3f80bf80, 0x3f800000, 0);          /* 1 + 1 * -1 + 0 * 1 */
  check_dot4(0x04030201, 0x08070605, 1000, 1000 + 5 + 12 + 21 + 32);
  check_dot4(0x80808080, 0x80808080, 0, 65536);
  check_dot4(0x7f80ff01, 0x8001ff7f, -1, -1 + 127 + 1 - 128 - 16256);
  check_dot4(0x80808080, 0x80808080, INT32_MAX, INT32_MIN + 65535);
  check_fma(DT_F32, 1 + 0x1p-12, 1 - 0x1p-12, -1, -0x1p-24);
  check_fma(DT_F64, 1 + 0x1p-30, 1 - 0x1p-30, -1, -0x1p-60);
  check_fma(DT_F16, 1 + 0x1p-10, 1 - 0x1p-10, -1, -0x1p-20);
  check_fma(DT_BF16, 3, 5, 1, 16);
  static const struct {
    DType t;
    double in, out;
  } rounds[] = {
      {DT_F8E4NV, 460, 448},          {DT_F8E4NV, 1e9, 448},        {DT_F8E4NV, -INFINITY, -448},
      {DT_F8E5, 61440, 57344},        {DT_F8E5, INFINITY, 57344},   {DT_F8E4B15, 3, 1.75},
      {DT_F8E4B15, 0x1.1p0, 0x1.2p0}, {DT_F16, 65519, 65504},       {DT_F16, 65520, INFINITY},
      {DT_F16, 0x1p-25, 0},           {DT_F16, 0x1.8p-25, 0x1p-24}, {DT_BF16, 0x1.01p0, 1},
      {DT_BF16, 0x1.03p0, 0x1.04p0},  {DT_F32, 16777217, 16777216}, {DT_F16, -1e-30, -0.0},
  };
  for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
    verdict(same_float(scalar_round(rounds[i].t, rounds[i].in), rounds[i].out), "round by hand");
  Scalar x[3] = {{.i = INT32_MAX}, {.i = 1}, {.i = 0}}, out;
  verdict(scalar_ops(TILE_ADD, DT_I32, DT_I32, false, 1, &out, x, x + 1, x), "wrap is noticed");
  verdict(!scalar_ops(TILE_ADD, DT_U32, DT_U32, false, 1, &out, x, x + 1, x), "no wrap unsigned");
  verdict(out.i == INT64_C(0x80000000), "u32 sum");
}

int main(void) {
  check_ops();
  check_conversions();
  check_by_hand();
  return report();
}
