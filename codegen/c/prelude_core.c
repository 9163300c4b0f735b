/* Helpers: lanes, integers, selection, comparison, conversion.  They are C text, see Helper. Loops
 * over lanes that do the same to each become vector instructions in gcc and clang.  Vectorization
 * of a loop takes gcc 3 ms, so operations that kernels contain by the hundred use operators on
 * vectors. */
#include "codegen/c/c.h"

#define INTS "i8 i16 i32 i64 u8 u16 u32 u64"
#define SIGNED "i8 i16 i32 i64"
#define UNSIGNED "u8 u16 u32 u64"
#define AS_MASKS "i32 u32 f32" /* lanes have the bits of masks */
#define SHORT "i8 i16 u8 u16"
#define LONG "i64 u64 f64"
#define OTHERS SHORT " " LONG
#define WORDS "i32 i64 u32 u64"
#define NUMBERS INTS " f32 f64"

const Helper c_helpers_core[] = {
    /* ---- of the C library, without its headers, which define macros ---- */
    {"memcpy", NULL, "void *memcpy(void *, const void *, size_t);\n"},
    {"aligned_alloc", NULL, "void *aligned_alloc(size_t, size_t);\n"},
    {"free", NULL, "void free(void *);\n"},
    {"abort", NULL, "void abort(void);\n"},

    /* ---- lanes ---- */
    {"vsplat_$t", LONG,
     "/* GCC makes a vector of two registers element by element, in memory, in each turn. */\n"
     "INLINE $V vsplat_$t($T x) {\n"
     "#if LANES * $b == 2 * REGISTER_BITS && !defined(__clang__)\n"
     "  typedef $T half __attribute__((vector_size(LANES / 2 * sizeof($T))));\n"
     "  const half halves[2] = {x - (half){0}, x - (half){0}};\n"
     "  $V v;\n"
     "  __builtin_memcpy(&v, halves, sizeof v);\n"
     "  return v;\n"
     "#else\n"
     "  return ($V){REPEAT(x)};\n"
     "#endif\n"
     "}\n"},
    {"vsplat_$t", NUMBERS, "INLINE $V vsplat_$t($T x) { return ($V){REPEAT(x)}; }\n"},
    {"vramp_$t", SHORT,
     "/* x, x + step, ... */\n"
     "INLINE $V vramp_$t($T x, $T step) {\n"
     "  $V v;\n"
     "  EACH_LANE(i) v[i] = x + i * step;\n"
     "  return v;\n"
     "}\n"},
    {"vramp_$t", WORDS,
     "/* x, x + step, ... */\n"
     "INLINE $V vramp_$t($T x, $T step) { return x + ($V){FIRST_LANES} * step; }\n"},
    {"globaltimer_ns", NULL,
     "/* ns of the clock CLOCK_MONOTONIC.  Its name is no header's: kernels may have such. */\n"
     "extern int globaltimer_read(int clock, int64_t out[2]) __asm__(\"clock_gettime\");\n"
     "RARE int64_t globaltimer_ns(void) {\n"
     "  int64_t t[2];\n"
     "  return globaltimer_read(1, t) ? 0 : t[0] * 1000000000 + t[1];\n"
     "}\n"},
    {"vfirst", NULL,
     "/* The mask of the first n lanes. */\n"
     "INLINE vi32 vfirst(int n) { return vramp_i32(0, 1) < vsplat_i32(n); }\n"},
    {"lanes_below", NULL,
     "/* In how many of the first lanes does x + lane < n hold? */\n"
     "INLINE int lanes_below(int64_t x, int64_t n) {\n"
     "  return n <= x ? 0 : n - x < LANES ? (int)(n - x) : LANES;\n"
     "}\n"},
    {"lanes_below_or_at", NULL,
     "/* In how many of the first lanes does x + lane <= n hold? */\n"
     "INLINE int lanes_below_or_at(int64_t x, int64_t n) {\n"
     "  return n < x ? 0 : n - x < LANES - 1 ? (int)(n - x) + 1 : LANES;\n"
     "}\n"},
    {"lanes_on", NULL,
     "/* A mask's lanes as bits. */\n"
     "INLINE uint64_t lanes_on(vi32 m) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return (uint16_t)__builtin_ia32_ptestmd512(m, m, -1);\n"
     "#elif LANES == 8 && defined(__AVX__)\n"
     "  return (uint8_t)__builtin_ia32_movmskps256((vf32)m);\n"
     "#else\n"
     "  uint64_t r = 0;\n"
     "  EACH_LANE(i) r |= (uint64_t)(m[i] & 1) << i;\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vall", NULL,
     "INLINE bool vall(vi32 m) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return (uint16_t)__builtin_ia32_ptestmd512(m, m, -1) == 65535;\n"
     "#elif LANES == 8 && defined(__AVX__)\n"
     "  return __builtin_ia32_movmskps256((vf32)m) == 255;\n"
     "#else\n"
     "  int32_t r = -1;\n"
     "  EACH_LANE(i) r &= m[i];\n"
     "  return r != 0;\n"
     "#endif\n"
     "}\n"},
    {"vany", NULL,
     "INLINE bool vany(vi32 m) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return (uint16_t)__builtin_ia32_ptestmd512(m, m, -1) != 0;\n"
     "#elif LANES == 8 && defined(__AVX__)\n"
     "  return __builtin_ia32_movmskps256((vf32)m) != 0;\n"
     "#else\n"
     "  int32_t r = 0;\n"
     "  EACH_LANE(i) r |= m[i];\n"
     "  return r != 0;\n"
     "#endif\n"
     "}\n"},
    {"vlane_$t", NUMBERS, "INLINE $T vlane_$t($V v, int lane) { return v[lane & (LANES - 1)]; }\n"},
    {"vshuffle_$t", NUMBERS,
     "INLINE $V vshuffle_$t($V v, vi32 lane) {\n"
     "#ifndef __clang__ /* it takes lanes' numbers modulo the lanes */\n"
     "  return __builtin_shuffle(v, __builtin_convertvector(lane, vi$b));\n"
     "#else\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = v[lane[i] & (LANES - 1)];\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vselect_$t", AS_MASKS,
     "INLINE $V vselect_$t(vi32 m, $V a, $V b) {\n"
     "  return ($V)(((vi32)a & m) | ((vi32)b & ~m));\n"
     "}\n"},
    {"vselect_$t", SHORT,
     "INLINE $V vselect_$t(vi32 m, $V a, $V b) { return vpick_$t(vto_i$b_i32(m), a, b); }\n"},
    {"vpick_$t", OTHERS,
     "/* By a mask of as many bits. */\n"
     "INLINE $V vpick_$t(vi$b m, $V a, $V b) {\n"
     "  return ($V)(((vi$b)a & m) | ((vi$b)b & ~m));\n"
     "}\n"},
    {"vselect_$t", LONG,
     "INLINE $V vselect_$t(vi32 m, $V a, $V b) {\n"
     "#if LANES * $b <= REGISTER_BITS\n"
     "  return vpick_$t(__builtin_convertvector(m, vi$b), a, b);\n"
     "#else\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = m[i] ? a[i] : b[i];\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"trips_$t", SIGNED,
     "/* How often a loop runs; down if the step is negative. */\n"
     "INLINE uint64_t trips_$t(int64_t lo, int64_t hi, int64_t step) {\n"
     "  if (step > 0) return lo < hi ? ((uint64_t)hi - lo - 1) / step + 1 : 0;\n"
     "  if (step < 0) return lo > hi ? ((uint64_t)lo - hi - 1) / (0 - (uint64_t)step) + 1 : 0;\n"
     "  return 0;\n"
     "}\n"},
    {"trips_$t", UNSIGNED,
     "/* How often a loop runs. */\n"
     "INLINE uint64_t trips_$t(uint64_t lo, uint64_t hi, uint64_t step) {\n"
     "  return step && lo < hi ? (hi - lo - 1) / step + 1 : 0;\n"
     "}\n"},

    /* ---- integers ---- */
    {"div_$t", SIGNED,
     "INLINE $T div_$t($T a, $T b) {\n"
     "  return b == 0 ? -1 : b == -1 ? ($T)(0 - (uint64_t)a) : a / b;\n"
     "}\n"},
    {"div_$t", UNSIGNED, "INLINE $T div_$t($T a, $T b) { return b == 0 ? ($T)-1 : a / b; }\n"},
    {"rem_$t", SIGNED,
     "INLINE $T rem_$t($T a, $T b) { return b == 0 ? a : b == -1 ? 0 : a % b; }\n"},
    {"rem_$t", UNSIGNED, "INLINE $T rem_$t($T a, $T b) { return b == 0 ? a : a % b; }\n"},
    {"mulhi_$t", "i8 i16 i32", "INLINE $T mulhi_$t($T a, $T b) { return (int64_t)a * b >> $b; }\n"},
    {"mulhi_$t", "u8 u16 u32",
     "INLINE $T mulhi_$t($T a, $T b) { return (uint64_t)a * b >> $b; }\n"},
    {"mulhi_$t", "i64", "INLINE $T mulhi_$t($T a, $T b) { return (__int128)a * b >> 64; }\n"},
    {"mulhi_$t", "u64",
     "INLINE $T mulhi_$t($T a, $T b) { return (unsigned __int128)a * b >> 64; }\n"},
    {"shl_$t", INTS,
     "INLINE $T shl_$t($T a, $T b) { return (uint64_t)b < $b ? (uint64_t)a << b : 0; }\n"},
    {"shr_$t", SIGNED,
     "INLINE $T shr_$t($T a, $T b) { return a >> ((uint64_t)b < $b ? b : $b - 1); }\n"},
    {"shr_$t", UNSIGNED, "INLINE $T shr_$t($T a, $T b) { return b < $b ? a >> b : 0; }\n"},
    {"abs_$t", SIGNED, "INLINE $T abs_$t($T a) { return a < 0 ? ($T)(0 - (uint64_t)a) : a; }\n"},
    {"min_$t", INTS, "INLINE $T min_$t($T a, $T b) { return a < b ? a : b; }\n"},
    {"max_$t", INTS, "INLINE $T max_$t($T a, $T b) { return a > b ? a : b; }\n"},
    {"popc_$t", INTS,
     "INLINE $T popc_$t($T a) { return __builtin_popcountll((uint64_t)a << (64 - $b)); }\n"},
    {"clz_$t", INTS,
     "INLINE $T clz_$t($T a) {\n"
     "  const uint64_t x = (uint64_t)a << (64 - $b);\n"
     "  return x ? __builtin_clzll(x) : $b;\n"
     "}\n"},
    {"brev_$t", INTS,
     "INLINE $T brev_$t($T a) {\n"
     "  uint64_t x = (uint64_t)a << (64 - $b);\n"
     "  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;\n"
     "  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;\n"
     "  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;\n"
     "  return ($T)__builtin_bswap64(x);\n"
     "}\n"},
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
#define EXTREME(name, op)                                                                  \
  {                                                                                        \
    "v" name "_$t", WORDS,                                                                 \
        "INLINE $V v" name                                                                 \
        "_$t($V a, $V b) {\n"                                                              \
        "#if LANES * $b <= REGISTER_BITS\n"                                                \
        "  const $V m = ($V)(a " op                                                        \
        " b);\n"                                                                           \
        "  return (a & m) | (b & ~m);\n"                                                   \
        "#else\n"                                                                          \
        "  $V r;\n"                                                                        \
        "  EACH_LANE(i) r[i] = " name                                                      \
        "_$t(a[i], b[i]);\n"                                                               \
        "  return r;\n"                                                                    \
        "#endif\n"                                                                         \
        "}\n"                                                                              \
  }
#define EXTREME_SHORT(name, op)                                  \
  {                                                              \
    "v" name "_$t", SHORT,                                       \
        "INLINE $V v" name                                       \
        "_$t($V a, $V b) {\n"                                    \
        "  const $V m = ($V)(a " op                              \
        " b);\n"                                                 \
        "  return (a & m) | (b & ~m);\n"                         \
        "}\n"                                                    \
  }
    BY_LANE2("div", INTS),
    BY_LANE2("rem", INTS),
    BY_LANE2("mulhi", "i8 i16 i32 i64 u8 u16 u64"),
    {"vmulhi_$t", "u32",
     "INLINE vu32 vmulhi_$t(vu32 a, vu32 b) {\n"
     "#if LANES * 32 == 512 && defined(__AVX512F__) && !defined(__clang__)\n"
     "#define PRODUCT(a, b) __builtin_ia32_pmuludq512_mask(a, b, (pairs){0}, -1)\n"
     "#elif LANES * 32 == 256 && defined(__AVX2__) && !defined(__clang__)\n"
     "#define PRODUCT(a, b) __builtin_ia32_pmuludq256(a, b)\n"
     "#elif LANES * 32 == 128 && defined(__SSE2__) && !defined(__clang__)\n"
     "#define PRODUCT(a, b) __builtin_ia32_pmuludq128(a, b)\n"
     "#endif\n"
     "#ifdef PRODUCT\n"
     "  /* Of the even lanes, then of the odd ones. */\n"
     "  typedef long long pairs __attribute__((vector_size(sizeof(vu32))));\n"
     "  const pairs low = PRODUCT((vi32)a, (vi32)b);\n"
     "  const pairs high = PRODUCT((vi32)((pairs)a >> 32), (vi32)((pairs)b >> 32));\n"
     "#undef PRODUCT\n"
     "  return (vu32)((low >> 32 & 0xffffffff) | (high & ~0xffffffffll));\n"
     "#else\n"
     "  vu32 r;\n"
     "  EACH_LANE(i) r[i] = mulhi_u32(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vshl_$t", SHORT,
     "INLINE $V vshl_$t($V a, $V b) {\n"
     "  return vto_$t_i32(vshl_i32(vto_i32_$t(a), vto_i32_$t(b)));\n"
     "}\n"},
    {"vshr_$t", SHORT,
     "INLINE $V vshr_$t($V a, $V b) {\n"
     "  return vto_$t_i32(vshr_i32(vto_i32_$t(a), vto_i32_$t(b)));\n"
     "}\n"},
    {"vshl_$t", WORDS,
     "INLINE $V vshl_$t($V a, $V b) {\n"
     "#if LANES * $b <= REGISTER_BITS\n"
     "  const vu$b n = (vu$b)b;\n"
     "  return ($V)(((vu$b)a << (n & ($b - 1))) & (vu$b)(n < $b));\n"
     "#else\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = shl_$t(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vshr_$t", "u32 u64",
     "INLINE $V vshr_$t($V a, $V b) {\n"
     "#if LANES * $b <= REGISTER_BITS\n"
     "  return (a >> (b & ($b - 1))) & ($V)(b < $b);\n"
     "#else\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = shr_$t(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"vshr_$t", "i32 i64",
     "INLINE $V vshr_$t($V a, $V b) {\n"
     "#if LANES * $b <= REGISTER_BITS\n"
     "  return a >> ((b | ~(vi$b)((vu$b)b < $b)) & ($b - 1));\n"
     "#else\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = shr_$t(a[i], b[i]);\n"
     "  return r;\n"
     "#endif\n"
     "}\n"},
    {"dot4_$t", "i32",
     "/* c plus the products of four signed bytes */\n"
     "INLINE int32_t dot4_$t(int32_t a, int32_t b, int32_t c) {\n"
     "  uint32_t r = c;\n"
     "  for (int i = 0; i < 32; i += 8) r += (int8_t)(a >> i) * (int8_t)(b >> i);\n"
     "  return r;\n"
     "}\n"},
    {"ADD_BYTES", NULL,
     "/* Adds products of four bytes without a sign by four with one. */\n"
     "#if !defined(__clang__)\n"
     "#if LANES == 16 && defined(__AVX512VNNI__)\n"
     "#define ADD_BYTES __builtin_ia32_vpdpbusd_v16si\n"
     "#elif LANES == 8 && defined(__AVX512VNNI__) && defined(__AVX512VL__)\n"
     "#define ADD_BYTES __builtin_ia32_vpdpbusd_v8si\n"
     "#elif LANES == 8 && defined(__AVXVNNI__)\n"
     "#define ADD_BYTES __builtin_ia32_vpdpbusd_v8si\n"
     "#endif\n"
     "#endif\n"},
    {"vdot4_$t", "i32",
     "/* Products of bytes without a sign by such with one: a is 128 more, which is taken off.\n"
     " * Without them, 16-bit products in pairs, of bytes 0 and 2 and of bytes 1 and 3. */\n"
     "INLINE vi32 vdot4_$t(vi32 a, vi32 b, vi32 c) {\n"
     "#ifdef ADD_BYTES\n"
     "  const vi32 half = vsplat_i32((int32_t)0x80808080), zero = vsplat_i32(0);\n"
     "  return ADD_BYTES(c - ADD_BYTES(zero, half, b), a ^ half, b);\n"
     "#elif LANES == 4 && defined(__ARM_FEATURE_DOTPROD)\n"
     "  __asm__(\"sdot %0.4s, %1.16b, %2.16b\" : \"+w\"(c) : \"w\"(a), \"w\"(b));\n"
     "  return c;\n"
     "#elif LANES == 4 && defined(__aarch64__)\n"
     "  vi32 low, high;\n"
     "  __asm__(\"smull %0.8h, %1.8b, %2.8b\" : \"=w\"(low) : \"w\"(a), \"w\"(b));\n"
     "  __asm__(\"smull2 %0.8h, %1.16b, %2.16b\" : \"=w\"(high) : \"w\"(a), \"w\"(b));\n"
     "  __asm__(\"saddlp %0.4s, %0.8h\" : \"+w\"(low));\n"
     "  __asm__(\"saddlp %0.4s, %0.8h\" : \"+w\"(high));\n"
     "  __asm__(\"addp %0.4s, %0.4s, %1.4s\" : \"+w\"(low) : \"w\"(high));\n"
     "  return c + low;\n"
     "#elif (LANES <= 8 && (defined(__AVX2__) || (LANES == 4 && defined(__SSE2__)))) || \\\n"
     "    (LANES == 16 && defined(__AVX512BW__) && !defined(__clang__))\n"
     "#if LANES == 16\n"
     "#define PAIRS(x, y) __builtin_ia32_pmaddwd512_mask(x, y, vsplat_i32(0), -1)\n"
     "#elif LANES == 4\n"
     "#define PAIRS __builtin_ia32_pmaddwd128\n"
     "#else\n"
     "#define PAIRS __builtin_ia32_pmaddwd256\n"
     "#endif\n"
     "  typedef short pairs __attribute__((vector_size(4 * LANES)));\n"
     "  const pairs x = (pairs)a, y = (pairs)b;\n"
     "  c += (vi32)PAIRS(x << 8 >> 8, y << 8 >> 8);\n"
     "  return c + (vi32)PAIRS(x >> 8, y >> 8);\n"
     "#undef PAIRS\n"
     "#else\n"
     "  for (int i = 24; i >= 0; i -= 8) c += (a << i >> 24) * (b << i >> 24);\n"
     "  return c;\n"
     "#endif\n"
     "}\n"},
    {"dot2_$t", "i32",
     "/* c, the bits of a float, plus the products of two bf16 */\n"
     "INLINE int32_t dot2_$t(int32_t a, int32_t b, int32_t c) {\n"
     "  return vdot2_$t(vsplat_i32(a), vsplat_i32(b), vsplat_i32(c))[0];\n"
     "}\n"},
    {"vdot2_$t", "i32",
     "/* Else GCC 12 keeps loops' sums, whose type changes for each product, in memory. */\n"
     "#if defined(__GNUC__) && !defined(__clang__)\n"
     "#pragma GCC optimize(\"no-tree-coalesce-vars\")\n"
     "#endif\n"
     "INLINE vi32 vdot2_$t(vi32 a, vi32 b, vi32 c) {\n"
     "#if LANES == 16 && defined(__AVX512BF16__) && !defined(__clang__)\n"
     "#if __GNUC__ >= 13\n"
     "  typedef __bf16 pairs __attribute__((vector_size(64)));\n"
     "#else\n"
     "  typedef short pairs __attribute__((vector_size(64)));\n"
     "#endif\n"
     "  return (vi32)__builtin_ia32_dpbf16ps_v16sf((vf32)c, (pairs)a, (pairs)b);\n"
     "#else\n"
     "  const vi32 high = vsplat_i32((int32_t)0xffff0000);\n"
     "  const vf32 low = vfma_f32((vf32)(a << 16), (vf32)(b << 16), (vf32)c);\n"
     "  return (vi32)vfma_f32((vf32)(a & high), (vf32)(b & high), low);\n"
     "#endif\n"
     "}\n"},
    EXTREME_SHORT("min", "<"),
    EXTREME_SHORT("max", ">"),
    EXTREME("min", "<"),
    EXTREME("max", ">"),
    BY_LANE1("abs", SIGNED),
    BY_LANE1("popc", INTS),
    BY_LANE1("clz", INTS),
    BY_LANE1("brev", INTS),

/* ---- comparison ---- */
#define COMPARE(name, op)                                                                        \
  {"v" name "_$t", AS_MASKS, "INLINE vi32 v" name "_$t($V a, $V b) { return a " op " b; }\n"},   \
  {"v" name "_$t", SHORT, "INLINE vi32 v" name "_$t($V a, $V b) {\n"                             \
                          "  return vto_i32_i$b((vi$b)(a " op " b));\n"                          \
                          "}\n"}, {                                                              \
    "v" name "_$t", LONG,                                                                      \
        "INLINE vi32 v" name                                                                     \
        "_$t($V a, $V b) {\n"                                                                    \
        "#if LANES * $b <= REGISTER_BITS\n"                                                      \
        "  return __builtin_convertvector(a " op                                                 \
        " b, vi32);\n"                                                                           \
        "#else\n"                                                                                \
        "  vi32 r;\n"                                                                            \
        "  EACH_LANE(i) r[i] = a[i] " op                                                         \
        " b[i] ? -1 : 0;\n"                                                                      \
        "  return r;\n"                                                                          \
        "#endif\n"                                                                               \
        "}\n"                                                                                    \
  }
    COMPARE("lt", "<"),
    COMPARE("le", "<="),
    COMPARE("gt", ">"),
    COMPARE("ge", ">="),
    COMPARE("eq", "=="),
    COMPARE("ne", "!="),

    /* ---- conversion ---- */
    {"vto_$t", NUMBERS, "#define vto_$t(v) __builtin_convertvector(v, $V)\n"},
    {"truncate_$t_$q", SIGNED,
     "/* Towards zero, saturating; NaN gives 0. */\n"
     "INLINE $T truncate_$t_$q($Q x) {\n"
     "  const $Q top = ($Q)(UINT64_C(1) << ($b - 1));\n"
     "  const $T max = ($T)((UINT64_C(1) << ($b - 1)) - 1);\n"
     "  return x != x ? 0 : x >= top ? max : x < -top ? -max - 1 : ($T)x;\n"
     "}\n"},
    {"truncate_$t_$q", UNSIGNED,
     "/* Towards zero, saturating; NaN gives 0. */\n"
     "INLINE $T truncate_$t_$q($Q x) {\n"
     "  const $Q top = ($Q)(UINT64_C(1) << ($b - 1)) * 2;\n"
     "  return x >= top ? ($T)-1 : x > 0 ? ($T)x : 0;\n"
     "}\n"},
    {"TRUNCATED_f32", NULL,
     "/* x86 gives the least integer: for NaN it becomes 0, from 2^31 on the most. */\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "#define TRUNCATED_f32(x, top) __extension__({ \\\n"
     "  const vi32 r_ = __builtin_ia32_cvttps2dq512_mask( \\\n"
     "      x, vsplat_i32(0), __builtin_ia32_cmpps512_mask(x, x, 7, -1, 4), 4); \\\n"
     "  __builtin_ia32_blendmd_512_mask(r_, vsplat_i32(INT32_MAX), \\\n"
     "                                  __builtin_ia32_cmpps512_mask(x, top, 13, -1, 4)); \\\n"
     "})\n"
     "#elif LANES == 8 && defined(__AVX2__)\n"
     "#define TRUNCATED_f32(x, top) \\\n"
     "  (((vi32)__builtin_ia32_cvttps2dq256(x) ^ ((x) >= (top))) & ((x) == (x)))\n"
     "#elif LANES == 4 && defined(__SSE2__)\n"
     "#define TRUNCATED_f32(x, top) \\\n"
     "  (((vi32)__builtin_ia32_cvttps2dq(x) ^ ((x) >= (top))) & ((x) == (x)))\n"
     "#endif\n"},
    {"vtruncate_$t_$q", "i32",
     "INLINE $V vtruncate_$t_$q($W x) {\n"
     "  const $Q top = ($Q)(UINT64_C(1) << ($b - 1));\n"
     "#ifdef TRUNCATED_$q\n"
     "  return TRUNCATED_$q(x, vsplat_$q(top));\n"
     "#else\n"
     "  const $T max = ($T)((UINT64_C(1) << ($b - 1)) - 1);\n"
     "  const vi32 over = vge_$q(x, vsplat_$q(top)), under = vlt_$q(x, vsplat_$q(-top));\n"
     "  const vi32 bad = vne_$q(x, x) | over | under;\n"
     "  vi32 r = __builtin_convertvector(vselect_$q(bad, vsplat_$q(0), x), vi32);\n"
     "  r |= (over & max) | (under & (-max - 1));\n"
     "  return __builtin_convertvector(r, $V);\n"
     "#endif\n"
     "}\n"},
    {"vtruncate_$t_$q", "i64 u32 u64",
     "INLINE $V vtruncate_$t_$q($W x) {\n"
     "  $V r;\n"
     "  EACH_LANE(i) r[i] = truncate_$t_$q(x[i]);\n"
     "  return r;\n"
     "}\n"},
    {0},
};
