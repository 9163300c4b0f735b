/* Helpers: floating point.  The functions that a GPU has approximate instructions for are
 * polynomials here; each says how far it may be off. */
#include "codegen/c/c.h"

#define FLOATS "f32 f64"

#define BY_LANE1(name, types)         \
  {                                   \
    "v" name "_$t", types,            \
        "INLINE $V v" name            \
        "_$t($V a) {\n"               \
        "  $V r;\n"                   \
        "  EACH_LANE(i) r[i] = " name \
        "_$t(a[i]);\n"                \
        "  return r;\n"               \
        "}\n"                         \
  }
#define BY_LANE2(name, types)         \
  {                                   \
    "v" name "_$t", types,            \
        "INLINE $V v" name            \
        "_$t($V a, $V b) {\n"         \
        "  $V r;\n"                   \
        "  EACH_LANE(i) r[i] = " name \
        "_$t(a[i], b[i]);\n"          \
        "  return r;\n"               \
        "}\n"                         \
  }
/* The builtin that GCC has for a vector of a register's size, else the same by lane.  A loop over
 * lanes becomes the same instruction, but takes GCC ten times as long. */
#define REGISTER(has256, has128, x512, x256, x128, lane)                       \
  "#if LANES * $b == 512 && defined(__AVX512F__) && !defined(__clang__)\n"     \
  "  return __builtin_ia32_" x512 ";\n"                                        \
  "#elif LANES * $b == 256 && defined(" has256 ") && !defined(__clang__)\n"    \
  "  return __builtin_ia32_" x256 ";\n"                                        \
  "#elif LANES * $b == 128 && defined(" has128 ") && !defined(__clang__)\n"    \
  "  return __builtin_ia32_" x128 ";\n"                                        \
  "#else\n"                                                                    \
  "  $V r;\n"                                                                  \
  "  EACH_LANE(i) r[i] = " lane ";\n"                                          \
  "  return r;\n"                                                              \
  "#endif\n"
/* An instruction, by the C library's name. */
#define BUILTIN(name)                                                                            \
  {name "_$t", "f32", "INLINE float " name "_$t(float x) { return __builtin_" name "f(x); }\n"}, \
      {name "_$t", "f64", "INLINE double " name "_$t(double x) { return __builtin_" name "(x); }\n"}
#define VECTOR_ROUND(name, t, p, how)                                                            \
  {"v" name "_$t", t,                                                                            \
   "INLINE $V v" name "_$t($V x) {\n" REGISTER(                                                  \
       "__AVX__", "__SSE4_1__", "rndscale" p "_mask(x, " how ", x, -1, 4)",                      \
       "round" p "256(x, " how ")", "round" p "(x, " how ")", name "_$t(x[i])") "}\n"}
/* The instruction's number says how: 8 raises no exception. */
#define ROUND(name, how) \
  BUILTIN(name), VECTOR_ROUND(name, "f32", "ps", how), VECTOR_ROUND(name, "f64", "pd", how)
#define VECTOR_SQRT(t, p)                                                            \
  {"vsqrt_$t", t,                                                                    \
   "INLINE $V vsqrt_$t($V x) {\n" REGISTER(                                          \
       "__AVX__", "__SSE2__", "sqrt" p "512_mask(x, x, -1, 4)", "sqrt" p "256(x)",   \
       "sqrt" p "(x)", "sqrt_$t(x[i])") "}\n"}
#define VECTOR_FMA(t, p)                                                                 \
  {"vfma_$t", t,                                                                         \
   "INLINE $V vfma_$t($V a, $V b, $V c) {\n" REGISTER(                                   \
       "__FMA__", "__FMA__", "vfmadd" p "512_mask(a, b, c, -1, 4)",                      \
       "vfmadd" p "256(a, b, c)", "vfmadd" p "(a, b, c)", "fma_$t(a[i], b[i], c[i])") "}\n"}
/* A function of the C library, for f64 alone. */
#define LIBRARY(name)                                                                             \
  {name "_$t", "f64", "INLINE double " name "_$t(double x) { return __builtin_" name "(x); }\n"}, \
      BY_LANE1(name, "f64")

const Helper c_helpers_math[] = {
    /* ---- bits ---- */
    {"bits_f32", NULL,
     "INLINE uint32_t bits_f32(float x) {\n"
     "  uint32_t u;\n"
     "  memcpy(&u, &x, sizeof u);\n"
     "  return u;\n"
     "}\n"},
    {"bits_f64", NULL,
     "INLINE uint64_t bits_f64(double x) {\n"
     "  uint64_t u;\n"
     "  memcpy(&u, &x, sizeof u);\n"
     "  return u;\n"
     "}\n"},
    {"from_bits_f32", NULL,
     "INLINE float from_bits_f32(uint32_t u) {\n"
     "  float x;\n"
     "  memcpy(&x, &u, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"from_bits_f64", NULL,
     "INLINE double from_bits_f64(uint64_t u) {\n"
     "  double x;\n"
     "  memcpy(&x, &u, sizeof x);\n"
     "  return x;\n"
     "}\n"},

    /* ---- exact ---- */
    BUILTIN("sqrt"),
    VECTOR_SQRT("f32", "ps"),
    VECTOR_SQRT("f64", "pd"),
    ROUND("floor", "9"),
    ROUND("ceil", "10"),
    ROUND("trunc", "11"),
    ROUND("rint", "8"),
    {"abs_$t", "f32", "INLINE float abs_$t(float x) { return __builtin_fabsf(x); }\n"},
    {"abs_$t", "f64", "INLINE double abs_$t(double x) { return __builtin_fabs(x); }\n"},
    {"vabs_$t", "f32", "INLINE vf32 vabs_$t(vf32 x) { return (vf32)((vi32)x & 0x7fffffff); }\n"},
    {"vabs_$t", "f64",
     "INLINE vf64 vabs_$t(vf64 x) { return (vf64)((vi64)x & INT64_MAX); }\n"},
    {"rem_$t", "f32", "INLINE float rem_$t(float a, float b) { return __builtin_fmodf(a, b); }\n"},
    {"rem_$t", "f64",
     "INLINE double rem_$t(double a, double b) { return __builtin_fmod(a, b); }\n"},
    BY_LANE2("rem", FLOATS),
    {"fma_$t", "f32",
     "INLINE float fma_$t(float a, float b, float c) { return __builtin_fmaf(a, b, c); }\n"},
    {"fma_$t", "f64",
     "INLINE double fma_$t(double a, double b, double c) { return __builtin_fma(a, b, c); }\n"},
    VECTOR_FMA("f32", "ps"),
    VECTOR_FMA("f64", "pd"),
    {"vmadd_f32", NULL,
     "/* a * b + c, rounded once where that is quicker. */\n"
     "INLINE vf32 vmadd_f32(vf32 a, vf32 b, vf32 c) {\n"
     "#if defined(__FMA__) || defined(__aarch64__)\n"
     "  return vfma_f32(a, b, c);\n"
     "#else\n"
     "  return a * b + c;\n"
     "#endif\n"
     "}\n"},

    /* ---- minimum and maximum: the number if one is NaN, and -0 below +0 ---- */
    {"min_$t", FLOATS,
     "INLINE $T min_$t($T a, $T b) {\n"
     "  if (a != a) return b;\n"
     "  if (a == b) return __builtin_signbit(a) ? a : b;\n"
     "  return a < b || b != b ? a : b;\n"
     "}\n"},
    {"max_$t", FLOATS,
     "INLINE $T max_$t($T a, $T b) {\n"
     "  if (a != a) return b;\n"
     "  if (a == b) return __builtin_signbit(a) ? b : a;\n"
     "  return a > b || b != b ? a : b;\n"
     "}\n"},
    {"vlower_f32", NULL,
     "/* b unless a is less */\n"
     "INLINE vf32 vlower_f32(vf32 a, vf32 b) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return __builtin_ia32_minps512_mask(a, b, a, -1, 4);\n"
     "#elif LANES == 8 && defined(__AVX2__)\n"
     "  return __builtin_ia32_minps256(a, b);\n"
     "#elif LANES == 4 && defined(__SSE2__)\n"
     "  return __builtin_ia32_minps(a, b);\n"
     "#else\n"
     "  return vselect_f32(a < b, a, b);\n"
     "#endif\n"
     "}\n"},
    {"vhigher_f32", NULL,
     "/* b unless a is more */\n"
     "INLINE vf32 vhigher_f32(vf32 a, vf32 b) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return __builtin_ia32_maxps512_mask(a, b, a, -1, 4);\n"
     "#elif LANES == 8 && defined(__AVX2__)\n"
     "  return __builtin_ia32_maxps256(a, b);\n"
     "#elif LANES == 4 && defined(__SSE2__)\n"
     "  return __builtin_ia32_maxps(a, b);\n"
     "#else\n"
     "  return vselect_f32(a > b, a, b);\n"
     "#endif\n"
     "}\n"},
    {"vmin_$t", "f32",
     "INLINE vf32 vmin_$t(vf32 a, vf32 b) {\n"
     "  vf32 r = vselect_f32(a < b, a, b);\n"
     "  r = (vf32)((vi32)r | ((vi32)a & (a == b)));\n"
     "  return vselect_f32(b != b, a, r);\n"
     "}\n"},
    {"vmax_$t", "f32",
     "INLINE vf32 vmax_$t(vf32 a, vf32 b) {\n"
     "  vf32 r = vselect_f32(a > b, a, b);\n"
     "  r = (vf32)((vi32)r & ((vi32)a | (a != b)));\n"
     "  return vselect_f32(b != b, a, r);\n"
     "}\n"},
    {"vmin_$t", "f64",
     "INLINE vf64 vmin_$t(vf64 a, vf64 b) {\n"
     "#if LANES * 64 <= REGISTER_BITS\n"
     "  vf64 r = vpick_f64(a < b, a, b);\n"
     "  r = (vf64)((vi64)r | ((vi64)a & (a == b)));\n"
     "  return vpick_f64(b != b, a, r);\n"
     "#else\n"
     "  vf64 r;\n"
     "  EACH_LANE(i) r[i] = min_f64(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vmax_$t", "f64",
     "INLINE vf64 vmax_$t(vf64 a, vf64 b) {\n"
     "#if LANES * 64 <= REGISTER_BITS\n"
     "  vf64 r = vpick_f64(a > b, a, b);\n"
     "  r = (vf64)((vi64)r & ((vi64)a | (a != b)));\n"
     "  return vpick_f64(b != b, a, r);\n"
     "#else\n"
     "  vf64 r;\n"
     "  EACH_LANE(i) r[i] = max_f64(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vmin_nan_$t", FLOATS,
     "INLINE $V vmin_nan_$t($V a, $V b) {\n"
     "  return vselect_$t(vne_$t(a, a) | vne_$t(b, b), a + b, vmin_$t(a, b));\n"
     "}\n"},
    {"vmax_nan_$t", FLOATS,
     "INLINE $V vmax_nan_$t($V a, $V b) {\n"
     "  return vselect_$t(vne_$t(a, a) | vne_$t(b, b), a + b, vmax_$t(a, b));\n"
     "}\n"},

    /* ---- approximate ---- */
    {"vexp2_$t", "f32",
     "/* 2^x, 1 ulp: 2^n * p(f), where x = n + f.  Near 0, where most x are, 2^n is added to p's\n"
     "   exponent; else it is multiplied in two steps, since it may be no normal number. */\n"
     "INLINE vf32 vexp2_$t(vf32 x) {\n"
     "  const bool far = vany(((vi32)x & 0x7fffffff) > 0x42f80000);\n"
     "  if (far) {\n"
     "    x = vselect_f32(x > 129.0f, vsplat_f32(129.0f), x);\n"
     "    x = vselect_f32(x < -151.0f, vsplat_f32(-151.0f), x);\n"
     "  }\n"
     "  const vf32 shifted = x + 12582912.0f;\n"
     "  const vf32 f = x - (shifted - 12582912.0f);\n"
     "  vf32 p = vsplat_f32(1.53533619e-04f);\n"
     "  p = vmadd_f32(p, f, vsplat_f32(1.33988744e-03f));\n"
     "  p = vmadd_f32(p, f, vsplat_f32(9.61843736e-03f));\n"
     "  p = vmadd_f32(p, f, vsplat_f32(5.55033247e-02f));\n"
     "  p = vmadd_f32(p, f, vsplat_f32(2.40226479e-01f));\n"
     "  p = vmadd_f32(p, f, vsplat_f32(6.93147203e-01f));\n"
     "  p = vmadd_f32(p, f, vsplat_f32(1.0f));\n"
     "  if (!far) return (vf32)((vi32)p + ((vi32)shifted << 23));\n"
     "  const vi32 n = (vi32)shifted - 0x4b400000, half = n >> 1;\n"
     "  return p * (vf32)((half + 127) << 23) * (vf32)((n - half + 127) << 23);\n"
     "}\n"},
    {"vlog2_$t", "f32",
     "/* Base-2 logarithm, 2 ulp.  x = 2^n * m, m from sqrt(1/2) to sqrt(2). */\n"
     "INLINE vf32 vlog2_$t(vf32 x) {\n"
     "  const vi32 tiny = x < 0x1p-126f;\n"
     "  const vi32 u = (vi32)vselect_f32(tiny, x * 0x1p23f, x);\n"
     "  const vi32 n = (u - 0x3f3504f3) >> 23;\n"
     "  const vf32 t = (vf32)(u - (n << 23)) - 1.0f;\n"
     "  vf32 p = vsplat_f32(-0.10994949f);\n"
     "  p = vmadd_f32(p, t, vsplat_f32(0.18617493f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(-0.19106276f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(0.20460063f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(-0.2396174f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(0.28856741f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(-0.36069665f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(0.48089824f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(-0.72134735f));\n"
     "  p = vmadd_f32(p, t, vsplat_f32(1.44269504f));\n"
     "  vf32 r = vmadd_f32(p, t, vto_f32(n + (tiny & -23)));\n"
     "  r = vselect_f32(x > 0.0f, r, vsplat_f32(__builtin_nanf(\"\")));\n"
     "  r = vselect_f32(x == 0.0f, vsplat_f32(-__builtin_inff()), r);\n"
     "  return vselect_f32(x == __builtin_inff(), x, r);\n"
     "}\n"},
    {"vsin_reduced", NULL,
     "/* sin(r) for |r| <= pi/2, with the sign of bit 0 of n. */\n"
     "INLINE vf32 vsin_reduced(vf32 r, vi32 n) {\n"
     "  const vf32 u = r * r;\n"
     "  vf32 p = vsplat_f32(-2.39091446e-08f);\n"
     "  p = vmadd_f32(p, u, vsplat_f32(2.75266148e-06f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(-1.98408941e-04f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(8.33333132e-03f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(-1.66666666e-01f));\n"
     "  p = vmadd_f32(p, u * r, r);\n"
     "  return (vf32)((vi32)p ^ (n << 31));\n"
     "}\n"},
    {"vsin_$t", "f32",
     "/* Absolute error 2^-22 for |x| <= pi; r = x - n * pi, pi in two parts. */\n"
     "INLINE vf32 vsin_$t(vf32 x) {\n"
     "  const vf32 shifted = vmadd_f32(x, vsplat_f32(0.318309886f), vsplat_f32(12582912.0f));\n"
     "  const vf32 q = shifted - 12582912.0f;\n"
     "  vf32 r = vmadd_f32(q, vsplat_f32(-3.14159274f), x);\n"
     "  r = vmadd_f32(q, vsplat_f32(8.74227766e-08f), r);\n"
     "  return vsin_reduced(r, (vi32)shifted);\n"
     "}\n"},
    {"vcos_$t", "f32",
     "/* Absolute error 2^-22 for |x| <= pi; r = x - (n + 1/2) * pi. */\n"
     "INLINE vf32 vcos_$t(vf32 x) {\n"
     "  const vf32 shifted = vmadd_f32(x, vsplat_f32(0.318309886f), vsplat_f32(-0.5f)) + "
     "12582912.0f;\n"
     "  const vf32 q = shifted - 12582912.0f + 0.5f;\n"
     "  vf32 r = vmadd_f32(q, vsplat_f32(-3.14159274f), x);\n"
     "  r = vmadd_f32(q, vsplat_f32(8.74227766e-08f), r);\n"
     "  return vsin_reduced(r, (vi32)shifted + 1);\n"
     "}\n"},
    {"vtanh_$t", "f32",
     "/* A rational function, relative error 2^-20; past 7.9 the result is 1. */\n"
     "INLINE vf32 vtanh_$t(vf32 a) {\n"
     "  vf32 x = vselect_f32(a > 7.90531110763549805f, vsplat_f32(7.90531110763549805f), a);\n"
     "  x = vselect_f32(x < -7.90531110763549805f, vsplat_f32(-7.90531110763549805f), x);\n"
     "  const vf32 u = x * x;\n"
     "  vf32 p = vsplat_f32(-2.76076847742355e-16f);\n"
     "  p = vmadd_f32(p, u, vsplat_f32(2.00018790482477e-13f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(-8.60467152213735e-11f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(5.12229709037114e-08f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(1.48572235717979e-05f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(6.37261928875436e-04f));\n"
     "  p = vmadd_f32(p, u, vsplat_f32(4.89352455891786e-03f));\n"
     "  vf32 q = vsplat_f32(1.19825839466702e-06f);\n"
     "  q = vmadd_f32(q, u, vsplat_f32(1.18534705686654e-04f));\n"
     "  q = vmadd_f32(q, u, vsplat_f32(2.26843463243900e-03f));\n"
     "  q = vmadd_f32(q, u, vsplat_f32(4.89352518554385e-03f));\n"
     "  return vselect_f32(vabs_f32(a) < 0.0004f, a, x * p / q);\n"
     "}\n"},
    LIBRARY("exp2"),
    LIBRARY("log2"),
    LIBRARY("sin"),
    LIBRARY("cos"),
    LIBRARY("tanh"),

    /* ---- narrow formats: values are floats on the format's grid ---- */
    {"round_$t", "bf16 f16",
     "INLINE float round_$t(float x) { return vround_$t(vsplat_f32(x))[0]; }\n"},
    {"encode_$t", "bf16 f16",
     "INLINE uint16_t encode_$t(float x) { return vencode_$t(vsplat_f32(x))[0]; }\n"},
    {"decode_$t", "f16",
     "INLINE float decode_$t(uint16_t x) { return vdecode_$t(vsplat_u16(x))[0]; }\n"},
    {"decode_$t", "bf16",
     "INLINE float decode_$t(uint16_t x) { return from_bits_f32((uint32_t)x << 16); }\n"},
    {"vround_$t", "bf16",
     "/* To nearest, ties to even; a NaN stays one. */\n"
     "INLINE vf32 vround_$t(vf32 x) {\n"
     "  const vu32 u = (vu32)x, even = u + 0x7fff + (u >> 16 & 1);\n"
     "  const vf32 r = vselect_f32(x == x, (vf32)even, (vf32)(u | 0x400000));\n"
     "  return (vf32)((vu32)r & 0xffff0000);\n"
     "}\n"},
    {"vencode_$t", "bf16",
     "INLINE vu16 vencode_$t(vf32 x) { return vto_u16_u32((vu32)x >> 16); }\n"},
    {"vdecode_$t", "bf16",
     "INLINE vf32 vdecode_$t(vu16 x) {\n"
     "#if WIDENED\n"
     "  return (vf32)(vto_u32_u16(x) << 16);\n"
     "#else\n"
     "  return (vf32)UPPER(x);\n"
     "#endif\n"
     "}\n"},
    {"vround_$t", "f16",
     "/* To nearest, ties to even.  Adding 0.75 rounds to multiples of 2^-24. */\n"
     "INLINE vf32 vround_$t(vf32 x) {\n"
     "#if (LANES == 8 && defined(__F16C__)) || (LANES == 16 && defined(__AVX512F__))\n"
     "  return vdecode_$t(vencode_$t(x));\n"
     "#else\n"
     "  const vu32 u = (vu32)x, sign = u & 0x80000000, size = u & 0x7fffffff;\n"
     "  const vf32 tiny = ((vf32)size + 0.75f) - 0.75f;\n"
     "  vu32 even = (size + 0xfff + (size >> 13 & 1)) & 0xffffe000;\n"
     "  even = (vu32)vselect_u32(even >= 0x47800000, vsplat_u32(0x7f800000), even);\n"
     "  even = (vu32)vselect_u32(size < 0x38800000, (vu32)tiny, even);\n"
     "  return vselect_f32(x == x, (vf32)(even | sign), x);\n"
     "#endif\n"
     "}\n"},
    {"vencode_$t", "f16",
     "INLINE vu16 vencode_$t(vf32 x) {\n"
     "#if LANES == 8 && defined(__F16C__)\n"
     "  return (vu16)__builtin_ia32_vcvtps2ph256(x, 0);\n"
     "#elif LANES == 16 && defined(__AVX512F__)\n"
     "  return (vu16)__builtin_ia32_vcvtps2ph512_mask(x, 0, (vi16){0}, -1);\n"
     "#else\n"
     "  const vu32 u = (vu32)x, size = u & 0x7fffffff;\n"
     "  vu32 r = (size - 0x38000000) >> 13;\n"
     "  const vu32 tiny = (vu32)vto_i32((vf32)size * 0x1p24f);\n"
     "  r = vselect_u32(size < 0x38800000, tiny, r);\n"
     "  r = vselect_u32(size >= 0x7f800000, 0x7c00 | (size >> 13 & 0x3ff), r);\n"
     "  r = vselect_u32(size > 0x7f800000, r | 0x200, r);\n"
     "  return vto_u16_u32(r | (u >> 16 & 0x8000));\n"
     "#endif\n"
     "}\n"},
    {"vdecode_$t", "f16",
     "INLINE vf32 vdecode_$t(vu16 x) {\n"
     "#if LANES == 8 && defined(__F16C__)\n"
     "  return __builtin_ia32_vcvtph2ps256((vi16)x);\n"
     "#elif LANES == 16 && defined(__AVX512F__)\n"
     "  return __builtin_ia32_vcvtph2ps512_mask((vi16)x, (vf32){0}, -1, 4);\n"
     "#else\n"
     "  const vu32 u = vto_u32_u16(x), size = u & 0x7fff;\n"
     "  vu32 r = (vu32)((vf32)(size << 13) * 0x1p112f);\n"
     "  r = vselect_u32(size >= 0x7c00, size << 13 | 0x7f800000, r);\n"
     "  return (vf32)(r | (u & 0x8000) << 16);\n"
     "#endif\n"
     "}\n"},
    {"unit_of", NULL,
     "/* The last place of x in a format of `bits` explicit bits, normal from 2^low on. */\n"
     "INLINE float unit_of(float x, int bits, int low) {\n"
     "  const int e = (int)(bits_f32(x) >> 23 & 255) - 127;\n"
     "  return from_bits_f32((uint32_t)((e < low ? low : e) - bits + 127) << 23);\n"
     "}\n"},
    {"nearest_unit", NULL,
     "/* To nearest, ties to even; past `max`, also infinity, it is max. */\n"
     "INLINE float nearest_unit(float x, int bits, int low, float max) {\n"
     "  const float size = __builtin_fabsf(x);\n"
     "  if (size > 2 * max) return __builtin_copysignf(max, x);\n"
     "  const float r = __builtin_rintf(size / unit_of(x, bits, low)) * unit_of(x, bits, low);\n"
     "  return __builtin_copysignf(r > max ? max : r, x);\n"
     "}\n"},
    {"lower_unit", NULL,
     "/* Towards zero; past `max` it is max. */\n"
     "INLINE float lower_unit(float x, int bits, int low, float max) {\n"
     "  const float size = __builtin_fabsf(x);\n"
     "  if (size > max) return __builtin_copysignf(max, x);\n"
     "  const float r = __builtin_truncf(size / unit_of(x, bits, low)) * unit_of(x, bits, low);\n"
     "  return __builtin_copysignf(r, x);\n"
     "}\n"},
    {"round_$t", "f8e5",
     "INLINE float round_$t(float x) { return nearest_unit(x, 2, -14, 57344.0f); }\n"},
    {"round_$t", "f8e4nv",
     "INLINE float round_$t(float x) { return nearest_unit(x, 3, -6, 448.0f); }\n"},
    {"round_$t", "f8e4b15",
     "/* By way of f16, then ties away from zero. */\n"
     "INLINE float round_$t(float x) {\n"
     "  const float size = __builtin_fabsf(round_f16(x));\n"
     "  if (x != x) return 1.75f;\n"
     "  if (size >= 1.75f) return __builtin_copysignf(1.75f, x);\n"
     "  const float unit = unit_of(size, 3, -14);\n"
     "  return __builtin_copysignf(__builtin_floorf(size / unit + 0.5f) * unit, x);\n"
     "}\n"},
    BY_LANE1("round", "f8e5 f8e4nv f8e4b15"),
    {"encode_$t", "f8e5", "INLINE uint8_t encode_$t(float x) { return encode_f16(x) >> 8; }\n"},
    {"encode_$t", "f8e4nv",
     "INLINE uint8_t encode_$t(float x) {\n"
     "  const uint32_t u = bits_f32(x), size = u & 0x7fffffff, sign = u >> 24 & 0x80;\n"
     "  if (x != x) return sign | 0x7f;\n"
     "  if (size < 0x3c800000) return sign | (uint32_t)(__builtin_fabsf(x) * 0x1p9f);\n"
     "  return sign | ((size >> 20) - (120 << 3));\n"
     "}\n"},
    {"encode_$t", "f8e4b15",
     "INLINE uint8_t encode_$t(float x) {\n"
     "  const uint32_t u = bits_f32(x), size = u & 0x7fffffff, sign = u >> 24 & 0x80;\n"
     "  if (size < 0x38800000) return sign | (uint32_t)(__builtin_fabsf(x) * 0x1p17f);\n"
     "  return sign | ((size >> 20) - (112 << 3));\n"
     "}\n"},
    {"decode_$t", "f8e5",
     "INLINE float decode_$t(uint8_t x) { return decode_f16((uint16_t)(x << 8)); }\n"},
    {"decode_$t", "f8e4nv",
     "INLINE float decode_$t(uint8_t x) {\n"
     "  const uint32_t size = x & 0x7f;\n"
     "  const float r = size == 0x7f ? __builtin_nanf(\"\") : from_bits_f32(size << 20) * "
     "0x1p120f;\n"
     "  return x & 0x80 ? -r : r;\n"
     "}\n"},
    {"decode_$t", "f8e4b15",
     "INLINE float decode_$t(uint8_t x) {\n"
     "  const float r = from_bits_f32((uint32_t)(x & 0x7f) << 20) * 0x1p112f;\n"
     "  return x & 0x80 ? -r : r;\n"
     "}\n"},
    {"vencode_$t", "f8e5 f8e4nv f8e4b15",
     "INLINE vu8 vencode_$t(vf32 x) {\n"
     "  vu8 r;\n"
     "  EACH_LANE(i) r[i] = encode_$t(x[i]);\n"
     "  return r;\n"
     "}\n"},
    {"vdecode_$t", "f8e5",
     "INLINE vf32 vdecode_$t(vu8 x) { return vdecode_f16(vto_u16_u8(x) << 8); }\n"},
    {"vdecode_$t", "f8e4nv",
     "INLINE vf32 vdecode_$t(vu8 x) {\n"
     "  const vu32 u = vto_u32_u8(x), size = u & 0x7f;\n"
     "  vf32 r = (vf32)(size << 20) * 0x1p120f;\n"
     "  r = vselect_f32(size == 0x7f, vsplat_f32(__builtin_nanf(\"\")), r);\n"
     "  return (vf32)((vu32)r | (u & 0x80) << 24);\n"
     "}\n"},
    {"vdecode_$t", "f8e4b15",
     "INLINE vf32 vdecode_$t(vu8 x) {\n"
     "  const vu32 u = vto_u32_u8(x);\n"
     "  const vf32 r = (vf32)((u & 0x7f) << 20) * 0x1p112f;\n"
     "  return (vf32)((vu32)r | (u & 0x80) << 24);\n"
     "}\n"},

    /* ---- other roundings ---- */
    {"chop_f32", NULL,
     "/* Towards zero. */\n"
     "INLINE float chop_f32(double x) {\n"
     "  const float r = (float)x;\n"
     "  return __builtin_fabs(r) > __builtin_fabs(x) ? from_bits_f32(bits_f32(r) - 1) : r;\n"
     "}\n"},
    {"odd_f32", NULL,
     "/* Towards zero, with the lowest bit set if bits were lost: rounding that to a narrow "
     "format\n"
     " * is as good as rounding x. */\n"
     "INLINE float odd_f32(double x) {\n"
     "  const float r = chop_f32(x);\n"
     "  return r == x || x != x ? r : from_bits_f32(bits_f32(r) | 1);\n"
     "}\n"},
    {"odd_f32_$t", "i32 i64 u32 u64",
     "/* The same of an integer. */\n"
     "INLINE float odd_f32_$t($T x) {\n"
     "  const bool negative = x < 0;\n"
     "  const uint64_t size = negative ? 0 - (uint64_t)x : (uint64_t)x;\n"
     "  const int cut = size >> 24 ? 40 - __builtin_clzll(size) : 0;\n"
     "  const uint64_t lost = size & ((UINT64_C(1) << cut) - 1);\n"
     "  const float r = (float)(size >> cut | (lost != 0)) * (float)(UINT64_C(1) << cut);\n"
     "  return negative ? -r : r;\n"
     "}\n"},
    {"chop_$t", "bf16",
     "INLINE float chop_$t(float x) {\n"
     "  return from_bits_f32((bits_f32(x) | (x != x ? 0x400000 : 0)) & 0xffff0000);\n"
     "}\n"},
    {"chop_$t", "f16",
     "INLINE float chop_$t(float x) {\n"
     "  return x - x != 0 ? x : lower_unit(x, 10, -14, 65504.0f);\n"
     "}\n"},
    {"chop_$t", "f8e5",
     "INLINE float chop_$t(float x) { return x != x ? x : lower_unit(x, 2, -14, 57344.0f); }\n"},
    {"chop_$t", "f8e4nv",
     "INLINE float chop_$t(float x) { return x != x ? x : lower_unit(x, 3, -6, 448.0f); }\n"},
    {"chop_$t", "f8e4b15",
     "INLINE float chop_$t(float x) { return x != x ? 1.75f : lower_unit(x, 3, -14, 1.75f); }\n"},
    BY_LANE1("chop", "bf16 f16 f8e5 f8e4nv f8e4b15"),
    {"vchop_f32", NULL,
     "INLINE vf32 vchop_f32(vf64 x) {\n"
     "  vf32 r;\n"
     "  EACH_LANE(i) r[i] = chop_f32(x[i]);\n"
     "  return r;\n"
     "}\n"},
    {"vodd_f32", NULL,
     "INLINE vf32 vodd_f32(vf64 x) {\n"
     "  vf32 r;\n"
     "  EACH_LANE(i) r[i] = odd_f32(x[i]);\n"
     "  return r;\n"
     "}\n"},
    {"vodd_f32_$t", "i32 i64 u32 u64",
     "INLINE vf32 vodd_f32_$t($V x) {\n"
     "  vf32 r;\n"
     "  EACH_LANE(i) r[i] = odd_f32_$t(x[i]);\n"
     "  return r;\n"
     "}\n"},
    {0},
};
