/* The meaning depends on these options:
 *   cc -O2 -march=native -ffp-contract=off -fwrapv -fno-math-errno -fno-trapping-math -fno-optimize-sibling-calls -Wno-psabi -fPIC -shared -lm */
#ifndef LANES
#define LANES 8
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* Without this, GCC computes the lanes in two halves and joins the halves in memory. */
#if LANES >= 8 && defined(__AVX512F__) && !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif
#if defined(__AVX512F__)
#define REGISTER_BITS 512
#elif defined(__AVX2__)
#define REGISTER_BITS 256
#else
#define REGISTER_BITS 128
#endif
#define VECTOR(T) __attribute__((vector_size(LANES * sizeof(T))))
typedef int8_t vi8 VECTOR(int8_t);
typedef int16_t vi16 VECTOR(int16_t);
typedef int32_t vi32 VECTOR(int32_t);
typedef int64_t vi64 VECTOR(int64_t);
typedef uint8_t vu8 VECTOR(uint8_t);
typedef uint16_t vu16 VECTOR(uint16_t);
typedef uint32_t vu32 VECTOR(uint32_t);
typedef uint64_t vu64 VECTOR(uint64_t);
typedef float vf32 VECTOR(float);
typedef double vf64 VECTOR(double);
#define EACH_LANE(i) for (int i = 0; i < LANES; i++)
#if LANES == 4
#define REPEAT(x) x, x, x, x
#define FIRST_LANES 0, 1, 2, 3
#elif LANES == 8
#define REPEAT(x) x, x, x, x, x, x, x, x
#define FIRST_LANES 0, 1, 2, 3, 4, 5, 6, 7
#else
#define REPEAT(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define FIRST_LANES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#endif
#define INLINE static inline __attribute__((always_inline, unused))
#define CALLED static __attribute__((noinline))
#ifdef __clang__
#define COMMON CALLED
#else
#define COMMON static __attribute__((noinline, noclone))
#endif
#define RARE static __attribute__((noinline, cold, unused))
#ifdef __clang__
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#else
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(GCC unroll n)
#endif
#endif
#ifndef NEREID_Waiting
#define NEREID_Waiting
typedef struct Waiting Waiting;
#endif
#ifndef NEREID_memcpy
#define NEREID_memcpy
void *memcpy(void *, const void *, size_t);
#endif
#ifndef NEREID_load_u64
#define NEREID_load_u64
INLINE uint64_t load_u64(const char *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_load_i32
#define NEREID_load_i32
INLINE int32_t load_i32(const char *p) {
  int32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vsplat_f32
#define NEREID_vsplat_f32
INLINE vf32 vsplat_f32(float x) { return (vf32){REPEAT(x)}; }
#endif
#ifndef NEREID_lanes_below
#define NEREID_lanes_below
/* In how many of the first lanes does x + lane < n hold? */
INLINE int lanes_below(int64_t x, int64_t n) {
  return n <= x ? 0 : n - x < LANES ? (int)(n - x) : LANES;
}
#endif
#ifndef NEREID_WIDENED
#define NEREID_WIDENED
/* How many lanes x86 widens, and a register that begins with x. */
typedef char REGISTER_BYTES __attribute__((vector_size(16)));
typedef char LANE_BYTES VECTOR(char);
typedef short REGISTER_WORDS __attribute__((vector_size(16)));
typedef short LANE_WORDS VECTOR(short);
#define NO_4 -1, -1, -1, -1
#if defined(__clang__)
#define WIDENED 0
#elif LANES == 16 && defined(__AVX512BW__) && defined(__AVX512VL__)
#define WIDENED 16
#define LOW_BYTES(x) (REGISTER_BYTES)x
#elif LANES == 8 && defined(__AVX2__)
#define WIDENED 8
#define LOW_BYTES(x) \
  __builtin_shufflevector((LANE_BYTES)x, (LANE_BYTES)x, FIRST_LANES, NO_4, NO_4)
#elif LANES == 4 && defined(__SSE4_1__)
#define WIDENED 4
#define LOW_BYTES(x) \
  __builtin_shufflevector((LANE_BYTES)x, (LANE_BYTES)x, FIRST_LANES, NO_4, NO_4, NO_4)
#define LOW_WORDS(x) \
  __builtin_shufflevector((LANE_WORDS)x, (LANE_WORDS)x, FIRST_LANES, NO_4)
#else
#define WIDENED 0
#endif
#if LANES == 4 && WIDENED == 0 && !defined(__clang__) && defined(__ARM_NEON) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Each lane after a zero, or before one. */
#define UPPER(x) (vu32)__builtin_shufflevector((vu16){0}, x, 0, 4, 1, 5, 2, 6, 3, 7)
#define LOWER(x) (vu32)__builtin_shufflevector(x, (vu16){0}, 0, 4, 1, 5, 2, 6, 3, 7)
#else
#define UPPER(x) (__builtin_convertvector(x, vu32) << 16)
#define LOWER(x) __builtin_convertvector(x, vu32)
#endif
#endif
#ifndef NEREID_vto_i32_u16
#define NEREID_vto_i32_u16
INLINE vi32 vto_i32_u16(vu16 x) {
#if WIDENED == 16
  return __builtin_ia32_pmovzxwd512_mask((vi16)x, (vi32){0}, -1);
#elif WIDENED == 8
  return __builtin_ia32_pmovzxwd256((vi16)x);
#elif WIDENED == 4
  return __builtin_ia32_pmovzxwd128(LOW_WORDS(x));
#else
  return (vi32)LOWER(x);
#endif
}
#endif
#ifndef NEREID_vto_u32_u16
#define NEREID_vto_u32_u16
#define vto_u32_u16(x) ((vu32)vto_i32_u16(x))
#endif
#ifndef NEREID_vselect_u32
#define NEREID_vselect_u32
INLINE vu32 vselect_u32(vi32 m, vu32 a, vu32 b) {
  return (vu32)(((vi32)a & m) | ((vi32)b & ~m));
}
#endif
#ifndef NEREID_vdecode_f16
#define NEREID_vdecode_f16
INLINE vf32 vdecode_f16(vu16 x) {
#if LANES == 8 && defined(__F16C__)
  return __builtin_ia32_vcvtph2ps256((vi16)x);
#elif LANES == 16 && defined(__AVX512F__)
  return __builtin_ia32_vcvtph2ps512_mask((vi16)x, (vf32){0}, -1, 4);
#else
  const vu32 u = vto_u32_u16(x), size = u & 0x7fff;
  vu32 r = (vu32)((vf32)(size << 13) * 0x1p112f);
  r = vselect_u32(size >= 0x7c00, size << 13 | 0x7f800000, r);
  return (vf32)(r | (u & 0x8000) << 16);
#endif
}
#endif
#ifndef NEREID_vload_u16
#define NEREID_vload_u16
INLINE vu16 vload_u16(const char *p) {
  vu16 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif
#ifndef NEREID_vload_f16
#define NEREID_vload_f16
INLINE vf32 vload_f16(const char *p) { return vdecode_f16(vload_u16(p)); }
#endif
#ifndef NEREID_vramp_i32
#define NEREID_vramp_i32
/* x, x + step, ... */
INLINE vi32 vramp_i32(int32_t x, int32_t step) { return x + (vi32){FIRST_LANES} * step; }
#endif
#ifndef NEREID_vsplat_i32
#define NEREID_vsplat_i32
INLINE vi32 vsplat_i32(int32_t x) { return (vi32){REPEAT(x)}; }
#endif
#ifndef NEREID_vfirst
#define NEREID_vfirst
/* The mask of the first n lanes. */
INLINE vi32 vfirst(int n) { return vramp_i32(0, 1) < vsplat_i32(n); }
#endif
#ifndef NEREID_vselect_i32
#define NEREID_vselect_i32
INLINE vi32 vselect_i32(vi32 m, vi32 a, vi32 b) {
  return (vi32)(((vi32)a & m) | ((vi32)b & ~m));
}
#endif
#ifndef NEREID_LANE_SETS
#define NEREID_LANE_SETS
/* Sets of lanes; loads and stores of elements of so many bits, if there are any. */
#define LANE_SETS 1
typedef char SET_BYTES VECTOR(char);
typedef long long SET_LONGS VECTOR(long long);
#if defined(__clang__)
#elif LANES == 16 && defined(__AVX512VL__) && defined(__AVX512BW__)
#define FIRST_SET(n) (uint16_t)((1u << (n)) - 1)
#define MASK_SET(m) (uint16_t)__builtin_ia32_ptestmd512(m, m, -1)
#define LOAD_8(p, v, s) __builtin_ia32_loaddquqi128_mask(p, (SET_BYTES)v, s)
#define STORE_8(p, v, s) __builtin_ia32_storedquqi128_mask(p, (SET_BYTES)v, s)
#define LOAD_16(p, v, s) __builtin_ia32_loaddquhi256_mask((const short *)p, (vi16)v, s)
#define STORE_16(p, v, s) __builtin_ia32_storedquhi256_mask((short *)p, (vi16)v, s)
#define LOAD_32(p, v, s) __builtin_ia32_loaddqusi512_mask((const int *)p, (vi32)v, s)
#define STORE_32(p, v, s) __builtin_ia32_storedqusi512_mask((int *)p, (vi32)v, s)
#elif LANES == 8 && defined(__AVX512VL__) && defined(__AVX512BW__)
#define FIRST_SET(n) (uint8_t)((1u << (n)) - 1)
#define MASK_SET(m) (uint8_t)__builtin_ia32_ptestmd256(m, m, -1)
#define LOAD_16(p, v, s) __builtin_ia32_loaddquhi128_mask((const short *)p, (vi16)v, s)
#define STORE_16(p, v, s) __builtin_ia32_storedquhi128_mask((short *)p, (vi16)v, s)
#define LOAD_32(p, v, s) __builtin_ia32_loaddqusi256_mask((const int *)p, (vi32)v, s)
#define STORE_32(p, v, s) __builtin_ia32_storedqusi256_mask((int *)p, (vi32)v, s)
#define LOAD_64(p, v, s) \
  __builtin_ia32_loaddqudi512_mask((const long long *)p, (SET_LONGS)v, s)
#define STORE_64(p, v, s) \
  __builtin_ia32_storedqudi512_mask((long long *)p, (SET_LONGS)v, s)
#elif LANES == 8 && defined(__AVX2__)
#define FIRST_SET(n) vfirst(n)
#define MASK_SET(m) m
#define LOAD_32(p, v, s) \
  vselect_i32(s, __builtin_ia32_maskloadd256((const vi32 *)p, s), (vi32)v)
#define STORE_32(p, v, s) __builtin_ia32_maskstored256((vi32 *)p, s, (vi32)v)
#endif
#endif
#ifndef NEREID_vselect_f32
#define NEREID_vselect_f32
INLINE vf32 vselect_f32(vi32 m, vf32 a, vf32 b) {
  return (vf32)(((vi32)a & m) | ((vi32)b & ~m));
}
#endif
#ifndef NEREID_load_u16
#define NEREID_load_u16
INLINE uint16_t load_u16(const char *p) {
  uint16_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vload_some_u16
#define NEREID_vload_some_u16
#if LANE_SETS && defined(LOAD_16)
INLINE vu16 vload_some_u16(const char *p, int n, vu16 v) {
  return (vu16)LOAD_16(p, v, FIRST_SET(n));
}
#else
RARE vu16 vload_some_u16(const char *p, int n, vu16 v) {
  uint16_t x[LANES];
  memcpy(x, &v, sizeof v);
  for (int i = 0; i < n; i++) x[i] = load_u16(p + i * sizeof *x);
  memcpy(&v, x, sizeof v);
  return v;
}
#endif
#endif
#ifndef NEREID_vsplat_u16
#define NEREID_vsplat_u16
INLINE vu16 vsplat_u16(uint16_t x) { return (vu16){REPEAT(x)}; }
#endif
#ifndef NEREID_decode_f16
#define NEREID_decode_f16
INLINE float decode_f16(uint16_t x) { return vdecode_f16(vsplat_u16(x))[0]; }
#endif
#ifndef NEREID_load_f16
#define NEREID_load_f16
INLINE float load_f16(const char *p) { return decode_f16(load_u16(p)); }
#endif
#ifndef NEREID_vload_some_f16
#define NEREID_vload_some_f16
#if LANE_SETS && defined(LOAD_16)
INLINE vf32 vload_some_f16(const char *p, int n, vf32 v) {
  return vselect_f32(vfirst(n), vdecode_f16(vload_some_u16(p, n, (vu16){0})), v);
}
#else
RARE vf32 vload_some_f16(const char *p, int n, vf32 v) {
  for (int i = 0; i < n; i++) v[i] = load_f16(p + i * sizeof(uint16_t));
  return v;
}
#endif
#endif
#ifndef NEREID_vload_first_f16
#define NEREID_vload_first_f16
INLINE vf32 vload_first_f16(const char *p, int n, vf32 v) {
  return n > 0 ? vload_some_f16(p, n, v) : v;
}
#endif
#ifndef NEREID_vto_f64
#define NEREID_vto_f64
#define vto_f64(v) __builtin_convertvector(v, vf64)
#endif
#ifndef NEREID_vprint_f64
#define NEREID_vprint_f64
#ifndef PRINTF
#define PRINTF __builtin_printf
#endif
/* A line for each lane of m, as a whole: the program, the lane of each of the axes'
 * indices, and the value, which a format may leave out. */
RARE void vprint_f64(const char *format, uint32_t x, uint32_t y, uint32_t z, vi32 m,
    int axes, const vi32 *index, vf64 v) {
  EACH_LANE(l) if (m[l]) {
    double value = v[l];
    if (value != value) value = __builtin_fabs(value);
    int i[8];
    for (int a = 0; a < axes; a++) i[a] = index[a][l];
#define LINE(...) PRINTF(format, x, y, z, __VA_ARGS__)
    switch (axes) {
    case 0: LINE(value); break;
    case 1: LINE(i[0], value); break;
    case 2: LINE(i[0], i[1], value); break;
    case 3: LINE(i[0], i[1], i[2], value); break;
    case 4: LINE(i[0], i[1], i[2], i[3], value); break;
    case 5: LINE(i[0], i[1], i[2], i[3], i[4], value); break;
    case 6: LINE(i[0], i[1], i[2], i[3], i[4], i[5], value); break;
    case 7: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], value); break;
    default: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], value); break;
    }
#undef LINE
  }
}
#endif
#ifndef NEREID_vto_i32
#define NEREID_vto_i32
#define vto_i32(v) __builtin_convertvector(v, vi32)
#endif
#ifndef NEREID_vto_u16_u32
#define NEREID_vto_u16_u32
INLINE vu16 vto_u16_u32(vu32 x) {
#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)
  return (vu16)__builtin_ia32_pmovdw512_mask((vi32)x, (vi16){0}, -1);
#elif LANES <= 8 && defined(__SSE2__) && !defined(__clang__)
  typedef uint16_t words __attribute__((vector_size(4 * LANES)));
#if LANES == 8
  return __builtin_shufflevector((words)x, (words)x, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  return __builtin_shufflevector((words)x, (words)x, 0, 2, 4, 6);
#endif
#else
  return __builtin_convertvector(x, vu16);
#endif
}
#endif
#ifndef NEREID_vencode_f16
#define NEREID_vencode_f16
INLINE vu16 vencode_f16(vf32 x) {
#if LANES == 8 && defined(__F16C__)
  return (vu16)__builtin_ia32_vcvtps2ph256(x, 0);
#elif LANES == 16 && defined(__AVX512F__)
  return (vu16)__builtin_ia32_vcvtps2ph512_mask(x, 0, (vi16){0}, -1);
#else
  const vu32 u = (vu32)x, size = u & 0x7fffffff;
  vu32 r = (size - 0x38000000) >> 13;
  const vu32 tiny = (vu32)vto_i32((vf32)size * 0x1p24f);
  r = vselect_u32(size < 0x38800000, tiny, r);
  r = vselect_u32(size >= 0x7f800000, 0x7c00 | (size >> 13 & 0x3ff), r);
  r = vselect_u32(size > 0x7f800000, r | 0x200, r);
  return vto_u16_u32(r | (u >> 16 & 0x8000));
#endif
}
#endif
#ifndef NEREID_vsplat_u32
#define NEREID_vsplat_u32
INLINE vu32 vsplat_u32(uint32_t x) { return (vu32){REPEAT(x)}; }
#endif
#ifndef NEREID_vround_f16
#define NEREID_vround_f16
/* To nearest, ties to even.  Adding 0.75 rounds to multiples of 2^-24. */
INLINE vf32 vround_f16(vf32 x) {
#if (LANES == 8 && defined(__F16C__)) || (LANES == 16 && defined(__AVX512F__))
  return vdecode_f16(vencode_f16(x));
#else
  const vu32 u = (vu32)x, sign = u & 0x80000000, size = u & 0x7fffffff;
  const vf32 tiny = ((vf32)size + 0.75f) - 0.75f;
  vu32 even = (size + 0xfff + (size >> 13 & 1)) & 0xffffe000;
  even = (vu32)vselect_u32(even >= 0x47800000, vsplat_u32(0x7f800000), even);
  even = (vu32)vselect_u32(size < 0x38800000, (vu32)tiny, even);
  return vselect_f32(x == x, (vf32)(even | sign), x);
#endif
}
#endif
#ifndef NEREID_vprint_i32
#define NEREID_vprint_i32
#ifndef PRINTF
#define PRINTF __builtin_printf
#endif
/* A line for each lane of m, as a whole: the program, the lane of each of the axes'
 * indices, and the value, which a format may leave out. */
RARE void vprint_i32(const char *format, uint32_t x, uint32_t y, uint32_t z, vi32 m,
    int axes, const vi32 *index, vi32 v) {
  EACH_LANE(l) if (m[l]) {
    int32_t value = v[l];
    int i[8];
    for (int a = 0; a < axes; a++) i[a] = index[a][l];
#define LINE(...) PRINTF(format, x, y, z, __VA_ARGS__)
    switch (axes) {
    case 0: LINE(value); break;
    case 1: LINE(i[0], value); break;
    case 2: LINE(i[0], i[1], value); break;
    case 3: LINE(i[0], i[1], i[2], value); break;
    case 4: LINE(i[0], i[1], i[2], i[3], value); break;
    case 5: LINE(i[0], i[1], i[2], i[3], i[4], value); break;
    case 6: LINE(i[0], i[1], i[2], i[3], i[4], i[5], value); break;
    case 7: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], value); break;
    default: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], value); break;
    }
#undef LINE
  }
}
#endif
#ifndef NEREID_vsplat_f64
#define NEREID_vsplat_f64
/* GCC makes a vector of two registers element by element, in memory, in each turn. */
INLINE vf64 vsplat_f64(double x) {
#if LANES * 64 == 2 * REGISTER_BITS && !defined(__clang__)
  typedef double half __attribute__((vector_size(LANES / 2 * sizeof(double))));
  const half halves[2] = {x - (half){0}, x - (half){0}};
  vf64 v;
  __builtin_memcpy(&v, halves, sizeof v);
  return v;
#else
  return (vf64){REPEAT(x)};
#endif
}
#endif
#ifndef NEREID_vprint_u32
#define NEREID_vprint_u32
#ifndef PRINTF
#define PRINTF __builtin_printf
#endif
/* A line for each lane of m, as a whole: the program, the lane of each of the axes'
 * indices, and the value, which a format may leave out. */
RARE void vprint_u32(const char *format, uint32_t x, uint32_t y, uint32_t z, vi32 m,
    int axes, const vi32 *index, vu32 v) {
  EACH_LANE(l) if (m[l]) {
    uint32_t value = v[l];
    int i[8];
    for (int a = 0; a < axes; a++) i[a] = index[a][l];
#define LINE(...) PRINTF(format, x, y, z, __VA_ARGS__)
    switch (axes) {
    case 0: LINE(value); break;
    case 1: LINE(i[0], value); break;
    case 2: LINE(i[0], i[1], value); break;
    case 3: LINE(i[0], i[1], i[2], value); break;
    case 4: LINE(i[0], i[1], i[2], i[3], value); break;
    case 5: LINE(i[0], i[1], i[2], i[3], i[4], value); break;
    case 6: LINE(i[0], i[1], i[2], i[3], i[4], i[5], value); break;
    case 7: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], value); break;
    default: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], value); break;
    }
#undef LINE
  }
}
#endif
#ifndef NEREID_vstore_u16
#define NEREID_vstore_u16
INLINE void vstore_u16(char *p, vu16 v) {
  typedef vu16 anywhere __attribute__((aligned(1), may_alias));
  *(anywhere *)p = v;
}
#endif
#ifndef NEREID_vstore_f16
#define NEREID_vstore_f16
INLINE void vstore_f16(char *p, vf32 v) { vstore_u16(p, vencode_f16(v)); }
#endif
#ifndef NEREID_store_u16
#define NEREID_store_u16
INLINE void store_u16(char *p, uint16_t x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_encode_f16
#define NEREID_encode_f16
INLINE uint16_t encode_f16(float x) { return vencode_f16(vsplat_f32(x))[0]; }
#endif
#ifndef NEREID_store_f16
#define NEREID_store_f16
INLINE void store_f16(char *p, float x) { store_u16(p, encode_f16(x)); }
#endif
#ifndef NEREID_vstore_some_f16
#define NEREID_vstore_some_f16
RARE void vstore_some_f16(char *p, int n, vf32 v) {
  for (int i = 0; i < n; i++) store_f16(p + i * sizeof(uint16_t), v[i]);
}
#endif
#ifndef NEREID_vstore_first_f16
#define NEREID_vstore_first_f16
INLINE void vstore_first_f16(char *p, int n, vf32 v) {
  if (n > 0) vstore_some_f16(p, n, v);
}
#endif
#ifndef NEREID_loop_trips
#define NEREID_loop_trips
/* How often a loop from lo to hi runs. */
INLINE double loop_trips(double lo, double hi, double step) {
  const double n = (hi - lo) / step;
  return n > 0 ? __builtin_ceil(n) : 0;
}
#endif
#ifndef NEREID_Part
#define NEREID_Part
/* How many programs of a part of a launch have been begun; in a cache line of its own.
 * The first part of programs that wait for others also has whom they ask. */
typedef struct {
  _Alignas(64) uint64_t begun;
  Waiting *waiting;
} Part;
#endif
#ifndef NEREID_Team
#define NEREID_Team
/* Runs what is left of the parts, of which there are as many as threads. */
typedef void TeamBody(void *context, Part *parts, int self, int threads);
typedef struct Team Team;
struct Team {
  /* All n programs, which take about ns nanoseconds together. */
  void (*run)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);
  /* The same for programs that wait for others, all of which are begun. */
  void (*run_waiting)(Team *team, uint64_t n, double ns, TeamBody *body, void *context);
};
#endif
#ifndef NEREID_LaunchProgram
#define NEREID_LaunchProgram
typedef void LaunchProgram(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream, Waiting *waiting);
#endif
#ifndef NEREID_Launch
#define NEREID_Launch
/* A launch of n programs, as its threads see it. */
typedef struct {
  const void *args;
  const uint32_t *grid;
  uint64_t n;
  LaunchProgram *program;
  size_t shared; /* bytes that all the programs of a thread use in turn; if there are any,
                  * the thread's number is 64 bytes before */
  bool stream, waits;
} Launch;
#endif
#ifndef NEREID_aligned_alloc
#define NEREID_aligned_alloc
void *aligned_alloc(size_t, size_t);
#endif
#ifndef NEREID_abort
#define NEREID_abort
void abort(void);
#endif
#ifndef NEREID_Share
#define NEREID_Share
/* A thread's view of a launch of n programs, which fall into as many parts as there are
 * threads.  The thread begins with its own part, the same in every launch of as many: so
 * it often reads what it wrote, and few caches hold the same lines, which makes writing
 * them anew cheap.  Then it helps the threads after it.  Programs of a part are begun in
 * order, and its thread leaves it when all have been begun: so of programs that wait for
 * ones before them, the first that has not ended runs, or is its thread's next one. */
typedef struct {
  Part *parts;
  uint64_t n, step;
  int threads, self, helped;
} Share;
#endif
#ifndef NEREID_share_of
#define NEREID_share_of
INLINE Share share_of(Part *parts, uint64_t n, int self, int threads) {
  const uint64_t step = threads == 1 ? n : n / (32 * (uint64_t)threads) + 1;
  return (Share){parts, n, step, threads, self, 0};
}
#endif
#ifndef NEREID_share_next
#define NEREID_share_next
/* The programs that the thread is to run next; false: there are none left. */
INLINE bool share_next(Share *s, uint64_t *begin, uint64_t *end) {
  const uint64_t each = s->n / s->threads, more = s->n % s->threads;
  for (; s->helped < s->threads; s->helped++) {
    const uint64_t i = (uint64_t)(s->self + s->helped) % s->threads;
    const uint64_t first = each * i + (i < more ? i : more), size = each + (i < more);
    uint64_t *begun = &s->parts[i].begun;
    if (__atomic_load_n(begun, __ATOMIC_RELAXED) >= size) continue;
    const uint64_t at = __atomic_fetch_add(begun, s->step, __ATOMIC_RELAXED);
    if (at >= size) continue;
    *begin = first + at;
    *end = first + (size - at < s->step ? size : at + s->step);
    return true;
  }
  return false;
}
#endif
#ifndef NEREID_launch_range
#define NEREID_launch_range
/* Programs begin <= i < end of the linear grid (axis 0 fastest), counted up: dividing
 * costs as much as a small program does. */
INLINE void launch_range(const Launch *l, uint64_t begin, uint64_t end, char *shared,
    Waiting *waiting) {
  const uint32_t *grid = l->grid;
  uint32_t at_0 = begin % grid[0], at_1 = begin / grid[0] % grid[1];
  uint32_t at_2 = begin / grid[0] / grid[1];
  for (uint64_t at = begin; at < end; at++) {
    l->program(l->args, grid, at_0, at_1, at_2, shared, l->stream, waiting);
    if (++at_0 < grid[0]) continue;
    at_0 = 0;
    if (++at_1 < grid[1]) continue;
    at_1 = 0;
    at_2++;
  }
}
#endif
#ifndef NEREID_stream_end
#define NEREID_stream_end
/* Streamed stores come before all that follows. */
INLINE void stream_end(void) {
#ifdef __SSE2__
  __builtin_ia32_sfence();
#endif
}
#endif
#ifndef NEREID_free
#define NEREID_free
void free(void *);
#endif
#ifndef NEREID_launch_share
#define NEREID_launch_share
/* One thread's part of a launch; see Share. */
COMMON void launch_share(void *context, Part *parts, int self, int threads) {
  const Launch *l = context;
  char *const room = l->shared ? aligned_alloc(64, 64 + l->shared) : NULL;
  if (l->shared && !room) abort();
  char *const shared = room ? room + 64 : NULL;
  if (room) *(int32_t *)room = self;
  Share share = share_of(parts, l->n, self, threads);
  if (l->waits) share.step = 1; /* one may wait for the next */
  for (uint64_t i, end; share_next(&share, &i, &end);)
    launch_range(l, i, end, shared, parts->waiting);
  if (l->stream) stream_end();
  free(room);
}
#endif
#ifndef NEREID_launch_all
#define NEREID_launch_all
/* All programs, by the threads of a team; without one (NULL), by this thread. */
COMMON void launch_all(Launch *l, Team *team, double ns) {
  Part part = {0};
  if (!team || (l->n == 1 && !l->waits)) launch_share(l, &part, 0, 1);
  else if (l->waits) team->run_waiting(team, l->n, ns, launch_share, l);
  else team->run(team, l->n, ns, launch_share, l);
}
#endif

/* Kernel device_print of device_print.py. */
/* One program; its lanes run together. */
static void device_print_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x = (char *)load_u64(args + 0);
  int32_t n = load_i32(args + 8);
  vf32 v[8];
  int t19[8];
  vf64 t27[8];
  int32_t t28[8];
  vf32 t41[8];
  const int32_t lane = 0; /* device_print.py:7 */
  const int32_t t20 = lane * 2;
  const int t32 = 1;
  const int32_t t0 = (int32_t)pid_0; /* device_print.py:8 */
  const int32_t t1 = t0 * 64;
  const int32_t t17 = lane + t1; /* device_print.py:9 */
  const int64_t t21 = (int64_t)t20;
  char *t22 = x + t21;
  const int64_t t23 = (int64_t)t1;
  const int64_t t24 = t23 * 2ll;
  char *t25 = t22 + t24;
  for (int a = 0; a < 8; a++) {
    v[a] = vsplat_f32(0.0f);
    const int32_t t18 = t17 + (8*a);
    t19[a] = lanes_below(t18, n);
    if (t19[a] == LANES) v[a] = vload_f16(t25 + 16*a);
    else v[a] = vload_first_f16(t25 + 16*a, t19[a], v[a]);
    const vf32 t26 = v[a]; /* device_print.py:10 */
    t27[a] = vto_f64(t26);
    t28[a] = lane + (8*a);
  }
  const bool t10 = n > 3; /* device_print.py:13 */
  for (int a = 0; a < 8; a++) { /* device_print.py:10 */
    vprint_f64("pid (%u, %u, %u) idx (%2i) v: %f\n", pid_0, pid_1, pid_2, vsplat_i32(-1), 1, (const vi32[]){vramp_i32(t28[a], 1)}, t27[a]);
    t41[a] = vround_f16(v[a] + 1.0f); /* device_print.py:16 */
  }
  for (int64_t i_at = 0; i_at < n; i_at += 1) { /* device_print.py:11 */
    const int32_t i = (int32_t)i_at;
    vf32 v_1[4];
    vf32 v_2;
    UNROLL(4) for (int a = 0; a < 4; a++) { /* device_print.py:12 */
      v_1[a] = vsplat_f32((-0.0f));
    }
    UNROLL(2) for (int a = 0; a < 2; a++) {
      UNROLL(4) for (int a_2 = 0; a_2 < 4; a_2++) {
        v_1[a_2] = vround_f16(v_1[a_2] + v[4*a + a_2]);
      }
    }
    v_2 = v_1[0];
    UNROLL(3) for (int r = 0; r < 3; r++) {
      v_2 = vround_f16(v_2 + v_1[r + 1]);
    }
    const vf32 t29 = __builtin_shufflevector(v_2, v_2, 4, 5, 6, 7, 0, 1, 2, 3);
    v_2 = vround_f16(v_2 + t29);
    const vf32 t30 = __builtin_shufflevector(v_2, v_2, 2, 3, 0, 1, 6, 7, 4, 5);
    v_2 = vround_f16(v_2 + t30);
    const vf32 t31 = __builtin_shufflevector(v_2, v_2, 1, 0, 3, 2, 5, 4, 7, 6);
    v_2 = vround_f16(v_2 + t31);
    const float t7 = v_2[0];
    vprint_i32("pid (%u, %u, %u) idx () B=64, 100%%: (operand 0) %i\n", pid_0, pid_1, pid_2, vfirst(t32), 0, NULL, vsplat_i32(i));
    const float t33 = t7;
    const double t34 = (double)t33;
    vprint_f64("pid (%u, %u, %u) idx () B=64, 100%%: (operand 1) %f\n", pid_0, pid_1, pid_2, vfirst(t32), 0, NULL, vsplat_f64(t34));
  }
  if (t10) { /* device_print.py:13 */
    for (int a = 0; a < 8; a++) { /* device_print.py:14 */
      const vu16 t35 = (vu16)vencode_f16(v[a]);
      const vu32 t36 = vto_u32_u16(t35);
      vprint_u32("pid (%u, %u, %u) idx (%2i) hex: 0x%04x\n", pid_0, pid_1, pid_2, vsplat_i32(-1), 1, (const vi32[]){vramp_i32(t28[a], 1)}, t36);
    }
  }
  vprint_i32("pid (%u, %u, %u) done\n", pid_0, pid_1, pid_2, vfirst(t32), 0, NULL, vsplat_i32(0)); /* device_print.py:15 */
  for (int a = 0; a < 8; a++) { /* device_print.py:16 */
    if (t19[a] == LANES) vstore_f16(t25 + 16*a, t41[a]);
    else vstore_first_f16(t25 + 16*a, t19[a], t41[a]);
  }
}

/* About how many nanoseconds a program takes. */
static double device_print_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 40827.6
      + loop_trips(0.0, (double)load_i32(args + 8), 1.0) * 4802.14;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void device_print_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, device_print_program, 0, false, false};
  launch_all(&launch, team, (double)n * device_print_ns(args, grid));
}
