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
#ifndef NEREID_vload_f32
#define NEREID_vload_f32
INLINE vf32 vload_f32(const char *p) {
  vf32 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif
#ifndef NEREID_SHUFFLE_f32
#define NEREID_SHUFFLE_f32
#ifdef __clang__
#define SHUFFLE_f32(a, b, i) ({ \
  vf32 SHUFFLED; \
  EACH_LANE(l) SHUFFLED[l] = (i)[l] < LANES ? (a)[(i)[l]] : (b)[(i)[l] - LANES]; \
  SHUFFLED; \
})
#else
#define SHUFFLE_f32(a, b, i) __builtin_shuffle(a, b, i)
#endif
#endif
#ifndef NEREID_vload_half_pairs_f32
#define NEREID_vload_half_pairs_f32
/* LANES / 2 pairs at p, and as many `apart` bytes from there. */
INLINE void vload_half_pairs_f32(const char *p, int64_t apart, vf32 *v) {
  const vi32 even = vramp_i32(0, 2);
  const vf32 a = vload_f32(p), b = vload_f32(p + apart);
  v[0] = SHUFFLE_f32(a, b, even);
  v[1] = SHUFFLE_f32(a, b, even + 1);
}
#endif
#ifndef NEREID_vturn_half_rows_f32
#define NEREID_vturn_half_rows_f32
/* vturn_rows of the first half of the lanes, and of the second one. */
INLINE void vturn_half_rows_f32(vf32 *v) {
  UNROLL(4) for (int by = 1; by < LANES / 2; by *= 2)
    UNROLL(16) for (int i = 0; i < LANES / 2; i++) {
      if (i & by) continue;
      const vi32 lane = vramp_i32(0, 1);
      const vi32 low = lane + (((lane & by) != 0) & (LANES - by));
      const vf32 a = v[i], b = v[i + by];
      v[i] = SHUFFLE_f32(a, b, low);
      v[i + by] = SHUFFLE_f32(a, b, low + by);
    }
}
#endif
#ifndef NEREID_vload_half_rows_f32
#define NEREID_vload_half_rows_f32
/* Row l has LANES / 2 elements for lane l, and as many for lane l + LANES / 2. */
INLINE void vload_half_rows_f32(const char *p, int64_t step, int64_t apart, vf32 *v) {
  (void)apart;
  UNROLL(16) for (int i = 0; i < LANES / 2; i++) v[i] = vload_f32(p + i * step);
  vturn_half_rows_f32(v);
}
#endif
#ifndef NEREID_vruns_f32
#define NEREID_vruns_f32
/* Elements of n neighbours at p and n at p + more, in the order given. */
#define vruns_f32(n, p, more, ...) ({ \
  typedef float RUN __attribute__((vector_size((n) * sizeof(float)), aligned(1), may_alias)); \
  const uint64_t RUN_AT = p; \
  const RUN RUN_1 = *(const RUN *)RUN_AT, RUN_2 = *(const RUN *)(RUN_AT + (more)); \
  __builtin_shufflevector(RUN_1, RUN_2, __VA_ARGS__); \
})
#endif
#ifndef NEREID_vload_half_pairs_back_f32
#define NEREID_vload_half_pairs_back_f32
/* LANES / 2 pairs that end with the one at p, the last one first, and as many `apart`. */
INLINE void vload_half_pairs_back_f32(const char *p, int64_t apart, vf32 *v) {
  const vi32 lane = vramp_i32(0, 1);
  const vi32 even = LANES - 2 - 2 * lane + ((lane >= LANES / 2) & (2 * LANES));
  p -= (LANES - 2) * sizeof(float);
  const vf32 a = vload_f32(p), b = vload_f32(p + apart);
  v[0] = SHUFFLE_f32(a, b, even);
  v[1] = SHUFFLE_f32(a, b, even + 1);
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
#ifndef NEREID_vstore_half_pairs_f32
#define NEREID_vstore_half_pairs_f32
INLINE void vstore_half_pairs_f32(char *p, int64_t apart, vf32 *v) {
  const vi32 lane = vramp_i32(0, 1);
  const vi32 low = (lane >> 1) + (lane & 1) * LANES, high = low + LANES / 2;
  vstore_f32(p, SHUFFLE_f32(v[0], v[1], low));
  vstore_f32(p + apart, SHUFFLE_f32(v[0], v[1], high));
}
#endif
#ifndef NEREID_vstore_halves_f32
#define NEREID_vstore_halves_f32
INLINE void vstore_halves_f32(char *p, int64_t apart, vf32 v) {
  typedef float half __attribute__((vector_size(sizeof(vf32) / 2), aligned(1), may_alias));
  const half *const x = (const half *)&v;
  *(half *)p = x[0];
  *(half *)(p + apart) = x[1];
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
#ifndef NEREID_vgather_f32
#define NEREID_vgather_f32
INLINE vf32 vgather_f32(vu64 p) {
  vf32 v;
  EACH_LANE(i) v[i] = VALUE_f32(load_f32((const char *)p[i]));
  return v;
}
#endif
#ifndef NEREID_lanes_below
#define NEREID_lanes_below
/* In how many of the first lanes does x + lane < n hold? */
INLINE int lanes_below(int64_t x, int64_t n) {
  return n <= x ? 0 : n - x < LANES ? (int)(n - x) : LANES;
}
#endif
#ifndef NEREID_store_f32
#define NEREID_store_f32
INLINE void store_f32(char *p, float x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_vscatter_mask_f32
#define NEREID_vscatter_mask_f32
INLINE void vscatter_mask_f32(vu64 p, vi32 m, vf32 v) {
  EACH_LANE(i) if (m[i]) store_f32((char *)p[i], v[i]);
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

/* Kernel halves of halves.py. */
/* One program; its lanes run together. */
static void halves_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x = (char *)load_u64(args + 0);
  char *y = (char *)load_u64(args + 8);
  int32_t n = load_i32(args + 16);
  const int32_t lane = 0; /* halves.py:7 */
  const vi32 t130 = vramp_i32(lane, 1) >> 2;
  const vi32 t131 = t130 * 400;
  const vi32 t132 = vramp_i32(lane, 1) & 3;
  const vi32 t133 = t132 * 8;
  const vi32 t134 = t131 + t133;
  const vi32 t140 = t130 * 16;
  const vi32 t142 = t132 * 96;
  const vi32 t143 = t140 + t142;
  const vi32 t153 = t130 * 240;
  const vi32 t155 = t132 * (-4);
  const vi32 t156 = t153 + t155;
  const vi32 t160 = t130 * 256;
  const vi32 t162 = t132 * (-8);
  const vi32 t163 = t160 + t162;
  const int32_t t169 = lane * 4;
  const vi32 t174 = t130 * 160;
  const vi32 t177 = t174 + t133;
  const vi32 t184 = t130 * 48;
  const vi32 t186 = t132 * 4;
  const vi32 t187 = t184 + t186;
  const vi32 t191 = t130 * 32;
  const vi32 t194 = t191 + t142;
  const vi64 t135 = vto_i64(t134); /* halves.py:12 */
  vu64 t136 = vsplat_u64((uint64_t)(x)) + vto_u64(t135);
  vf32 rows[2];
  vload_half_pairs_f32((char *)((t136)[0] + (uint64_t)(32)), 400, rows);
  const vf32 a = rows[0];
  const vf32 b = rows[1];
  const vi64 t144 = vto_i64(t143); /* halves.py:15 */
  vu64 t145 = vsplat_u64((uint64_t)(x)) + vto_u64(t144);
  vf32 rows_2[4];
  vload_half_rows_f32((char *)((t145)[0] + (uint64_t)(0)), 96, 16, rows_2);
  const vf32 c = rows_2[0];
  const vf32 d = rows_2[1];
  const vf32 e = rows_2[2];
  const vf32 f = rows_2[3];
  char *t41 = x + 4 * 50ll; /* halves.py:19 */
  const vi64 t157 = vto_i64(t156);
  vu64 t158 = vsplat_u64((uint64_t)(t41)) + vto_u64(t157);
  const vf32 back = vruns_f32(4, (t158)[0] + (uint64_t)(-12), 240, 3, 2, 1, 0, 7, 6, 5, 4);
  char *t47 = x + 4 * 60ll; /* halves.py:20 */
  char *t48 = y + 4 * 320ll; /* halves.py:21 */
  const vi64 t164 = vto_i64(t163);
  vu64 t165 = vsplat_u64((uint64_t)(t47)) + vto_u64(t164);
  vf32 rows_3[2];
  vload_half_pairs_back_f32((char *)((t165)[0] + (uint64_t)(0)), 256, rows_3);
  const vf32 t49 = rows_3[0];
  const vf32 t56 = rows_3[1];
  const vf32 t168 = t49 * t56;
  const int64_t t170 = (int64_t)t169;
  char *t171 = t48 + t170;
  vstream_f32(t171, t168, stream);
  const vf32 t172 = vfma_f32(a, c, d); /* halves.py:23 */
  const vi64 t178 = vto_i64(t177);
  vu64 t179 = vsplat_u64((uint64_t)(y)) + vto_u64(t178);
  vf32 rows_4[2];
  const vf32 t180 = vfma_f32(b, e, f);
  rows_4[0] = t172;
  rows_4[1] = t180;
  vstore_half_pairs_f32((char *)((t179)[0] + (uint64_t)(0)), 160, rows_4);
  char *t81 = y + 4 * 100ll; /* halves.py:25 */
  const vi64 t188 = vto_i64(t187);
  vu64 t189 = vsplat_u64((uint64_t)(t81)) + vto_u64(t188);
  vstore_halves_f32((char *)((t189)[0] + (uint64_t)(0)), 48, back);
  char *t87 = y + 4 * 200ll; /* halves.py:27 */
  const vi64 t195 = vto_i64(t194);
  vu64 t196 = vsplat_u64((uint64_t)(x)) + vto_u64(t195);
  const vf32 t88 = vgather_f32(t196);
  const vf32 t95 = vgather_f32(t196 + (uint64_t)(4));
  const vf32 t103 = vgather_f32(t196 + (uint64_t)(8));
  const vf32 t111 = vgather_f32(t196 + (uint64_t)(12));
  const vf32 t203 = vfma_f32(t95, t103, t88);
  const vf32 t204 = t203 + t111;
  char *t206 = t87 + t170;
  vstream_f32(t206, t204, stream);
  char *t122 = y + 4 * 300ll; /* halves.py:28 */
  const int t207 = lanes_below(lane, n);
  vu64 t209 = vsplat_u64((uint64_t)(t122)) + vto_u64(t178);
  vscatter_mask_f32(t209, vfirst(t207), a);
}

/* About how many nanoseconds a program takes. */
static double halves_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 47.67;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void halves_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, halves_program, 0, n > 524288, false};
  launch_all(&launch, team, (double)n * halves_ns(args, grid));
}
