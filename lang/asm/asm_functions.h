/* The functions that PTX instructions are made of (asm_table.h), on values of 64 bits: integers,
 * bits of a register (zero-extended), or the bits of a double, in which floats of all formats are
 * computed.  Their text is both code of the evaluator and code of kernels in C: there is one
 * meaning.
 *
 * F(name, number of parameters, parameters, body) gives 64 bits and is one of the meanings' words;
 * G(name, type, parameters, body) is for other functions.  They call those before them, as
 * asm_NAME.
 *
 * A float format is its exponent bits and its mantissa bits.  Rounding is 0 to nearest even, 1
 * towards zero, 2 down, 3 up, 4 to nearest, ties away from zero.  A NaN that is made has all bits
 * but the sign, as on a GPU. */
#ifndef NEREID_LANG_ASM_ASM_FUNCTIONS_H
#define NEREID_LANG_ASM_ASM_FUNCTIONS_H

/* clang-format off */
#define ASM_U1 (uint64_t a)
#define ASM_U2 (uint64_t a, uint64_t b)
#define ASM_U3 (uint64_t a, uint64_t b, uint64_t c)
#define ASM_U4 (uint64_t a, uint64_t b, uint64_t c, uint64_t d)

#define ASM_FUNCTIONS(F, G) \
/* -- bits -- */ \
F(low, 2, ASM_U2, { return b < 64 ? a & (((uint64_t)1 << b) - 1) : a; }) \
F(sext, 2, ASM_U2, { return (uint64_t)((int64_t)(a << (64 - b)) >> (64 - b)); }) \
F(and, 2, ASM_U2, { return a & b; }) \
F(or, 2, ASM_U2, { return a | b; }) \
F(xor, 2, ASM_U2, { return a ^ b; }) \
F(not, 1, ASM_U1, { return ~a; }) \
F(shl, 2, ASM_U2, { return b < 64 ? a << b : 0; }) \
F(shr, 2, ASM_U2, { return b < 64 ? a >> b : 0; }) \
F(sar, 2, ASM_U2, { return (uint64_t)((int64_t)a >> (b < 64 ? b : 63)); }) \
F(popc, 1, ASM_U1, { return (uint64_t)__builtin_popcountll(a); }) \
F(clz, 2, ASM_U2, { return a ? (uint64_t)__builtin_clzll(a) - (64 - b) : b; }) \
F(brev, 2, ASM_U2, { \
  uint64_t r = 0; \
  for (uint64_t i = 0; i < b; i++) r |= (a >> i & 1) << (b - 1 - i); \
  return r; \
}) \
F(bfind, 1, ASM_U1, { return a ? 63 - (uint64_t)__builtin_clzll(a) : 0xffffffff; }) \
/* a field of c bits from bit b on, of a value of d bits; signed: extended by its last bit */ \
F(bfe_u, 4, ASM_U4, { return asm_low(asm_shr(asm_low(a, d), b & 255), c & 255); }) \
F(bfe_s, 4, ASM_U4, { \
  const uint64_t at = b & 255; \
  const uint64_t n = c & 255; \
  if (!n) return 0; \
  const uint64_t last = at + n - 1 < d - 1 ? at + n - 1 : d - 1; \
  const uint64_t sign = a >> last & 1; \
  const uint64_t field = asm_low(asm_shr(asm_low(a, d), at), n); \
  const uint64_t have = at > last ? 0 : last - at + 1; \
  return sign ? field | ~asm_low(~(uint64_t)0, have) : field; \
}) \
/* a: the field, b: the value that it goes into, c: at, d: bits; wide ones as by shifts */ \
F(bfi, 4, ASM_U4, { \
  const uint64_t mask = asm_shl(asm_low(~(uint64_t)0, d & 255), c & 255); \
  return (b & ~mask) | (asm_shl(a, c & 255) & mask); \
}) \
F(lop3, 4, ASM_U4, { \
  uint64_t r = 0; \
  if (d & 1) r |= ~a & ~b & ~c; \
  if (d & 2) r |= ~a & ~b & c; \
  if (d & 4) r |= ~a & b & ~c; \
  if (d & 8) r |= ~a & b & c; \
  if (d & 16) r |= a & ~b & ~c; \
  if (d & 32) r |= a & ~b & c; \
  if (d & 64) r |= a & b & ~c; \
  if (d & 128) r |= a & b & c; \
  return r; \
}) \
F(prmt, 3, ASM_U3, { \
  const uint64_t bytes = a | b << 32; \
  uint64_t r = 0; \
  for (int i = 0; i < 4; i++) { \
    const uint64_t s = c >> (4 * i) & 15; \
    uint64_t x = bytes >> (8 * (s & 7)) & 255; \
    if (s & 8) x = x & 128 ? 255 : 0; \
    r |= x << (8 * i); \
  } \
  return r; \
}) \
/* a: low word, b: high word */ \
F(shf_l, 3, ASM_U3, { return (b << 32 | a) << c >> 32 & 0xffffffff; }) \
F(shf_r, 3, ASM_U3, { return (b << 32 | a) >> c & 0xffffffff; }) \
/* -- integers -- */ \
F(add, 2, ASM_U2, { return a + b; }) \
F(sub, 2, ASM_U2, { return a - b; }) \
F(mul, 2, ASM_U2, { return a * b; }) \
F(mulhi_u, 2, ASM_U2, { return (uint64_t)((unsigned __int128)a * b >> 64); }) \
F(mulhi_s, 2, ASM_U2, { return (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64); }) \
F(div_u, 2, ASM_U2, { return b ? a / b : ~(uint64_t)0; }) \
F(div_s, 2, ASM_U2, { \
  if (!b) return ~(uint64_t)0; \
  return b == ~(uint64_t)0 ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b); \
}) \
F(rem_u, 2, ASM_U2, { return b ? a % b : a; }) \
F(rem_s, 2, ASM_U2, { \
  if (!b) return a; \
  return b == ~(uint64_t)0 ? 0 : (uint64_t)((int64_t)a % (int64_t)b); \
}) \
F(lt_u, 2, ASM_U2, { return a < b; }) \
F(lt_s, 2, ASM_U2, { return (int64_t)a < (int64_t)b; }) \
F(eq, 2, ASM_U2, { return a == b; }) \
F(sel, 3, ASM_U3, { return a ? b : c; }) \
F(min_u, 2, ASM_U2, { return a < b ? a : b; }) \
F(max_u, 2, ASM_U2, { return a < b ? b : a; }) \
F(min_s, 2, ASM_U2, { return (int64_t)a < (int64_t)b ? a : b; }) \
F(max_s, 2, ASM_U2, { return (int64_t)a < (int64_t)b ? b : a; }) \
/* four products of bytes; c, d: are those of a and of b signed? */ \
F(dot4, 4, ASM_U4, { \
  uint64_t r = 0; \
  for (int i = 0; i < 4; i++) { \
    const uint64_t x = a >> (8 * i) & 255; \
    const uint64_t y = b >> (8 * i) & 255; \
    r += (c ? asm_sext(x, 8) : x) * (d ? asm_sext(y, 8) : y); \
  } \
  return r; \
}) \
/* signed a within the range of b bits, c: signed ones */ \
F(clamp, 3, ASM_U3, { \
  const int64_t x = (int64_t)a; \
  const int64_t most = (int64_t)(((uint64_t)1 << (c ? b - 1 : b)) - 1); \
  const int64_t least = c ? -most - 1 : 0; \
  return (uint64_t)(x < least ? least : x > most ? most : x); \
}) \
/* -- doubles and their bits -- */ \
G(bits, uint64_t, (double a), { \
  uint64_t u; \
  __builtin_memcpy(&u, &a, sizeof u); \
  return u; \
}) \
G(number, double, (uint64_t a), { \
  double r; \
  __builtin_memcpy(&r, &a, sizeof r); \
  return r; \
}) \
/* the format b, c: exponent and mantissa bits */ \
F(unpack, 3, ASM_U3, { \
  const int64_t top = (1 << b) - 1; \
  const int64_t e = (int64_t)(a >> c) & top; \
  const int64_t m = (int64_t)(a & (((uint64_t)1 << c) - 1)); \
  const int low = 2 - (1 << (b - 1)) - (int)c; \
  double r; \
  if (e == top) r = m ? __builtin_nan("") : __builtin_inf(); \
  else if (!e) r = __builtin_ldexp((double)m, low); \
  else r = __builtin_ldexp((double)(m + ((int64_t)1 << c)), low + (int)e - 1); \
  return asm_bits(a >> (b + c) & 1 ? -r : r); \
}) \
/* formats without infinities; of 8 bits, all ones are NaN */ \
F(unpack_finite, 3, ASM_U3, { \
  const int64_t top = (1 << b) - 1; \
  const int64_t e = (int64_t)(a >> c) & top; \
  const int64_t m = (int64_t)(a & (((uint64_t)1 << c) - 1)); \
  const int low = 2 - (1 << (b - 1)) - (int)c; \
  double r = e ? __builtin_ldexp((double)(m + ((int64_t)1 << c)), low + (int)e - 1) \
               : __builtin_ldexp((double)m, low); \
  if (b + c == 7 && e == top && m == ((int64_t)1 << c) - 1) r = __builtin_nan(""); \
  return asm_bits(a >> (b + c) & 1 ? -r : r); \
}) \
/* |x| in units of the last place, rounded by mode d */ \
G(round_units, double, (double x, double unit, uint64_t mode, bool negative), { \
  const double q = x / unit; \
  const double down = __builtin_floor(q); \
  if (mode == 1) return down; \
  if (mode == 2 || mode == 3) return negative == (mode == 2) ? __builtin_ceil(q) : down; \
  if (mode == 4) return q - down >= 0.5 ? down + 1 : down; \
  return __builtin_rint(q); \
}) \
G(pack_bits, uint64_t, (double x, uint64_t exponent, uint64_t mantissa, uint64_t mode), { \
  const bool negative = __builtin_signbit(x); \
  const double size = __builtin_fabs(x); \
  const int least = 2 - (1 << (exponent - 1)); \
  int e = size > 0 ? __builtin_ilogb(size) : least; \
  if (e < least) e = least; \
  const double unit = __builtin_ldexp(1.0, e - (int)mantissa); \
  const uint64_t r = (uint64_t)asm_round_units(size, unit, mode, negative); \
  const uint64_t hidden = (uint64_t)1 << mantissa; \
  return r < hidden ? r : ((uint64_t)(e - least + 1) << mantissa) + (r - hidden); \
}) \
F(pack, 4, ASM_U4, { \
  const double x = asm_number(a); \
  const uint64_t sign = (uint64_t)(__builtin_signbit(x) != 0) << (b + c); \
  const uint64_t infinity = (((uint64_t)1 << b) - 1) << c; \
  if (x != x) return infinity | (((uint64_t)1 << c) - 1); \
  if (__builtin_isinf(x)) return sign | infinity; \
  const uint64_t r = asm_pack_bits(x, b, c, d); \
  const bool inwards = d == 1 || d == (sign ? 3 : 2); \
  if (r >= infinity) return sign | (inwards ? infinity - 1 : infinity); \
  return sign | r; \
}) \
/* to nearest even; beyond d, the bits of the largest number, it is that number */ \
F(pack_finite, 4, ASM_U4, { \
  const double x = asm_number(a); \
  const uint64_t sign = (uint64_t)(__builtin_signbit(x) != 0) << (b + c); \
  if (x != x) return b + c == 7 ? 127 : d; \
  if (__builtin_isinf(x)) return sign | d; \
  const uint64_t r = asm_pack_bits(x, b, c, 0); \
  return sign | (r > d ? d : r); \
}) \
F(from_f32, 1, ASM_U1, { \
  const uint32_t u = (uint32_t)a; \
  float r; \
  __builtin_memcpy(&r, &u, sizeof r); \
  return asm_bits(r); \
}) \
F(to_f32, 1, ASM_U1, { \
  const double x = asm_number(a); \
  const float r = (float)x; \
  uint32_t u; \
  __builtin_memcpy(&u, &r, sizeof u); \
  return x != x ? 0x7fffffff : u; \
}) \
F(fma_f32, 3, ASM_U3, { \
  const float x = (float)asm_number(a); \
  const float y = (float)asm_number(b); \
  return asm_bits(__builtin_fmaf(x, y, (float)asm_number(c))); \
}) \
/* b: the mask of the exponent, c: of the sign; denormal numbers are zero */ \
F(flush, 3, ASM_U3, { return a & b ? a : a & c; }) \
F(fadd, 2, ASM_U2, { return asm_bits(asm_number(a) + asm_number(b)); }) \
F(fsub, 2, ASM_U2, { return asm_bits(asm_number(a) - asm_number(b)); }) \
F(fmul, 2, ASM_U2, { return asm_bits(asm_number(a) * asm_number(b)); }) \
F(fdiv, 2, ASM_U2, { return asm_bits(asm_number(a) / asm_number(b)); }) \
F(fma, 3, ASM_U3, { \
  return asm_bits(__builtin_fma(asm_number(a), asm_number(b), asm_number(c))); \
}) \
F(isnan, 1, ASM_U1, { return asm_number(a) != asm_number(a); }) \
F(flt, 2, ASM_U2, { return asm_number(a) < asm_number(b); }) \
F(feq, 2, ASM_U2, { return asm_number(a) == asm_number(b); }) \
/* of a number and a NaN the number; -0 is less than +0 */ \
F(fmin, 2, ASM_U2, { \
  const double x = asm_number(a); \
  const double y = asm_number(b); \
  if (x != x || y != y) return x != x ? b : a; \
  if (x == y) return __builtin_signbit(x) ? a : b; \
  return x < y ? a : b; \
}) \
F(fmax, 2, ASM_U2, { \
  const double x = asm_number(a); \
  const double y = asm_number(b); \
  if (x != x || y != y) return x != x ? b : a; \
  if (x == y) return __builtin_signbit(x) ? b : a; \
  return x < y ? b : a; \
}) \
F(fmin_nan, 2, ASM_U2, { return asm_isnan(a) ? a : asm_isnan(b) ? b : asm_fmin(a, b); }) \
F(fmax_nan, 2, ASM_U2, { return asm_isnan(a) ? a : asm_isnan(b) ? b : asm_fmax(a, b); }) \
F(saturate, 1, ASM_U1, { \
  const double x = asm_number(a); \
  return asm_bits(x > 0 ? x < 1 ? x : 1 : 0); \
}) \
F(relu, 1, ASM_U1, { return asm_number(a) > 0 || asm_isnan(a) ? a : 0; }) \
F(sqrt, 1, ASM_U1, { return asm_bits(__builtin_sqrt(asm_number(a))); }) \
F(rsqrt, 1, ASM_U1, { return asm_bits(1 / __builtin_sqrt(asm_number(a))); }) \
F(rcp, 1, ASM_U1, { return asm_bits(1 / asm_number(a)); }) \
F(exp2, 1, ASM_U1, { return asm_bits(__builtin_exp2(asm_number(a))); }) \
F(log2, 1, ASM_U1, { return asm_bits(__builtin_log2(asm_number(a))); }) \
F(sin, 1, ASM_U1, { return asm_bits(__builtin_sin(asm_number(a))); }) \
F(cos, 1, ASM_U1, { return asm_bits(__builtin_cos(asm_number(a))); }) \
F(tanh, 1, ASM_U1, { return asm_bits(__builtin_tanh(asm_number(a))); }) \
F(integral, 2, ASM_U2, { \
  const double x = asm_number(a); \
  const double r = b == 0   ? __builtin_rint(x) \
                   : b == 1 ? __builtin_trunc(x) \
                   : b == 2 ? __builtin_floor(x) \
                            : __builtin_ceil(x); \
  return asm_bits(__builtin_copysign(r, x)); \
}) \
/* an integral double as an integer of b bits, signed (c); d: what NaN gives */ \
F(to_int, 4, ASM_U4, { \
  const double x = asm_number(a); \
  const double end = __builtin_ldexp(1.0, (int)(c ? b - 1 : b)); \
  const uint64_t most = b == 64 && !c ? ~(uint64_t)0 : ((uint64_t)1 << (c ? b - 1 : b)) - 1; \
  if (x != x) return d; \
  if (x >= end) return most; \
  if (!c) return x > 0 ? (uint64_t)x : 0; \
  return x <= -end ? ~most : (uint64_t)(int64_t)x; \
}) \
/* exact up to 53 bits; of 64 bits rounded */ \
F(from_s, 1, ASM_U1, { return asm_bits((double)(int64_t)a); }) \
F(from_u, 1, ASM_U1, { return asm_bits((double)a); }) \
F(s64_to_f32, 1, ASM_U1, { return asm_bits((float)(int64_t)a); }) \
F(u64_to_f32, 1, ASM_U1, { return asm_bits((float)a); }) \
/* 2^(a - 127), NaN for 255, and back: rounded up (b) or towards zero, saturating */ \
F(from_ue8, 1, ASM_U1, { \
  return asm_bits(a == 255 ? __builtin_nan("") : __builtin_ldexp(1.0, (int)a - 127)); \
}) \
F(to_ue8, 2, ASM_U2, { \
  const double x = asm_number(a); \
  if (x != x) return 255; \
  if (!(x > 0)) return 0; \
  if (__builtin_isinf(x)) return 254; \
  int e = __builtin_ilogb(x); \
  if (b && __builtin_ldexp(1.0, e) < x) e++; \
  e += 127; \
  return (uint64_t)(e < 0 ? 0 : e > 254 ? 254 : e); \
})
/* clang-format on */

#endif
