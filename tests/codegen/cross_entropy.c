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
#ifndef NEREID_load_i64
#define NEREID_load_i64
INLINE int64_t load_i64(const char *p) {
  int64_t x;
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
#ifndef NEREID_vload_f32
#define NEREID_vload_f32
INLINE vf32 vload_f32(const char *p) {
  vf32 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif
#ifndef NEREID_load_f32
#define NEREID_load_f32
INLINE float load_f32(const char *p) {
  float x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vload_some_f32
#define NEREID_vload_some_f32
#if LANE_SETS && defined(LOAD_32)
INLINE vf32 vload_some_f32(const char *p, int n, vf32 v) {
  return (vf32)LOAD_32(p, v, FIRST_SET(n));
}
#else
RARE vf32 vload_some_f32(const char *p, int n, vf32 v) {
  float x[LANES];
  memcpy(x, &v, sizeof v);
  for (int i = 0; i < n; i++) x[i] = load_f32(p + i * sizeof *x);
  memcpy(&v, x, sizeof v);
  return v;
}
#endif
#endif
#ifndef NEREID_vload_first_f32
#define NEREID_vload_first_f32
INLINE vf32 vload_first_f32(const char *p, int n, vf32 v) {
  return n > 0 ? vload_some_f32(p, n, v) : v;
}
#endif
#ifndef NEREID_vload_upto_f32
#define NEREID_vload_upto_f32
#if LANE_SETS && defined(__AVX512VL__) && defined(LOAD_32)
INLINE vf32 vload_upto_f32(const char *p, int n, vf32 v) {
  return (vf32)LOAD_32(p, v, FIRST_SET(n > 0 ? n : 0));
}
#else
INLINE vf32 vload_upto_f32(const char *p, int n, vf32 v) {
  return n == LANES ? vload_f32(p) : vload_first_f32(p, n, v);
}
#endif
#endif
#ifndef NEREID_vselect_f32
#define NEREID_vselect_f32
INLINE vf32 vselect_f32(vi32 m, vf32 a, vf32 b) {
  return (vf32)(((vi32)a & m) | ((vi32)b & ~m));
}
#endif
#ifndef NEREID_vmax_f32
#define NEREID_vmax_f32
INLINE vf32 vmax_f32(vf32 a, vf32 b) {
  vf32 r = vselect_f32(a > b, a, b);
  r = (vf32)((vi32)r & ((vi32)a | (a != b)));
  return vselect_f32(b != b, a, r);
}
#endif
#ifndef NEREID_max_f32
#define NEREID_max_f32
INLINE float max_f32(float a, float b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return a > b || b != b ? a : b;
}
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
#ifndef NEREID_fma_f32
#define NEREID_fma_f32
INLINE float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif
#ifndef NEREID_vfma_f32
#define NEREID_vfma_f32
INLINE vf32 vfma_f32(vf32 a, vf32 b, vf32 c) {
#if LANES * 32 == 512 && defined(__AVX512F__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
#elif LANES * 32 == 256 && defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps256(a, b, c);
#elif LANES * 32 == 128 && defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps(a, b, c);
#else
  vf32 r;
  EACH_LANE(i) r[i] = fma_f32(a[i], b[i], c[i]);
  return r;
#endif
}
#endif
#ifndef NEREID_vmadd_f32
#define NEREID_vmadd_f32
/* a * b + c, rounded once where that is quicker. */
INLINE vf32 vmadd_f32(vf32 a, vf32 b, vf32 c) {
#if defined(__FMA__) || defined(__aarch64__)
  return vfma_f32(a, b, c);
#else
  return a * b + c;
#endif
}
#endif
#ifndef NEREID_vexp2_f32
#define NEREID_vexp2_f32
/* 2^x, 1 ulp: 2^n * p(f), where x = n + f.  Near 0, where most x are, 2^n is added to p's
   exponent; else it is multiplied in two steps, since it may be no normal number. */
INLINE vf32 vexp2_f32(vf32 x) {
  const bool far = vany(((vi32)x & 0x7fffffff) > 0x42f80000);
  if (far) {
    x = vselect_f32(x > 129.0f, vsplat_f32(129.0f), x);
    x = vselect_f32(x < -151.0f, vsplat_f32(-151.0f), x);
  }
  const vf32 shifted = x + 12582912.0f;
  const vf32 f = x - (shifted - 12582912.0f);
  vf32 p = vsplat_f32(1.53533619e-04f);
  p = vmadd_f32(p, f, vsplat_f32(1.33988744e-03f));
  p = vmadd_f32(p, f, vsplat_f32(9.61843736e-03f));
  p = vmadd_f32(p, f, vsplat_f32(5.55033247e-02f));
  p = vmadd_f32(p, f, vsplat_f32(2.40226479e-01f));
  p = vmadd_f32(p, f, vsplat_f32(6.93147203e-01f));
  p = vmadd_f32(p, f, vsplat_f32(1.0f));
  if (!far) return (vf32)((vi32)p + ((vi32)shifted << 23));
  const vi32 n = (vi32)shifted - 0x4b400000, half = n >> 1;
  return p * (vf32)((half + 127) << 23) * (vf32)((n - half + 127) << 23);
}
#endif
#ifndef NEREID_bits_f32
#define NEREID_bits_f32
INLINE uint32_t bits_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
#endif
#ifndef NEREID_from_bits_f32
#define NEREID_from_bits_f32
INLINE float from_bits_f32(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
#endif
#ifndef NEREID_store_f32
#define NEREID_store_f32
INLINE void store_f32(char *p, float x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_vto_i64
#define NEREID_vto_i64
#define vto_i64(v) __builtin_convertvector(v, vi64)
#endif
#ifndef NEREID_veq_i64
#define NEREID_veq_i64
INLINE vi32 veq_i64(vi64 a, vi64 b) {
#if LANES * 64 <= REGISTER_BITS
  return __builtin_convertvector(a == b, vi32);
#else
  vi32 r;
  EACH_LANE(i) r[i] = a[i] == b[i] ? -1 : 0;
  return r;
#endif
}
#endif
#ifndef NEREID_vsplat_i64
#define NEREID_vsplat_i64
/* GCC makes a vector of two registers element by element, in memory, in each turn. */
INLINE vi64 vsplat_i64(int64_t x) {
#if LANES * 64 == 2 * REGISTER_BITS && !defined(__clang__)
  typedef int64_t half __attribute__((vector_size(LANES / 2 * sizeof(int64_t))));
  const half halves[2] = {x - (half){0}, x - (half){0}};
  vi64 v;
  __builtin_memcpy(&v, halves, sizeof v);
  return v;
#else
  return (vi64){REPEAT(x)};
#endif
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
#ifndef NEREID_vstore_some_f32
#define NEREID_vstore_some_f32
#if LANE_SETS && defined(STORE_32)
INLINE void vstore_some_f32(char *p, int n, vf32 v) { STORE_32(p, v, FIRST_SET(n)); }
#else
RARE void vstore_some_f32(char *p, int n, vf32 v) {
  for (int i = 0; i < n; i++) store_f32(p + i * sizeof(float), v[i]);
}
#endif
#endif
#ifndef NEREID_vstore_first_f32
#define NEREID_vstore_first_f32
INLINE void vstore_first_f32(char *p, int n, vf32 v) {
  if (n > 0) vstore_some_f32(p, n, v);
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

/* Kernel cross_entropy of ../../examples/kernels/cross_entropy.py. */
/* One program; its lanes run together. */
static void cross_entropy_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *logits_ptr = (char *)load_u64(args + 0);
  char *target_ptr = (char *)load_u64(args + 8);
  char *loss_ptr = (char *)load_u64(args + 16);
  char *grad_ptr = (char *)load_u64(args + 24);
  int32_t n_classes = load_i32(args + 32);
  int32_t ignore_index = load_i32(args + 40);
  float total;
  float largest;
  vf32 x[32];
  float at_target;
  vf32 x_1;
  const int32_t lane = 0; /* ../../examples/kernels/cross_entropy.py:14 */
  const int32_t t69 = lane * 4;
  const int t85 = 1;
  const int32_t t0 = (int32_t)pid_0; /* ../../examples/kernels/cross_entropy.py:16 */
  const int64_t row = (int64_t)t0;
  const int64_t t1 = (int64_t)n_classes; /* ../../examples/kernels/cross_entropy.py:17 */
  const int64_t t2 = row * t1;
  char *logits_ptr_1 = logits_ptr + 4 * t2;
  char *t3 = target_ptr + 8 * row; /* ../../examples/kernels/cross_entropy.py:18 */
  const int64_t target = load_i64(t3);
  const int64_t t4 = (int64_t)ignore_index; /* ../../examples/kernels/cross_entropy.py:19 */
  const bool counted = target != t4;
  total = 0.0f; /* ../../examples/kernels/cross_entropy.py:23 */
  largest = (-__builtin_inff());
  const int64_t t70 = (int64_t)t69; /* ../../examples/kernels/cross_entropy.py:25 */
  char *t71 = logits_ptr_1 + t70;
  for (int64_t start_at = 0; start_at < n_classes; start_at += 256) { /* ../../examples/kernels/cross_entropy.py:23 */
    const int32_t start = (int32_t)start_at;
    vf32 x_2[4];
    vf32 x_3;
    vf32 t80[4];
    vf32 t81;
    const int32_t t66 = lane + start; /* ../../examples/kernels/cross_entropy.py:25 */
    const int64_t t72 = (int64_t)start;
    const int64_t t73 = t72 * 4ll;
    char *t74 = t71 + t73;
    UNROLL(4) for (int a = 0; a < 4; a++) { /* ../../examples/kernels/cross_entropy.py:27 */
      x_2[a] = vsplat_f32(__builtin_nanf(""));
      t80[a] = vsplat_f32((-0.0f)); /* ../../examples/kernels/cross_entropy.py:28 */
    }
    for (int a = 0; a < 8; a++) { /* ../../examples/kernels/cross_entropy.py:25 */
      UNROLL(4) for (int a_2 = 0; a_2 < 4; a_2++) {
        x[4*a + a_2] = vsplat_f32((-__builtin_inff()));
        const int32_t t67 = t66 + (32*a + 8*a_2);
        const int t68 = lanes_below(t67, n_classes);
        x[4*a + a_2] = vload_upto_f32(t74 + 128*a + 32*a_2, t68, x[4*a + a_2]);
        x_2[a_2] = vmax_f32(x_2[a_2], x[4*a + a_2]); /* ../../examples/kernels/cross_entropy.py:27 */
      }
    }
    x_3 = x_2[0];
    UNROLL(3) for (int r = 0; r < 3; r++) {
      x_3 = vmax_f32(x_3, x_2[r + 1]);
    }
    const vf32 t75 = __builtin_shufflevector(x_3, x_3, 4, 5, 6, 7, 0, 1, 2, 3);
    x_3 = vmax_f32(x_3, t75);
    const vf32 t76 = __builtin_shufflevector(x_3, x_3, 2, 3, 0, 1, 6, 7, 4, 5);
    x_3 = vmax_f32(x_3, t76);
    const vf32 t77 = __builtin_shufflevector(x_3, x_3, 1, 0, 3, 2, 5, 4, 7, 6);
    x_3 = vmax_f32(x_3, t77);
    const float t8 = x_3[0];
    const float new_largest = max_f32(largest, t8);
    const float t9 = largest - new_largest; /* ../../examples/kernels/cross_entropy.py:28 */
    const float t10 = t9 * 1.442695f;
    const float t11 = (vexp2_f32(vsplat_f32(t10)))[0];
    for (int a = 0; a < 8; a++) {
      UNROLL(4) for (int a_2 = 0; a_2 < 4; a_2++) {
        const vf32 t78 = x[4*a + a_2] - new_largest;
        const vf32 t79 = t78 * 1.442695f;
        const vf32 t14 = vexp2_f32(t79);
        t80[a_2] = t80[a_2] + t14;
      }
    }
    t81 = t80[0];
    UNROLL(3) for (int r = 0; r < 3; r++) {
      t81 = t81 + t80[r + 1];
    }
    const vf32 t82 = __builtin_shufflevector(t81, t81, 4, 5, 6, 7, 0, 1, 2, 3);
    t81 = t81 + t82;
    const vf32 t83 = __builtin_shufflevector(t81, t81, 2, 3, 0, 1, 6, 7, 4, 5);
    t81 = t81 + t83;
    const vf32 t84 = __builtin_shufflevector(t81, t81, 1, 0, 3, 2, 5, 4, 7, 6);
    t81 = t81 + t84;
    const float t15 = t81[0];
    const float total_1 = fma_f32(total, t11, t15);
    total = total_1; /* ../../examples/kernels/cross_entropy.py:23 */
    largest = new_largest;
  }
  const bool t16 = total < 1.1754944e-38f; /* ../../examples/kernels/cross_entropy.py:30 */
  const float t17 = total * 8388608.0f;
  const float t18 = t16 ? t17 : total;
  const int32_t t19 = (int32_t)bits_f32(t18);
  const int32_t t20 = t19 - 1059760811;
  const int32_t t21 = t20 & (-8388608);
  const int32_t t22 = t21 >> 23;
  const int32_t t23 = t16 ? 23 : 0;
  const int32_t t24 = t22 - t23;
  const float t25 = (float)t24;
  const int32_t t26 = t19 - t21;
  const float t27 = from_bits_f32(t26);
  const float t28 = t27 - 1.0f;
  const float t29 = fma_f32(t28, (-0.13183874f), 0.13961938f);
  const float t30 = fma_f32(t29, t28, (-0.12116906f));
  const float t31 = fma_f32(t30, t28, 0.14011042f);
  const float t32 = fma_f32(t31, t28, (-0.16685338f));
  const float t33 = fma_f32(t32, t28, 0.20010035f);
  const float t34 = fma_f32(t33, t28, (-0.24999692f));
  const float t35 = fma_f32(t34, t28, 0.33333224f);
  const float t36 = t28 * t28;
  const float t37 = fma_f32(t35, t28, (-0.5f));
  const float t38 = fma_f32(t36, t37, t28);
  const float t39 = fma_f32(t25, 0.6931472f, t38);
  const bool t40 = total == 0.0f;
  const float t41 = t40 ? (-__builtin_inff()) : __builtin_nanf("");
  const bool t42 = total > 0.0f;
  const bool t43 = total < __builtin_inff();
  const float t44 = t43 ? t39 : total;
  const float t45 = t42 ? t44 : t41;
  const float log_total = largest + t45;
  char *t46 = logits_ptr_1 + 4 * target; /* ../../examples/kernels/cross_entropy.py:32 */
  at_target = 0.0f;
  if (counted) at_target = load_f32(t46);
  char *t47 = loss_ptr + 4 * row; /* ../../examples/kernels/cross_entropy.py:33 */
  const float t48 = log_total - at_target;
  const float t49 = counted ? t48 : 0.0f;
  if (t85 > 0) store_f32(t47, t49);
  char *grad_ptr_1 = grad_ptr + 4 * t2; /* ../../examples/kernels/cross_entropy.py:36 */
  char *t108 = grad_ptr_1 + t70; /* ../../examples/kernels/cross_entropy.py:42 */
  for (int64_t start_1_at = 0; start_1_at < n_classes; start_1_at += 256) { /* ../../examples/kernels/cross_entropy.py:37 */
    const int32_t start_1 = (int32_t)start_1_at;
    const int32_t t86 = lane + start_1; /* ../../examples/kernels/cross_entropy.py:40 */
    const int64_t t91 = (int64_t)start_1;
    const int64_t t92 = t91 * 4ll;
    char *t93 = t71 + t92;
    char *t111 = t108 + t92; /* ../../examples/kernels/cross_entropy.py:42 */
    for (int a = 0; a < 32; a++) { /* ../../examples/kernels/cross_entropy.py:40 */
      x_1 = vsplat_f32(0.0f);
      const int32_t t87 = t86 + (8*a);
      const int t88 = lanes_below(t87, n_classes);
      x_1 = vload_upto_f32(t93 + 32*a, t88, x_1);
      const vf32 t97 = x_1 - log_total; /* ../../examples/kernels/cross_entropy.py:42 */
      const vf32 t98 = t97 * 1.442695f;
      const vf32 t99 = vexp2_f32(t98);
      const vi64 t102 = vto_i64(vramp_i32(t87, 1));
      const vi32 t103 = veq_i64(t102, vsplat_i64(target));
      const vf32 t104 = vselect_f32(t103, vsplat_f32(1.0f), vsplat_f32(0.0f));
      const vf32 t105 = t99 - t104;
      const vf32 t106 = counted ? t105 : vsplat_f32(0.0f);
      if (t88 == LANES) vstream_f32(t111 + 32*a, t106, stream);
      else vstore_first_f32(t111 + 32*a, t88, t106);
    }
  }
}

/* About how many nanoseconds a program takes. */
static double cross_entropy_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 9.56
      + loop_trips(0.0, (double)load_i32(args + 32), 256.0) * 85.88
      + loop_trips(0.0, (double)load_i32(args + 32), 256.0) * 124.56;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void cross_entropy_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, cross_entropy_program, 0, n > 32768, false};
  launch_all(&launch, team, (double)n * cross_entropy_ns(args, grid));
}
