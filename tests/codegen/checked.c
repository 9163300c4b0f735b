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
#ifndef NEREID_REACH
#define NEREID_REACH
/* Where each argument's memory begins and ends, 0 and 0 if unknown; or NULL. */
#ifndef REACH
#define REACH(args) NULL
#endif
#endif
#ifndef NEREID_outside
#define NEREID_outside
/* Of argument i. */
INLINE bool outside(const uint64_t *reach, int i, uint64_t at, uint64_t bytes) {
  if (!reach || !reach[2 * i + 1]) return false;
  return at < reach[2 * i] || at + bytes > reach[2 * i + 1] || at + bytes < at;
}
#endif
#ifndef NEREID_FAILED
#define NEREID_FAILED
#ifndef FAILED
#define FAILED(text, x, y, z) \
  (__builtin_printf("%s\n", text), __builtin_abort())
#endif
#endif
#ifndef NEREID_load_f32
#define NEREID_load_f32
INLINE float load_f32(const char *p) {
  float x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vramp_i64
#define NEREID_vramp_i64
/* x, x + step, ... */
INLINE vi64 vramp_i64(int64_t x, int64_t step) { return x + (vi64){FIRST_LANES} * step; }
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
#ifndef NEREID_vto_i64
#define NEREID_vto_i64
#define vto_i64(v) __builtin_convertvector(v, vi64)
#endif
#ifndef NEREID_vramp_i32
#define NEREID_vramp_i32
/* x, x + step, ... */
INLINE vi32 vramp_i32(int32_t x, int32_t step) { return x + (vi32){FIRST_LANES} * step; }
#endif
#ifndef NEREID_vge_i64
#define NEREID_vge_i64
INLINE vi32 vge_i64(vi64 a, vi64 b) {
#if LANES * 64 <= REGISTER_BITS
  return __builtin_convertvector(a >= b, vi32);
#else
  vi32 r;
  EACH_LANE(i) r[i] = a[i] >= b[i] ? -1 : 0;
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
#ifndef NEREID_vle_i64
#define NEREID_vle_i64
INLINE vi32 vle_i64(vi64 a, vi64 b) {
#if LANES * 64 <= REGISTER_BITS
  return __builtin_convertvector(a <= b, vi32);
#else
  vi32 r;
  EACH_LANE(i) r[i] = a[i] <= b[i] ? -1 : 0;
  return r;
#endif
}
#endif
#ifndef NEREID_vfails
#define NEREID_vfails
/* Is x false in a lane of m? */
INLINE bool vfails(vi32 m, vi32 x) {
  bool fails = false;
  EACH_LANE(l) fails |= m[l] && !x[l];
  return fails;
}
#endif
#ifndef NEREID_vsplat_i32
#define NEREID_vsplat_i32
INLINE vi32 vsplat_i32(int32_t x) { return (vi32){REPEAT(x)}; }
#endif
#ifndef NEREID_voutside
#define NEREID_voutside
/* Is an address outside in a lane of m? */
RARE bool voutside(const uint64_t *reach, int i, vi32 m, vu64 at, uint64_t bytes) {
  bool some = false;
  EACH_LANE(l) some |= m[l] && outside(reach, i, at[l], bytes);
  return some;
}
#endif
#ifndef NEREID_vfirst
#define NEREID_vfirst
/* The mask of the first n lanes. */
INLINE vi32 vfirst(int n) { return vramp_i32(0, 1) < vsplat_i32(n); }
#endif
#ifndef NEREID_vramp_u64
#define NEREID_vramp_u64
/* x, x + step, ... */
INLINE vu64 vramp_u64(uint64_t x, uint64_t step) { return x + (vu64){FIRST_LANES} * step; }
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
#ifndef NEREID_store_f32
#define NEREID_store_f32
INLINE void store_f32(char *p, float x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_vscatter_f32
#define NEREID_vscatter_f32
INLINE void vscatter_f32(vu64 p, vf32 v) { EACH_LANE(i) store_f32((char *)p[i], v[i]); }
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

/* Kernel checked of checked.py. */
/* One program; its lanes run together. */
static void checked_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x = (char *)load_u64(args + 0);
  char *o = (char *)load_u64(args + 8);
  int32_t n = load_i32(args + 16);
  const uint64_t *const reach = REACH(args);
  vf32 s[2];
  int64_t p;
  vf32 t2[2];
  int t18[2];
  vu64 t34[2];
  const int32_t lane = 0; /* checked.py:8 */
  const int32_t t19 = lane * 4;
  if (outside(reach, 0, (uint64_t)(x), 4)) { /* checked.py:11 */
    FAILED("checked.py:11: an access is outside of the memory of argument `x`", pid_0, pid_1, pid_2);
    return;
  }
  const float t0 = load_f32(x);
  const float t16 = t0 + 0.0f; /* checked.py:12 */
  p = 0ll;
  const int64_t t6 = (int64_t)16;
  const int64_t t20 = (int64_t)t19; /* checked.py:13 */
  char *t21 = x + t20;
  const int64_t t8 = (int64_t)n; /* checked.py:15 */
  const vi64 t32 = t8 * vramp_i64(t20, 4);
  vu64 t33 = vsplat_u64((uint64_t)(o)) + vto_u64(t32);
  UNROLL(2) for (int a = 0; a < 2; a++) { /* checked.py:12 */
    s[a] = vsplat_f32(t16);
    const int32_t t17 = lane + (8*a); /* checked.py:13 */
    t18[a] = lanes_below(t17, n);
    const vi64 t25 = vto_i64(vramp_i32(t17, 1)); /* checked.py:15 */
    const vi64 t26 = t25 * t8;
    const vi32 t27 = vge_i64(t26, vsplat_i64((-2147483648ll)));
    const vi32 t28 = vle_i64(t26, vsplat_i64(2147483647ll));
    const vi32 t29 = t27 & t28;
    if (vfails(vsplat_i32(-1), t29)) {
      FAILED("checked.py:15: assertion failed: int32 overflow detected for operation mul", pid_0, pid_1, pid_2);
      return;
    }
    const int64_t t36 = t8 * (int64_t)(32*a);
    t34[a] = t33 + vto_u64(vsplat_i64(t36));
  }
  for (int64_t k_at = 0; k_at < n; k_at += 1) { /* checked.py:12 */
    const int32_t k = (int32_t)k_at;
    const int64_t t22 = p * 4ll; /* checked.py:13 */
    char *t23 = t21 + t22;
    UNROLL(2) for (int a = 0; a < 2; a++) {
      if (voutside(reach, 0, vfirst(t18[a]), vramp_u64((uint64_t)(t23 + 32*a), 4), 4)) {
        FAILED("checked.py:13: an access is outside of the memory of argument `x`", pid_0, pid_1, pid_2);
        return;
      }
      t2[a] = vload_upto_f32(t23 + 32*a, t18[a], vsplat_f32(0));
      s[a] = s[a] + t2[a];
    }
    const int64_t t7 = p + t6; /* checked.py:12 */
    p = t7;
  }
  UNROLL(2) for (int a = 0; a < 2; a++) { /* checked.py:15 */
    if (voutside(reach, 1, vsplat_i32(-1), t34[a], 4)) {
      FAILED("checked.py:15: an access is outside of the memory of argument `o`", pid_0, pid_1, pid_2);
      return;
    }
    vscatter_f32(t34[a], s[a]);
  }
}

/* About how many nanoseconds a program takes. */
static double checked_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 15.22
      + loop_trips(0.0, (double)load_i32(args + 16), 1.0) * 2.52;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void checked_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, checked_program, 0, false, false};
  launch_all(&launch, team, (double)n * checked_ns(args, grid));
}
