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
#ifndef NEREID_vsplat_i32
#define NEREID_vsplat_i32
INLINE vi32 vsplat_i32(int32_t x) { return (vi32){REPEAT(x)}; }
#endif
#ifndef NEREID_vload_i8
#define NEREID_vload_i8
INLINE vi8 vload_i8(const char *p) {
  vi8 v;
  memcpy(&v, p, sizeof v);
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
#ifndef NEREID_vto_i32_i8
#define NEREID_vto_i32_i8
INLINE vi32 vto_i32_i8(vi8 x) {
#if WIDENED == 16
  return __builtin_ia32_pmovsxbd512_mask(LOW_BYTES(x), (vi32){0}, -1);
#elif WIDENED == 8
  return __builtin_ia32_pmovsxbd256(LOW_BYTES(x));
#elif WIDENED == 4
  return __builtin_ia32_pmovsxbd128(LOW_BYTES(x));
#else
  return __builtin_convertvector(x, vi32);
#endif
}
#endif
#ifndef NEREID_vne_i8
#define NEREID_vne_i8
INLINE vi32 vne_i8(vi8 a, vi8 b) {
  return vto_i32_i8((vi8)(a != b));
}
#endif
#ifndef NEREID_vsplat_i8
#define NEREID_vsplat_i8
INLINE vi8 vsplat_i8(int8_t x) { return (vi8){REPEAT(x)}; }
#endif
#ifndef NEREID_vstore_i32
#define NEREID_vstore_i32
INLINE void vstore_i32(char *p, vi32 v) {
  typedef vi32 anywhere __attribute__((aligned(1), may_alias));
  *(anywhere *)p = v;
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

/* Kernel truths of truths.py. */
/* One program; its lanes run together. */
static void truths_program(const char *args, const uint32_t *grid, uint32_t pid_0,
    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,
    Waiting *waiting) {
  char *x = (char *)load_u64(args + 0);
  char *y = (char *)load_u64(args + 8);
  vi32 t7[2];
  vi32 t14[8];
  vi32 t15[2];
  const int32_t lane = 0; /* truths.py:7 */
  const int32_t t16 = lane * 4;
  const int64_t t9 = (int64_t)lane; /* truths.py:11 */
  char *t10 = x + t9;
  UNROLL(2) for (int a = 0; a < 2; a++) { /* truths.py:12 */
    UNROLL(4) for (int b = 0; b < 4; b++) {
      t14[a + 2*b] = vsplat_i32(0);
    }
  }
  for (int a = 0; a < 2; a++) { /* truths.py:11 */
    for (int b = 0; b < 8; b++) {
      UNROLL(4) for (int b_2 = 0; b_2 < 4; b_2++) {
        char *t11 = t10 + (int64_t)(8*a + 256*b + 64*b_2);
        char *t12 = t11;
        const vi8 t0 = vload_i8(t12);
        const vi32 t13 = vne_i8(t0, vsplat_i8(0)); /* truths.py:12 */
        const vi32 t6 = t13 & 1;
        t14[a + 2*b_2] = t14[a + 2*b_2] + t6;
      }
    }
  }
  UNROLL(2) for (int a = 0; a < 2; a++) {
    t15[a] = t14[a];
    UNROLL(3) for (int r = 0; r < 3; r++) {
      t15[a] = t15[a] + t14[a + 2*r + 2];
    }
  }
  for (int r = 0; r < 2; r++) t7[0 + r] = t15[0 + r];
  const int64_t t17 = (int64_t)t16;
  char *t18 = y + t17;
  UNROLL(2) for (int a = 0; a < 2; a++) {
    vstore_i32(t18 + 32*a, t7[a]);
  }
}

/* About how many nanoseconds a program takes. */
static double truths_ns(const char *args, const uint32_t *grid) {
  (void)args, (void)grid;
  return 57.76;
}

/* All programs, by the threads of a team; without one (NULL), by this thread. */
void truths_launch(const void *args, const uint32_t grid[3], Team *team) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  Launch launch = {args, grid, n, truths_program, 0, false, false};
  launch_all(&launch, team, (double)n * truths_ns(args, grid));
}
