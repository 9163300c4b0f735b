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
#ifndef NEREID_load_f32
#define NEREID_load_f32
INLINE float load_f32(const char *p) {
  float x;
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
#ifndef NEREID_vstore_f32
#define NEREID_vstore_f32
INLINE void vstore_f32(char *p, vf32 v) {
  typedef vf32 anywhere __attribute__((aligned(1), may_alias));
  *(anywhere *)p = v;
}
#endif
#ifndef NEREID_rem_i32
#define NEREID_rem_i32
INLINE int32_t rem_i32(int32_t a, int32_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
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
#ifndef NEREID_store_i32
#define NEREID_store_i32
INLINE void store_i32(char *p, int32_t x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_failure_order
#define NEREID_failure_order
#define failure_order(order) ((order) == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : \
  (order) == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : (order))
#endif
#ifndef NEREID_VALUE_i32
#define NEREID_VALUE_i32
#define VALUE_i32(x) (x)
#endif
#ifndef NEREID_vatomic_cas_i32
#define NEREID_vatomic_cas_i32
INLINE vi32 vatomic_cas_i32(vu64 p, vi32 m, vi32 expected, vi32 x, int order) {
  vi32 before = x;
  EACH_LANE(i) if (m[i]) {
    uint32_t old, new;
    store_i32((char *)&old, expected[i]);
    store_i32((char *)&new, x[i]);
    __atomic_compare_exchange_n((uint32_t *)p[i], &old, new, false, order, failure_order(order));
    before[i] = VALUE_i32(load_i32((char *)&old));
  }
  return before;
}
#endif
#ifndef NEREID_vramp_u64
#define NEREID_vramp_u64
/* x, x + step, ... */
INLINE vu64 vramp_u64(uint64_t x, uint64_t step) { return x + (vu64){FIRST_LANES} * step; }
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
#ifndef NEREID_combine_xchg_i32
#define NEREID_combine_xchg_i32
#define combine_xchg_i32(a, b) (b)
#endif
#ifndef NEREID_atomic_xchg_i32
#define NEREID_atomic_xchg_i32
INLINE int32_t atomic_xchg_i32(char *p, int32_t x, int order) {
  uint32_t old = __atomic_load_n((uint32_t *)p, __ATOMIC_RELAXED), new;
  int32_t before;
  do {
    before = load_i32((char *)&old);
    store_i32((char *)&new, combine_xchg_i32(before, x));
  } while (!__atomic_compare_exchange_n((uint32_t *)p, &old, new, true, order,
                                        failure_order(order)));
  return before;
}
#endif
#ifndef NEREID_vatomic_xchg_i32
#define NEREID_vatomic_xchg_i32
INLINE vi32 vatomic_xchg_i32(vu64 p, vi32 m, vi32 x, int order) {
  vi32 before = x;
  EACH_LANE(i) if (m[i])
    before[i] = VALUE_i32(atomic_xchg_i32((char *)p[i], x[i], order));
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

/* Kernel layer_norm_backward of ../../examples/kernels/layer_norm.py. */
/* One program; its lanes run together. */
static void layer_norm_backward_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *dy_ptr = (char *)load_u64(args + 0);
  char *x_ptr = (char *)load_u64(args + 8);
  char *w_ptr = (char *)load_u64(args + 16);
  char *mean_ptr = (char *)load_u64(args + 24);
  char *rstd_ptr = (char *)load_u64(args + 32);
  char *dx_ptr = (char *)load_u64(args + 40);
  char *dw_parts_ptr = (char *)load_u64(args + 48);
  char *db_parts_ptr = (char *)load_u64(args + 56);
  char *locks_ptr = (char *)load_u64(args + 64);
  int32_t n_cols = load_i32(args + 72);
  vf32 dy[32];
  vf32 x;
  vf32 w;
  vf32 xhat[32];
  vf32 wdy[32];
  vf32 t37;
  vf32 t43;
  bool t51[32];
  vf32 t64[4];
  vf32 t65;
  vf32 wdy_1[4];
  vf32 wdy_2;
  vf32 t73[32];
  vi32 t80;
  vi32 t95;
  const int32_t lane = 0; /* ../../examples/kernels/layer_norm.py:37 */
  const int32_t t52 = lane * 4;
  const int t79 = 1;
  const int32_t row = (int32_t)pid_0; /* ../../examples/kernels/layer_norm.py:41 */
  const int32_t t0 = row * n_cols; /* ../../examples/kernels/layer_norm.py:44 */
  char *t1 = dy_ptr + 4ll * t0;
  const int64_t t53 = (int64_t)t52;
  char *t54 = t1 + t53;
  char *t5 = x_ptr + 4ll * t0; /* ../../examples/kernels/layer_norm.py:45 */
  char *t57 = t5 + t53;
  char *t60 = w_ptr + t53; /* ../../examples/kernels/layer_norm.py:46 */
  char *t10 = rstd_ptr + 4ll * row; /* ../../examples/kernels/layer_norm.py:47 */
  const float rstd = load_f32(t10);
  char *t11 = mean_ptr + 4ll * row; /* ../../examples/kernels/layer_norm.py:48 */
  const float t12 = load_f32(t11);
  const float t18 = (float)n_cols; /* ../../examples/kernels/layer_norm.py:52 */
  UNROLL(4) for (int a = 0; a < 4; a++) {
    t64[a] = vsplat_f32((-0.0f));
    wdy_1[a] = vsplat_f32((-0.0f)); /* ../../examples/kernels/layer_norm.py:53 */
  }
  char *t22 = dx_ptr + 4ll * t0; /* ../../examples/kernels/layer_norm.py:54 */
  for (int a = 0; a < 8; a++) { /* ../../examples/kernels/layer_norm.py:44 */
    UNROLL(4) for (int a_2 = 0; a_2 < 4; a_2++) {
      dy[4*a + a_2] = vsplat_f32(0.0f);
      t51[4*a + a_2] = (32*a + 8*a_2) < n_cols;
      if (t51[4*a + a_2]) dy[4*a + a_2] = vload_f32(t54 + 128*a + 32*a_2);
      x = vsplat_f32(0.0f); /* ../../examples/kernels/layer_norm.py:45 */
      if (t51[4*a + a_2]) x = vload_f32(t57 + 128*a + 32*a_2);
      const vf32 t62 = x - t12; /* ../../examples/kernels/layer_norm.py:48 */
      const vf32 t63 = t62 * rstd;
      xhat[4*a + a_2] = t51[4*a + a_2] ? t63 : vsplat_f32(0.0f);
      w = vsplat_f32(0.0f); /* ../../examples/kernels/layer_norm.py:46 */
      if (t51[4*a + a_2]) w = vload_f32(t60 + 128*a + 32*a_2);
      wdy[4*a + a_2] = w * dy[4*a + a_2]; /* ../../examples/kernels/layer_norm.py:51 */
      const vf32 t16 = xhat[4*a + a_2] * wdy[4*a + a_2]; /* ../../examples/kernels/layer_norm.py:52 */
      t64[a_2] = t64[a_2] + t16;
      wdy_1[a_2] = wdy_1[a_2] + wdy[4*a + a_2]; /* ../../examples/kernels/layer_norm.py:53 */
      t73[4*a + a_2] = -xhat[4*a + a_2]; /* ../../examples/kernels/layer_norm.py:54 */
    }
  }
  t65 = t64[0]; /* ../../examples/kernels/layer_norm.py:52 */
  wdy_2 = wdy_1[0]; /* ../../examples/kernels/layer_norm.py:53 */
  UNROLL(3) for (int r = 0; r < 3; r++) { /* ../../examples/kernels/layer_norm.py:52 */
    t65 = t65 + t64[r + 1];
    wdy_2 = wdy_2 + wdy_1[r + 1]; /* ../../examples/kernels/layer_norm.py:53 */
  }
  const vf32 t66 = __builtin_shufflevector(t65, t65, 4, 5, 6, 7, 0, 1, 2, 3); /* ../../examples/kernels/layer_norm.py:52 */
  t65 = t65 + t66;
  const vf32 t67 = __builtin_shufflevector(t65, t65, 2, 3, 0, 1, 6, 7, 4, 5);
  t65 = t65 + t67;
  const vf32 t68 = __builtin_shufflevector(t65, t65, 1, 0, 3, 2, 5, 4, 7, 6);
  t65 = t65 + t68;
  const float t17 = t65[0];
  const float along = t17 / t18;
  const vf32 t69 = __builtin_shufflevector(wdy_2, wdy_2, 4, 5, 6, 7, 0, 1, 2, 3); /* ../../examples/kernels/layer_norm.py:53 */
  wdy_2 = wdy_2 + t69;
  const vf32 t70 = __builtin_shufflevector(wdy_2, wdy_2, 2, 3, 0, 1, 6, 7, 4, 5);
  wdy_2 = wdy_2 + t70;
  const vf32 t71 = __builtin_shufflevector(wdy_2, wdy_2, 1, 0, 3, 2, 5, 4, 7, 6);
  wdy_2 = wdy_2 + t71;
  const float t19 = wdy_2[0];
  const float mean = t19 / t18;
  char *t78 = t22 + t53; /* ../../examples/kernels/layer_norm.py:54 */
  for (int a = 0; a < 32; a++) {
    const vf32 t74 = vfma_f32(t73[a], vsplat_f32(along), wdy[a]);
    const vf32 t75 = t74 - mean;
    const vf32 t76 = t75 * rstd;
    if (t51[a]) vstore_f32(t78 + 32*a, t76);
  }
  const int32_t group = rem_i32(row, 8); /* ../../examples/kernels/layer_norm.py:56 */
  const int32_t t29 = group * n_cols; /* ../../examples/kernels/layer_norm.py:57 */
  char *t30 = dw_parts_ptr + 4ll * t29;
  char *t32 = db_parts_ptr + 4ll * t29; /* ../../examples/kernels/layer_norm.py:58 */
  char *t33 = locks_ptr + 4ll * group; /* ../../examples/kernels/layer_norm.py:59 */
  for (uint32_t turns = 0;;) {
    t80 = vselect_i32(vfirst(t79), vatomic_cas_i32(vramp_u64((uint64_t)(t33), 0), vfirst(t79), vsplat_i32(0), vsplat_i32(1), __ATOMIC_ACQ_REL), t80);
    vscatter_mask_i32(vsplat_u64((uint64_t)(shared)), vfirst(t79), t80);
    const int32_t t34 = load_i32(shared);
    const bool t36 = t34 == 1;
    const bool cond = t36;
    if (!cond) break;
    if (wait_turn(waiting, &turns, "../../examples/kernels/layer_norm.py:59", pid_0, pid_1, pid_2)) return;
  }
  char *t83 = t30 + t53; /* ../../examples/kernels/layer_norm.py:61 */
  for (int a = 0; a < 32; a++) {
    t37 = vsplat_f32(0);
    if (t51[a]) t37 = vload_f32(t83 + 32*a);
    const vf32 t85 = vfma_f32(dy[a], xhat[a], t37);
    if (t51[a]) vstore_f32(t83 + 32*a, t85);
  }
  char *t90 = t32 + t53; /* ../../examples/kernels/layer_norm.py:62 */
  for (int a = 0; a < 32; a++) {
    t43 = vsplat_f32(0);
    if (t51[a]) t43 = vload_f32(t90 + 32*a);
    const vf32 t92 = t43 + dy[a];
    if (t51[a]) vstore_f32(t90 + 32*a, t92);
  }
  t95 = vselect_i32(vfirst(t79), vatomic_xchg_i32(vramp_u64((uint64_t)(t33), 0), vfirst(t79), vsplat_i32(0), __ATOMIC_ACQ_REL), t95); /* ../../examples/kernels/layer_norm.py:64 */
}

/* About how many nanoseconds a program takes. */
static double layer_norm_backward_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 1148.56;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void layer_norm_backward_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, layer_norm_backward_program, 64, false, true};
  launch_all(&launch, team, (double)n * layer_norm_backward_ns(args, grid));
}
