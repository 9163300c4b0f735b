/* Floating-point formats: rounding a double to one, and its bits in memory. */
#include <math.h>
#include <string.h>

#include "lang/tile/scalar.h"

typedef struct {
  uint8_t mantissa; /* explicit bits */
  int16_t emin;     /* exponent of the smallest normal number */
  bool saturates;   /* overflow gives the largest finite number, as cvt.satfinite does */
  double max;       /* the largest finite number */
} Format;

/* f8e4b15 has neither infinities nor NaN; Triton converts to it by way of f16, clamps at 1.75 and
 * rounds ties away from zero. */
static const Format formats[DT_COUNT] = {
    [DT_F8E5] = {2, -14, true, 57344.0},
    [DT_F8E4NV] = {3, -6, true, 448.0},
    [DT_F8E4B15] = {3, -14, true, 1.75},
    [DT_F16] = {10, -14, false, 65504.0},
    [DT_BF16] = {7, -126, false, 0x1.fep127},
    [DT_F32] = {23, -126, false, 0x1.fffffep127},
    [DT_F64] = {52, -1022, false, 0x1.fffffffffffffp1023},
};

static inline uint64_t f64_bits(double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

static inline double double_of(uint64_t u) {
  double v;
  memcpy(&v, &u, sizeof v);
  return v;
}

/* The exponent of v's last place in the format: 2^quantum is what it is rounded to multiples of.
 * Huge values are capped, they overflow in any case. */
static inline int quantum(const Format *f, double v) {
  int e = (int)(f64_bits(v) >> 52 & 0x7ff) - 1023;
  if (e < f->emin) e = f->emin;
  if (e > 900) e = 900;
  return e - f->mantissa;
}

static inline double power2(int e) { return double_of((uint64_t)(e + 1023) << 52); }

static inline double round_overflow(const Format *f, double r, double v, bool rtz) {
  if (!(fabs(r) > f->max)) return r;
  return copysign(f->saturates || (rtz && !isinf(v)) ? f->max : INFINITY, v);
}

/* Adding a number whose last place is the quantum rounds to the quantum, ties to even. */
static inline double round_even(const Format *f, double v) {
  double big = 1.5 * power2(quantum(f, v) + 52);
  double r = copysign((v + big) - big, v);
  return round_overflow(f, r, v, false);
}

static double round_zero(const Format *f, double v) {
  if (isnan(v) || isinf(v)) return round_overflow(f, v, v, true);
  int q = quantum(f, v);
  double r = copysign(ldexp(trunc(ldexp(v, -q)), q), v);
  return round_overflow(f, r, v, true);
}

static double round_e4b15(double v) {
  const Format *f = &formats[DT_F8E4B15];
  double a = fabs(round_even(&formats[DT_F16], v));
  if (isnan(v)) return f->max;
  if (a >= f->max) return copysign(f->max, v);
  double unit = power2(quantum(f, a));
  return copysign(floor(a / unit + 0.5) * unit, v);
}

double scalar_round(DType t, double v) {
  switch (t) {
    case DT_F64: return v;
    case DT_F32: return (double)(float)v;
    case DT_F8E4B15: return round_e4b15(v);
    default: return round_even(&formats[t], v);
  }
}

double scalar_round_zero(DType t, double v) {
  if (t == DT_F64) return v;
  if (t == DT_F8E4B15 && isnan(v)) return formats[t].max;
  return round_zero(&formats[t], v);
}

void scalar_round_all(DType t, size_t n, Scalar *x) {
  const Format *f = &formats[t];
  if (t == DT_F8E4B15)
    for (size_t i = 0; i < n; i++) x[i].f = round_e4b15(x[i].f);
  else if (t != DT_F64 && t != DT_F32)
    for (size_t i = 0; i < n; i++) x[i].f = round_even(f, x[i].f);
}

/* ---- bits ---- */

/* NaN payloads survive, so that a bitcast to floats and back, or a copy, changes nothing. */
static double f32_of(uint32_t u) {
  float v;
  memcpy(&v, &u, sizeof v);
  if (v == v) return v;
  return double_of((uint64_t)(u >> 31) << 63 | UINT64_C(0x7ff) << 52 |
                   (uint64_t)(u & 0x7fffff) << 29);
}

static uint32_t f32_bits(double v) {
  float f = (float)v;
  uint32_t u;
  if (v == v) return memcpy(&u, &f, sizeof u), u;
  uint64_t b = f64_bits(v);
  u = (uint32_t)(b >> 29) & 0x7fffff;
  return (uint32_t)(b >> 63) << 31 | 0x7f800000u | (u ? u : 0x400000u);
}

/* The value of `u` in a format of `ebits` exponent bits, whose largest exponent is for infinity
 * and NaN if `special`. */
static double narrow_of(const Format *f, unsigned ebits, bool special, uint32_t u) {
  unsigned m = f->mantissa;
  uint32_t sign = u >> (ebits + m), e = u >> m & ((1u << ebits) - 1), frac = u & ((1u << m) - 1);
  if (special && e == (1u << ebits) - 1)
    return double_of((uint64_t)sign << 63 | UINT64_C(0x7ff) << 52 | (uint64_t)frac << (52 - m));
  double v = e ? ((double)frac + (double)(1u << m)) * power2(f->emin + (int)e - 1 - (int)m)
               : (double)frac * power2(f->emin - (int)m);
  return sign ? -v : v;
}

static uint32_t narrow_bits(const Format *f, unsigned ebits, double v) {
  unsigned m = f->mantissa;
  uint64_t b = f64_bits(v);
  uint32_t sign = (uint32_t)(b >> 63) << (ebits + m), top = ((1u << ebits) - 1) << m;
  if (isinf(v)) return sign | top;
  if (isnan(v)) {
    uint32_t frac = (uint32_t)(b >> (52 - m)) & ((1u << m) - 1);
    return sign | top | (frac ? frac : 1u << (m - 1));
  }
  int e = (int)(b >> 52 & 0x7ff) - 1023;
  if (e < f->emin) return sign | (uint32_t)(fabs(v) / power2(f->emin - (int)m));
  uint32_t frac = (uint32_t)(b >> (52 - m)) & ((1u << m) - 1);
  return sign | (uint32_t)(e - f->emin + 1) << m | frac;
}

static double e4nv_of(uint32_t u) {
  if ((u & 0x7f) == 0x7f) return u & 0x80 ? -NAN : NAN;
  return narrow_of(&formats[DT_F8E4NV], 4, false, u);
}

static uint32_t e4nv_bits(double v) {
  if (isnan(v)) return signbit(v) ? 0xff : 0x7f;
  return narrow_bits(&formats[DT_F8E4NV], 4, v);
}

#define READ(T) (memcpy(&(T##_), p, sizeof(T##_)), (T##_))

Scalar scalar_load(DType t, const void *p) {
  uint8_t u8_;
  uint16_t u16_;
  uint32_t u32_;
  uint64_t u64_;
  BUG_IF(t == DT_NONE || t >= DT_COUNT, "scalar_load of dtype %d", t);
  switch (t) {
    case DT_I1: return (Scalar){.i = READ(u8) != 0};
    case DT_I8: return (Scalar){.i = (int8_t)READ(u8)};
    case DT_I16: return (Scalar){.i = (int16_t)READ(u16)};
    case DT_I32: return (Scalar){.i = (int32_t)READ(u32)};
    case DT_U8: return (Scalar){.i = READ(u8)};
    case DT_U16: return (Scalar){.i = READ(u16)};
    case DT_U32: return (Scalar){.i = READ(u32)};
    case DT_I64:
    case DT_U64:
    case DT_PTR: return (Scalar){.i = (int64_t)READ(u64)};
    case DT_F8E5: return (Scalar){.f = narrow_of(&formats[t], 5, true, READ(u8))};
    case DT_F8E4NV: return (Scalar){.f = e4nv_of(READ(u8))};
    case DT_F8E4B15: return (Scalar){.f = narrow_of(&formats[t], 4, false, READ(u8))};
    case DT_F16: return (Scalar){.f = narrow_of(&formats[t], 5, true, READ(u16))};
    case DT_BF16: return (Scalar){.f = f32_of((uint32_t)READ(u16) << 16)};
    case DT_F32: return (Scalar){.f = f32_of(READ(u32))};
    case DT_F64: return (Scalar){.f = double_of(READ(u64))};
    case DT_NONE:
    case DT_COUNT: break;
  }
  return (Scalar){0};
}

/* bf16 is the upper half of f32; a NaN whose payload is only in the lower half stays a NaN. */
static uint32_t bf16_bits(double v) {
  uint32_t u = f32_bits(v) >> 16;
  return isnan(v) && !(u & 0x7f) ? u | 0x40 : u;
}

static uint64_t float_bits(DType t, double v) {
  switch (t) {
    case DT_F8E5: return narrow_bits(&formats[t], 5, v);
    case DT_F8E4NV: return e4nv_bits(v);
    case DT_F8E4B15: return narrow_bits(&formats[t], 4, v);
    case DT_F16: return narrow_bits(&formats[t], 5, v);
    case DT_BF16: return bf16_bits(v);
    case DT_F32: return f32_bits(v);
    default: return f64_bits(v);
  }
}

void scalar_store(DType t, Scalar v, void *p) {
  uint64_t u = dtype_is_float(t) ? float_bits(t, v.f) : t == DT_I1 ? v.i & 1 : (uint64_t)v.i;
  switch (dtype_bytes(t)) { /* little-endian: the low bytes come first */
    case 1: memcpy(p, &u, 1); break;
    case 2: memcpy(p, &u, 2); break;
    case 4: memcpy(p, &u, 4); break;
    default: memcpy(p, &u, 8); break;
  }
}

/* The common dtypes have loops of their own. */
void scalar_load_all(DType t, size_t n, const void *p, Scalar *out) {
  const uint8_t *at = p;
  unsigned bytes = dtype_bytes(t);
  if (t == DT_F32)
    for (size_t i = 0; i < n; i++, at += 4) {
      uint32_t u;
      memcpy(&u, at, sizeof u);
      out[i].f = f32_of(u);
    }
  else if (t == DT_I32)
    for (size_t i = 0; i < n; i++, at += 4) {
      int32_t v;
      memcpy(&v, at, sizeof v);
      out[i].i = v;
    }
  else
    for (size_t i = 0; i < n; i++, at += bytes) out[i] = scalar_load(t, at);
}

void scalar_store_all(DType t, size_t n, const Scalar *x, void *p) {
  uint8_t *at = p;
  unsigned bytes = dtype_bytes(t);
  if (t == DT_F32)
    for (size_t i = 0; i < n; i++, at += 4) {
      uint32_t u = f32_bits(x[i].f);
      memcpy(at, &u, sizeof u);
    }
  else
    for (size_t i = 0; i < n; i++, at += bytes) scalar_store(t, x[i], at);
}
