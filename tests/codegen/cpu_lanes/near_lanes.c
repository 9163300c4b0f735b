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
#ifndef NEREID_abs_i32
#define NEREID_abs_i32
INLINE int32_t abs_i32(int32_t a) { return a < 0 ? (int32_t)(0 - (uint64_t)a) : a; }
#endif
#ifndef NEREID_vabs_i32
#define NEREID_vabs_i32
INLINE vi32 vabs_i32(vi32 a) {
  vi32 r;
  EACH_LANE(i) r[i] = abs_i32(a[i]);
  return r;
}
#endif
#ifndef NEREID_vramp_i32
#define NEREID_vramp_i32
/* x, x + step, ... */
INLINE vi32 vramp_i32(int32_t x, int32_t step) { return x + (vi32){FIRST_LANES} * step; }
#endif
#ifndef NEREID_vto_i64
#define NEREID_vto_i64
#define vto_i64(v) __builtin_convertvector(v, vi64)
#endif
#ifndef NEREID_vsplat_u64
#define NEREID_vsplat_u64
/* GCC makes a vector of two registers element by element, in memory, in each turn. */
INLINE vu64 vsplat_u64(uint64_t x) {
#if LANES * 64 == 2 * REGISTER_BITS && !defined(__clang__)
  typedef uint64_t half __attribute__((vector_size(LANES / 2 * sizeof(uint64_t))));
  const half halves[2] = {x - (half){0}, x - (half){0}};
  vu64 v;
  __builtin_memcpy(&v, halves, sizeof v);
  return v;
#else
  return (vu64){REPEAT(x)};
#endif
}
#endif
#ifndef NEREID_vto_u64
#define NEREID_vto_u64
#define vto_u64(v) __builtin_convertvector(v, vu64)
#endif
#ifndef NEREID_vramp_u64
#define NEREID_vramp_u64
/* x, x + step, ... */
INLINE vu64 vramp_u64(uint64_t x, uint64_t step) { return x + (vu64){FIRST_LANES} * step; }
#endif
#ifndef NEREID_vany
#define NEREID_vany
INLINE bool vany(vi32 m) {
#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)
  return (uint16_t)__builtin_ia32_ptestmd512(m, m, -1) != 0;
#elif LANES == 8 && defined(__AVX__)
  return __builtin_ia32_movmskps256((vf32)m) != 0;
#else
  int32_t r = 0;
  EACH_LANE(i) r |= m[i];
  return r != 0;
#endif
}
#endif
#ifndef NEREID_VALUE_u8
#define NEREID_VALUE_u8
#define VALUE_u8(x) (x)
#endif
#ifndef NEREID_load_u8
#define NEREID_load_u8
INLINE uint8_t load_u8(const char *p) {
  uint8_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vgather_mask_u8
#define NEREID_vgather_mask_u8
INLINE vu8 vgather_mask_u8(vu64 p, vi32 m, vu8 v) {
  EACH_LANE(i) if (m[i]) v[i] = VALUE_u8(load_u8((const char *)p[i]));
  return v;
}
#endif
#ifndef NEREID_vall
#define NEREID_vall
INLINE bool vall(vi32 m) {
#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)
  return (uint16_t)__builtin_ia32_ptestmd512(m, m, -1) == 65535;
#elif LANES == 8 && defined(__AVX__)
  return __builtin_ia32_movmskps256((vf32)m) == 255;
#else
  int32_t r = -1;
  EACH_LANE(i) r &= m[i];
  return r != 0;
#endif
}
#endif
#ifndef NEREID_vload_u8
#define NEREID_vload_u8
INLINE vu8 vload_u8(const char *p) {
  vu8 v;
  memcpy(&v, p, sizeof v);
  return v;
}
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
#ifndef NEREID_vload_mask_u8
#define NEREID_vload_mask_u8
#if LANE_SETS && defined(LOAD_8)
INLINE vu8 vload_mask_u8(const char *p, vi32 m, vu8 v) {
  return (vu8)LOAD_8(p, v, MASK_SET(m));
}
#else
RARE vu8 vload_mask_u8(const char *p, vi32 m, vu8 v) {
  EACH_LANE(i) if (m[i]) v[i] = load_u8(p + i * sizeof(uint8_t));
  return v;
}
#endif
#endif
#ifndef NEREID_vgather_near_u8
#define NEREID_vgather_near_u8
/* Lanes whose mask holds are mostly neighbours.  A compiler compares numbers of two
 * registers one by one. */
INLINE vu8 vgather_near_u8(vu64 p, vi32 m, vu8 v) {
  const vu64 apart = p - vramp_u64(p[0], sizeof(uint8_t));
  const vi32 other = __builtin_convertvector(apart | apart >> 32, vi32) != 0;
  if (vany(m & other)) return vgather_mask_u8(p, m, v);
  return vall(m) ? vload_u8((const char *)p[0]) : vload_mask_u8((const char *)p[0], m, v);
}
#endif
#ifndef NEREID_vsplat_u8
#define NEREID_vsplat_u8
INLINE vu8 vsplat_u8(uint8_t x) { return (vu8){REPEAT(x)}; }
#endif
#ifndef NEREID_lanes_below
#define NEREID_lanes_below
/* In how many of the first lanes does x + lane < n hold? */
INLINE int lanes_below(int64_t x, int64_t n) {
  return n <= x ? 0 : n - x < LANES ? (int)(n - x) : LANES;
}
#endif
#ifndef NEREID_max_i32
#define NEREID_max_i32
INLINE int32_t max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
#endif
#ifndef NEREID_vmax_i32
#define NEREID_vmax_i32
INLINE vi32 vmax_i32(vi32 a, vi32 b) {
#if LANES * 32 <= REGISTER_BITS
  const vi32 m = (vi32)(a > b);
  return (a & m) | (b & ~m);
#else
  vi32 r;
  EACH_LANE(i) r[i] = max_i32(a[i], b[i]);
  return r;
#endif
}
#endif
#ifndef NEREID_min_i32
#define NEREID_min_i32
INLINE int32_t min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
#endif
#ifndef NEREID_vmin_i32
#define NEREID_vmin_i32
INLINE vi32 vmin_i32(vi32 a, vi32 b) {
#if LANES * 32 <= REGISTER_BITS
  const vi32 m = (vi32)(a < b);
  return (a & m) | (b & ~m);
#else
  vi32 r;
  EACH_LANE(i) r[i] = min_i32(a[i], b[i]);
  return r;
#endif
}
#endif
#ifndef NEREID_vload_i32
#define NEREID_vload_i32
INLINE vi32 vload_i32(const char *p) {
  vi32 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif
#ifndef NEREID_vgather_u8
#define NEREID_vgather_u8
INLINE vu8 vgather_u8(vu64 p) {
  vu8 v;
  EACH_LANE(i) v[i] = VALUE_u8(load_u8((const char *)p[i]));
  return v;
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
#ifndef NEREID_vto_i32_u8
#define NEREID_vto_i32_u8
INLINE vi32 vto_i32_u8(vu8 x) {
#if WIDENED == 16
  return __builtin_ia32_pmovzxbd512_mask(LOW_BYTES(x), (vi32){0}, -1);
#elif WIDENED == 8
  return __builtin_ia32_pmovzxbd256(LOW_BYTES(x));
#elif WIDENED == 4
  return __builtin_ia32_pmovzxbd128(LOW_BYTES(x));
#else
  return __builtin_convertvector(x, vi32);
#endif
}
#endif
#ifndef NEREID_vto_f32_u8
#define NEREID_vto_f32_u8
#define vto_f32_u8(x) __builtin_convertvector(vto_i32_u8(x), vf32)
#endif
#ifndef NEREID_vsplat_f32
#define NEREID_vsplat_f32
INLINE vf32 vsplat_f32(float x) { return (vf32){REPEAT(x)}; }
#endif
#ifndef NEREID_vselect_f32
#define NEREID_vselect_f32
INLINE vf32 vselect_f32(vi32 m, vf32 a, vf32 b) {
  return (vf32)(((vi32)a & m) | ((vi32)b & ~m));
}
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
#ifndef NEREID_vdecode_bf16
#define NEREID_vdecode_bf16
INLINE vf32 vdecode_bf16(vu16 x) {
#if WIDENED
  return (vf32)(vto_u32_u16(x) << 16);
#else
  return (vf32)UPPER(x);
#endif
}
#endif
#ifndef NEREID_VALUE_u16
#define NEREID_VALUE_u16
#define VALUE_u16(x) (x)
#endif
#ifndef NEREID_load_u16
#define NEREID_load_u16
INLINE uint16_t load_u16(const char *p) {
  uint16_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vgather_mask_u16
#define NEREID_vgather_mask_u16
INLINE vu16 vgather_mask_u16(vu64 p, vi32 m, vu16 v) {
  EACH_LANE(i) if (m[i]) v[i] = VALUE_u16(load_u16((const char *)p[i]));
  return v;
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
#ifndef NEREID_vload_mask_u16
#define NEREID_vload_mask_u16
#if LANE_SETS && defined(LOAD_16)
INLINE vu16 vload_mask_u16(const char *p, vi32 m, vu16 v) {
  return (vu16)LOAD_16(p, v, MASK_SET(m));
}
#else
RARE vu16 vload_mask_u16(const char *p, vi32 m, vu16 v) {
  EACH_LANE(i) if (m[i]) v[i] = load_u16(p + i * sizeof(uint16_t));
  return v;
}
#endif
#endif
#ifndef NEREID_vgather_near_u16
#define NEREID_vgather_near_u16
/* Lanes whose mask holds are mostly neighbours.  A compiler compares numbers of two
 * registers one by one. */
INLINE vu16 vgather_near_u16(vu64 p, vi32 m, vu16 v) {
  const vu64 apart = p - vramp_u64(p[0], sizeof(uint16_t));
  const vi32 other = __builtin_convertvector(apart | apart >> 32, vi32) != 0;
  if (vany(m & other)) return vgather_mask_u16(p, m, v);
  return vall(m) ? vload_u16((const char *)p[0]) : vload_mask_u16((const char *)p[0], m, v);
}
#endif
#ifndef NEREID_vsplat_u16
#define NEREID_vsplat_u16
INLINE vu16 vsplat_u16(uint16_t x) { return (vu16){REPEAT(x)}; }
#endif
#ifndef NEREID_vgather_near_bf16
#define NEREID_vgather_near_bf16
INLINE vf32 vgather_near_bf16(vu64 p, vi32 m, vf32 v) {
  return vselect_f32(m, vdecode_bf16(vgather_near_u16(p, m, vsplat_u16(0))), v);
}
#endif
#ifndef NEREID_stream_bytes
#define NEREID_stream_bytes
/* n bytes to an address that n divides. */
INLINE void stream_bytes(char *p, const char *from, int n) {
#if defined(__AVX__)
  typedef long long part __attribute__((vector_size(32)));
#elif defined(__SSE2__)
  typedef long long part __attribute__((vector_size(16)));
#endif
#ifdef __SSE2__
  UNROLL(16) for (; n >= (int)sizeof(part); n -= sizeof(part)) {
    part x;
    memcpy(&x, from, sizeof x);
#if defined(__clang__)
    __builtin_nontemporal_store(x, (part *)p);
#elif defined(__AVX__)
    __builtin_ia32_movntdq256((part *)p, x);
#else
    __builtin_ia32_movntdq((part *)p, x);
#endif
    p += sizeof(part);
    from += sizeof(part);
  }
#endif
  memcpy(p, from, n);
}
#endif
#ifndef NEREID_vstore_f32
#define NEREID_vstore_f32
INLINE void vstore_f32(char *p, vf32 v) {
  typedef vf32 anywhere __attribute__((aligned(1), may_alias));
  *(anywhere *)p = v;
}
#endif
#ifndef NEREID_vstream_f32
#define NEREID_vstream_f32
INLINE void vstream_f32(char *p, vf32 v, bool stream) {
#if LANES * 32 == 512 && defined(__AVX512F__) && !defined(__clang__)
#define STREAM __builtin_ia32_movntdq512
#elif LANES * 32 == 256 && defined(__AVX__) && !defined(__clang__)
#define STREAM __builtin_ia32_movntdq256
#elif LANES * 32 == 128 && defined(__SSE2__) && !defined(__clang__)
#define STREAM __builtin_ia32_movntdq
#endif
#ifdef STREAM
  typedef long long whole __attribute__((vector_size(sizeof v), may_alias));
  if (stream && (uintptr_t)p % sizeof v == 0) STREAM((whole *)p, (whole)v);
#undef STREAM
#else
  if (stream && (uintptr_t)p % sizeof v == 0) stream_bytes(p, (const char *)&v, sizeof v);
#endif
  else vstore_f32(p, v);
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

/* Kernel near_lanes of near_lanes.py. */
/* One program; its lanes run together. */
static void near_lanes_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x = (char *)load_u64(args + 0);
  char *y = (char *)load_u64(args + 8);
  char *i = (char *)load_u64(args + 16);
  int32_t n = load_i32(args + 24);
  char *z = (char *)load_u64(args + 32);
  vf32 clamped;
  vf32 t55[4];
  const int32_t lane = 0; /* near_lanes.py:7 */
  const int32_t t44 = lane * 4;
  const int32_t t0 = (int32_t)pid_0; /* near_lanes.py:10 */
  const int32_t t1 = t0 * 32;
  char *t2 = x + n; /* near_lanes.py:11 */
  const int32_t t26 = lane + t1;
  const int64_t t45 = (int64_t)t44; /* near_lanes.py:13 */
  char *t46 = i + t45;
  const int64_t t47 = (int64_t)t1;
  const int64_t t48 = t47 * 4ll;
  char *t49 = t46 + t48;
  for (int a = 0; a < 4; a++) { /* near_lanes.py:11 */
    const int32_t t27 = t26 + (8*a - 1);
    const vi32 t28 = vabs_i32(vramp_i32(t27, 1));
    const vi32 t29 = n - t28;
    const vi32 t30 = vabs_i32(t29);
    const vi32 t31 = -t30;
    const vi64 t32 = vto_i64(t31);
    vu64 t33 = vsplat_u64((uint64_t)(t2)) + vto_u64(t32);
    const vu8 reflected = vgather_near_u8(t33, vsplat_i32(-1), vsplat_u8(0));
    const int32_t t35 = t26 + (8*a); /* near_lanes.py:12 */
    const int t36 = lanes_below(t35, n);
    const vi32 t39 = vmax_i32(vramp_i32(t27, 1), vsplat_i32(0));
    const vi32 t40 = vmin_i32(t39, vsplat_i32(n));
    const vi64 t41 = vto_i64(t40);
    const vi64 t42 = t41 * (int64_t)2ll;
    vu64 t43 = vsplat_u64((uint64_t)(y)) + vto_u64(t42);
    const vi32 t16 = vload_i32(t49 + 32*a); /* near_lanes.py:13 */
    const vi64 t50 = vto_i64(t16);
    vu64 t51 = vsplat_u64((uint64_t)(x)) + vto_u64(t50);
    const vu8 chosen = vgather_u8(t51);
    const vu8 t52 = reflected + chosen; /* near_lanes.py:14 */
    const vf32 t53 = vto_f32_u8(t52);
    clamped = vsplat_f32(0); /* near_lanes.py:12 */
    clamped = vgather_near_bf16(t43, vfirst(t36), clamped);
    const vf32 t54 = clamped; /* near_lanes.py:14 */
    t55[a] = t53 + t54;
  }
  char *t57 = z + t45;
  char *t60 = t57 + t48;
  for (int a = 0; a < 4; a++) {
    vstream_f32(t60 + 32*a, t55[a], stream);
  }
}

/* About how many nanoseconds a program takes. */
static double near_lanes_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 56.84;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void near_lanes_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, near_lanes_program, 0, n > 262144, false};
  launch_all(&launch, team, (double)n * near_lanes_ns(args, grid));
}
