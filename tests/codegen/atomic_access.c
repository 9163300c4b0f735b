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
#ifndef NEREID_vselect_i32
#define NEREID_vselect_i32
INLINE vi32 vselect_i32(vi32 m, vi32 a, vi32 b) {
  return (vi32)(((vi32)a & m) | ((vi32)b & ~m));
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
#ifndef NEREID_VALUE_i32
#define NEREID_VALUE_i32
#define VALUE_i32(x) (x)
#endif
#ifndef NEREID_load_i32
#define NEREID_load_i32
INLINE int32_t load_i32(const char *p) {
  int32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_atomic_load_i32
#define NEREID_atomic_load_i32
INLINE int32_t atomic_load_i32(char *p, int32_t x, int order) {
  (void)x;
  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
  uint32_t now = __atomic_load_n((uint32_t *)p, o);
  return load_i32((char *)&now);
}
#endif
#ifndef NEREID_vatomic_load_i32
#define NEREID_vatomic_load_i32
INLINE vi32 vatomic_load_i32(vu64 p, vi32 m, vi32 x, int order) {
  vi32 before = x;
  EACH_LANE(i) if (m[i])
    before[i] = VALUE_i32(atomic_load_i32((char *)p[i], x[i], order));
  return before;
}
#endif
#ifndef NEREID_vramp_u64
#define NEREID_vramp_u64
/* x, x + step, ... */
INLINE vu64 vramp_u64(uint64_t x, uint64_t step) { return x + (vu64){FIRST_LANES} * step; }
#endif
#ifndef NEREID_store_i32
#define NEREID_store_i32
INLINE void store_i32(char *p, int32_t x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_vscatter_mask_i32
#define NEREID_vscatter_mask_i32
INLINE void vscatter_mask_i32(vu64 p, vi32 m, vi32 v) {
  EACH_LANE(i) if (m[i]) store_i32((char *)p[i], v[i]);
}
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
#ifndef NEREID_wait_turn
#define NEREID_wait_turn
/* A launch of programs that wait for others, as they see it. */
struct Waiting {
  /* Of a program that waits at `where`: lets others run.  True: it is to end. */
  bool (*wait)(Waiting *waiting, const char *where, const uint32_t program[3]);
};
extern int program_yield(void) __asm__("sched_yield");
extern int program_tell(int file, const char *format, ...) __asm__("dprintf");
/* After an iteration of a loop that waits: others may have the core now and then.
 * Without a team it tells that programs after this one can't end its waiting. */
INLINE bool wait_turn(Waiting *waiting, uint32_t *turns, const char *where, uint32_t x,
    uint32_t y, uint32_t z) {
  if (++*turns % 64) return false;
  if (!waiting && *turns == 1u << 26)
    program_tell(2,
        "%s: program (%u, %u, %u) waits, and those after it run when it has ended: "
        "launch it with a team of threads\n",
        where, x, y, z);
  if (!waiting) return program_yield(), false;
  return waiting->wait(waiting, where, (const uint32_t[]){x, y, z});
}
#endif
#ifndef NEREID_VALUE_f32
#define NEREID_VALUE_f32
#define VALUE_f32(x) (x)
#endif
#ifndef NEREID_load_f32
#define NEREID_load_f32
INLINE float load_f32(const char *p) {
  float x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_atomic_load_f32
#define NEREID_atomic_load_f32
INLINE float atomic_load_f32(char *p, float x, int order) {
  (void)x;
  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
  uint32_t now = __atomic_load_n((uint32_t *)p, o);
  return load_f32((char *)&now);
}
#endif
#ifndef NEREID_vatomic_load_f32
#define NEREID_vatomic_load_f32
INLINE vf32 vatomic_load_f32(vu64 p, vi32 m, vf32 x, int order) {
  vf32 before = x;
  EACH_LANE(i) if (m[i])
    before[i] = VALUE_f32(atomic_load_f32((char *)p[i], x[i], order));
  return before;
}
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
#ifndef NEREID_vlt_f32
#define NEREID_vlt_f32
INLINE vi32 vlt_f32(vf32 a, vf32 b) { return a < b; }
#endif
#ifndef NEREID_veq_f32
#define NEREID_veq_f32
INLINE vi32 veq_f32(vf32 a, vf32 b) { return a == b; }
#endif
#ifndef NEREID_vgt_f32
#define NEREID_vgt_f32
INLINE vi32 vgt_f32(vf32 a, vf32 b) { return a > b; }
#endif
#ifndef NEREID_vto_u8_i32
#define NEREID_vto_u8_i32
INLINE vu8 vto_u8_i32(vi32 x) {
#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)
  typedef char bytes VECTOR(char);
  return (vu8)__builtin_ia32_pmovdb512_mask((vi32)x, (bytes){0}, -1);
#elif LANES <= 8 && defined(__SSE2__) && !defined(__clang__)
  typedef uint8_t bytes __attribute__((vector_size(4 * LANES)));
#if LANES == 8
  return __builtin_shufflevector((bytes)x, (bytes)x, 0, 4, 8, 12, 16, 20, 24, 28);
#else
  return __builtin_shufflevector((bytes)x, (bytes)x, 0, 4, 8, 12);
#endif
#else
  return __builtin_convertvector(x, vu8);
#endif
}
#endif
#ifndef NEREID_vtruncate_u8_f32
#define NEREID_vtruncate_u8_f32
/* Towards zero, saturating; NaN gives 0. */
INLINE vu8 vtruncate_u8_f32(vf32 x) {
  const bool is_signed = (uint8_t)-1 < 0;
  const float max = (float)((1 << (8 - is_signed)) - 1), min = is_signed ? -max - 1 : 0;
  x = vselect_f32(vlt_f32(x, vsplat_f32(max)), x, vselect_f32(veq_f32(x, x), vsplat_f32(max),
                                                         vsplat_f32(0)));
  x = vselect_f32(vgt_f32(x, vsplat_f32(min)), x, vsplat_f32(min));
  return vto_u8_i32(__builtin_convertvector(x, vi32));
}
#endif
#ifndef NEREID_VALUE_u8
#define NEREID_VALUE_u8
#define VALUE_u8(x) (x)
#endif
#ifndef NEREID_store_u8
#define NEREID_store_u8
INLINE void store_u8(char *p, uint8_t x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_atomic_store_u8
#define NEREID_atomic_store_u8
INLINE uint8_t atomic_store_u8(char *p, uint8_t x, int order) {
  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
  uint8_t now;
  store_u8((char *)&now, x);
  __atomic_store_n((uint8_t *)p, now, o);
  return x;
}
#endif
#ifndef NEREID_vatomic_store_u8
#define NEREID_vatomic_store_u8
INLINE vu8 vatomic_store_u8(vu64 p, vi32 m, vu8 x, int order) {
  vu8 before = x;
  EACH_LANE(i) if (m[i])
    before[i] = VALUE_u8(atomic_store_u8((char *)p[i], x[i], order));
  return before;
}
#endif
#ifndef NEREID_atomic_store_i32
#define NEREID_atomic_store_i32
INLINE int32_t atomic_store_i32(char *p, int32_t x, int order) {
  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
  uint32_t now;
  store_i32((char *)&now, x);
  __atomic_store_n((uint32_t *)p, now, o);
  return x;
}
#endif
#ifndef NEREID_vatomic_store_i32
#define NEREID_vatomic_store_i32
INLINE vi32 vatomic_store_i32(vu64 p, vi32 m, vi32 x, int order) {
  vi32 before = x;
  EACH_LANE(i) if (m[i])
    before[i] = VALUE_i32(atomic_store_i32((char *)p[i], x[i], order));
  return before;
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

/* Kernel handed_over of atomic_access.py. */
/* One program; its lanes run together. */
static void handed_over_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x_ptr = (char *)load_u64(args + 0);
  char *flag_ptr = (char *)load_u64(args + 8);
  char *out_ptr = (char *)load_u64(args + 16);
  bool seen;
  bool seen_1;
  vu8 t9[16];
  vi32 t10[16];
  vi32 t15;
  vi32 t16;
  const int32_t lane = 0; /* atomic_access.py:8 */
  const int t14 = 1;
  const int32_t t17 = lane * 4;
  t15 = vselect_i32(vfirst(t14), vatomic_load_i32(vramp_u64((uint64_t)(flag_ptr), 0), vfirst(t14), vsplat_i32(0), __ATOMIC_ACQUIRE), t15); /* atomic_access.py:10 */
  vscatter_mask_i32(vsplat_u64((uint64_t)(shared)), vfirst(t14), t15);
  const int32_t t0 = load_i32(shared);
  const bool t2 = t0 == 1;
  seen = t2;
  for (uint32_t turns = 0;;) {
    const bool t3 = !seen;
    seen_1 = seen;
    const bool cond = t3;
    if (!cond) break;
    t16 = vselect_i32(vfirst(t14), vatomic_load_i32(vramp_u64((uint64_t)(flag_ptr), 0), vfirst(t14), vsplat_i32(0), __ATOMIC_ACQUIRE), t16);
    vscatter_mask_i32(vsplat_u64((uint64_t)(shared + 16)), vfirst(t14), t16);
    const int32_t t4 = load_i32(shared + 16);
    const bool t6 = t4 == 1;
    const bool t7 = seen_1 | t6;
    seen = t7;
    if (wait_turn(waiting, &turns, "atomic_access.py:10", pid_0, pid_1, pid_2)) return;
  }
  const int64_t t18 = (int64_t)t17; /* atomic_access.py:11 */
  char *t19 = x_ptr + t18;
  UNROLL(16) for (int a = 0; a < 16; a++) {
    const vf32 x = vatomic_load_f32(vramp_u64((uint64_t)(t19 + 32*a), 4), vsplat_i32(-1), vsplat_f32(0.0f), __ATOMIC_RELAXED);
    t9[a] = vtruncate_u8_f32(x); /* atomic_access.py:12 */
    t10[a] = x > 0.0f;
  }
  const int64_t t20 = (int64_t)lane;
  char *t21 = out_ptr + t20;
  UNROLL(16) for (int a = 0; a < 16; a++) {
    vatomic_store_u8(vramp_u64((uint64_t)(t21 + 8*a), 1), t10[a], t9[a], __ATOMIC_RELEASE);
  }
  vatomic_store_i32(vramp_u64((uint64_t)(flag_ptr), 0), vfirst(t14), vsplat_i32(2), __ATOMIC_RELEASE); /* atomic_access.py:13 */
}

/* About how many nanoseconds a program takes. */
static double handed_over_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 2415;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void handed_over_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, handed_over_program, 64, false, true};
  launch_all(&launch, team, (double)n * handed_over_ns(args, grid));
}
