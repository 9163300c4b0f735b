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
#ifndef NEREID_HOLDING
#define NEREID_HOLDING
/* A program whose loops add to several vectors of sums: at less than -O2, GCC keeps these
 * in memory. */
#ifdef __clang__
#define HOLDING static
#else
#define HOLDING static __attribute__((optimize("O2")))
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
#ifndef NEREID_vsplat_f32
#define NEREID_vsplat_f32
INLINE vf32 vsplat_f32(float x) { return (vf32){REPEAT(x)}; }
#endif
#ifndef NEREID_vload_f32
#define NEREID_vload_f32
INLINE vf32 vload_f32(const char *p) {
  vf32 v;
  memcpy(&v, p, sizeof v);
  return v;
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
#ifndef NEREID_vramp_i32
#define NEREID_vramp_i32
/* x, x + step, ... */
INLINE vi32 vramp_i32(int32_t x, int32_t step) { return x + (vi32){FIRST_LANES} * step; }
#endif
#ifndef NEREID_vsum_rows_f32
#define NEREID_vsum_rows_f32
/* Lane i is the sum of the lanes of vector i.  Each step adds lanes of two vectors: half
 * of them are where they were, and half exchanged. */
INLINE vf32 vsum_rows_f32(vf32 *v) {
#if LANES * 32 <= REGISTER_BITS && !defined(__clang__)
  UNROLL(4) for (int by = 1; by < LANES; by *= 2)
    UNROLL(16) for (int i = 0; i < LANES; i += 2 * by) {
      const vi32 lane = vramp_i32(0, 1), second = (lane & by) != 0;
      const vf32 a = v[i], b = v[i + by];
      const vf32 there = __builtin_shuffle(a, b, lane + (second & LANES));
#ifdef __AVX512F__
      v[i] = there + __builtin_shuffle(a, b, (lane ^ by) + (second & LANES));
#else
      const vf32 here = __builtin_shuffle(b, a, lane + (second & LANES));
      v[i] = there + __builtin_shuffle(here, lane ^ by);
#endif
    }
  return v[0];
#else
  vf32 sums = {0};
  for (int i = 0; i < LANES; i++)
    for (int l = 0; l < LANES; l++) sums[i] += v[i][l];
  return sums;
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

/* Kernel by_rows of along_lanes.py. */
/* One program; its lanes run together. */
HOLDING void by_rows_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *a_ptr = (char *)load_u64(args + 0);
  char *b_ptr = (char *)load_u64(args + 8);
  char *out_ptr = (char *)load_u64(args + 16);
  vf32 b;
  vf32 t7[8];
  bool t14[32];
  const int32_t lane = 0; /* along_lanes.py:10 */
  const int32_t t11 = lane * 4;
  const int32_t t17 = lane * 128;
  const int64_t t12 = (int64_t)t11; /* along_lanes.py:13 */
  char *t13 = a_ptr + t12;
  for (int b_2 = 0; b_2 < 32; b_2++) { /* along_lanes.py:14 */
    t14[b_2] = (b_2) < 30;
  }
  char *t16 = b_ptr + t12;
  const int32_t lane_1 = 0; /* along_lanes.py:13 */
  const int64_t t20 = (int64_t)lane_1;
  const int64_t t21 = t20 * (-4ll);
  char *t22 = t13 + t21;
  for (int b_2_first = 0; b_2_first < 32; b_2_first += LANES) { /* along_lanes.py:14 */
    vf32 parts[2][LANES];
    UNROLL(8) for (int row = 0; row < LANES; row++) {
      const int b_2 = b_2_first + row;
      parts[0][row] = vsplat_f32(0.0f);
      parts[1][row] = vsplat_f32(0.0f);
      UNROLL(8) for (int a_2 = 0; a_2 < 8; a_2++) {
        b = vsplat_f32(0.0f);
        if (t14[b_2]) b = vload_f32(t16 + 32*a_2 + 256*b_2);
        UNROLL(2) for (int a_3 = 0; a_3 < 2; a_3++) parts[a_3][row] = vfma_f32(vload_f32(t22 + 256*a_3 + 32 * a_2), b, parts[a_3][row]); /* along_lanes.py:15 */
      }
    }
    UNROLL(2) for (int a_2 = 0; a_2 < 2; a_2++) t7[4*a_2 + 2*(b_2_first / LANES / 2) + (b_2_first / LANES % 2)] = vsum_rows_f32(parts[a_2]);
  }
  char *t19 = out_ptr + t12;
  UNROLL(2) for (int a_2 = 0; a_2 < 2; a_2++) {
    for (int b_2 = 0; b_2 < 4; b_2++) {
      vstream_f32(t19 + 128*a_2 + 32*b_2, t7[4*a_2 + b_2], stream);
    }
  }
}

/* About how many nanoseconds a program takes. */
static double by_rows_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 1020.92;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void by_rows_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, by_rows_program, 8192, n > 131072, false};
  launch_all(&launch, team, (double)n * by_rows_ns(args, grid));
}
