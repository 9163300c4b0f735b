/* The meaning depends on these options:
 *   cc -O2 -march=native -ffp-contract=off -fwrapv -fno-math-errno -fno-trapping-math -fno-optimize-sibling-calls -Wno-psabi -fPIC -shared -lm */
#ifndef LANES
#define LANES 4
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
#ifndef NEREID_div_i32
#define NEREID_div_i32
INLINE int32_t div_i32(int32_t a, int32_t b) {
  return b == 0 ? -1 : b == -1 ? (int32_t)(0 - (uint64_t)a) : a / b;
}
#endif
#ifndef NEREID_rem_i32
#define NEREID_rem_i32
INLINE int32_t rem_i32(int32_t a, int32_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
#endif
#ifndef NEREID_vload_f32
#define NEREID_vload_f32
INLINE vf32 vload_f32(const char *p) {
  vf32 v;
  memcpy(&v, p, sizeof v);
  return v;
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
#ifndef NEREID_vgather_mask_f32
#define NEREID_vgather_mask_f32
INLINE vf32 vgather_mask_f32(vu64 p, vi32 m, vf32 v) {
  EACH_LANE(i) if (m[i]) v[i] = VALUE_f32(load_f32((const char *)p[i]));
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
#ifndef NEREID_vload_mask_f32
#define NEREID_vload_mask_f32
#if LANE_SETS && defined(LOAD_32)
INLINE vf32 vload_mask_f32(const char *p, vi32 m, vf32 v) {
  return (vf32)LOAD_32(p, v, MASK_SET(m));
}
#else
RARE vf32 vload_mask_f32(const char *p, vi32 m, vf32 v) {
  EACH_LANE(i) if (m[i]) v[i] = load_f32(p + i * sizeof(float));
  return v;
}
#endif
#endif
#ifndef NEREID_vgather_near_f32
#define NEREID_vgather_near_f32
/* Lanes whose mask holds are mostly neighbours.  A compiler compares numbers of two
 * registers one by one. */
INLINE vf32 vgather_near_f32(vu64 p, vi32 m, vf32 v) {
  const vu64 apart = p - vramp_u64(p[0], sizeof(float));
  const vi32 other = __builtin_convertvector(apart | apart >> 32, vi32) != 0;
  if (vany(m & other)) return vgather_mask_f32(p, m, v);
  return vall(m) ? vload_f32((const char *)p[0]) : vload_mask_f32((const char *)p[0], m, v);
}
#endif
#ifndef NEREID_vsplat_f32
#define NEREID_vsplat_f32
INLINE vf32 vsplat_f32(float x) { return (vf32){REPEAT(x)}; }
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

/* Kernel neighbors_divided of neighbors_divided.py. */
/* One program; its lanes run together. */
static void neighbors_divided_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x_ptr = (char *)load_u64(args + 0);
  char *y_ptr = (char *)load_u64(args + 8);
  char *z_ptr = (char *)load_u64(args + 16);
  char *t41[4];
  vf32 t64[16];
  const int32_t lane = 0; /* neighbors_divided.py:7 */
  const int32_t t29 = lane * 4;
  const int32_t t0 = (int32_t)pid_0; /* neighbors_divided.py:10 */
  const int32_t t1 = t0 * 64;
  const int32_t t28 = div_i32(t1, 32); /* neighbors_divided.py:11 */
  const int64_t t30 = (int64_t)t29;
  char *t31 = x_ptr + t30;
  const int64_t t32 = (int64_t)t28;
  const int64_t t33 = t32 * 400ll;
  char *t34 = t31 + t33;
  char *t40 = y_ptr + t30; /* neighbors_divided.py:12 */
  UNROLL(4) for (int a = 0; a < 4; a++) {
    const int32_t t35 = t1 + (16*a);
    const int32_t t36 = rem_i32(t35, 48);
    const int64_t t37 = (int64_t)t36;
    const int64_t t38 = t37 * 4ll;
    t41[a] = t40 + t38;
  }
  const int32_t t42 = lane + t1; /* neighbors_divided.py:13 */
  for (int a = 0; a < 2; a++) { /* neighbors_divided.py:15 */
    for (int b = 0; b < 2; b++) {
      UNROLL(4) for (int b_2 = 0; b_2 < 4; b_2++) {
        const int32_t t55 = t1 + (32*a + 16*b + 4*b_2 + 4);
        const int32_t t56 = rem_i32(t55, 32);
        const int64_t t57 = (int64_t)t56;
        const int64_t t58 = t57 * 4ll;
        char *t61 = t40 + t58;
        const vf32 moved = vload_f32(t61);
        const vf32 rows = vload_f32(t34 + 400*a + 64*b + 16*b_2); /* neighbors_divided.py:11 */
        const vf32 table = vload_f32(t41[2*a + b] + 16*b_2); /* neighbors_divided.py:12 */
        const int32_t t43 = t42 + (32*a + 16*b + 4*b_2 - 32); /* neighbors_divided.py:13 */
        const vi32 t44 = vramp_i32(t43, 1) % 32;
        const vi64 t45 = vto_i64(t44);
        const vi64 t46 = t45 * (int64_t)4ll;
        vu64 t47 = vsplat_u64((uint64_t)(x_ptr)) + vto_u64(t46);
        const vf32 before = vgather_near_f32(t47 + (uint64_t)(128), vsplat_i32(-1), vsplat_f32(0));
        const int32_t t48 = t1 + (32*a + 16*b + 4*b_2); /* neighbors_divided.py:14 */
        const int32_t t49 = rem_i32(t48, 12);
        const int64_t t50 = (int64_t)t49;
        const int64_t t51 = t50 * 4ll;
        char *t54 = t40 + t51;
        const vf32 twelve = vload_f32(t54);
        const vf32 t62 = before * twelve; /* neighbors_divided.py:16 */
        const vf32 t63 = vfma_f32(rows, table, t62);
        t64[8*a + 4*b + b_2] = t63 + moved;
      }
    }
  }
  char *t66 = z_ptr + t30;
  const int64_t t67 = (int64_t)t1;
  const int64_t t68 = t67 * 4ll;
  char *t69 = t66 + t68;
  UNROLL(16) for (int a = 0; a < 16; a++) {
    vstream_f32(t69 + 16*a, t64[a], stream);
  }
}

/* About how many nanoseconds a program takes. */
static double neighbors_divided_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 321.56;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void neighbors_divided_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, neighbors_divided_program, 0, n > 131072, false};
  launch_all(&launch, team, (double)n * neighbors_divided_ns(args, grid));
}
