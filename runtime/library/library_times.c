#include "runtime/library/library_times.h"

#include <math.h>

typedef struct {
  int capability;
  TimedProblem problem;
  double kernels, library; /* microseconds */
} Row;

static const Row rows[] = {
#define ROW(capability, work, dtype, tf32, batch, m, n, k, taps, stride, kernels, library) \
  {capability,                                                                             \
   {TIMED_##work, DT_##dtype, tf32, batch, m, n, k, taps, stride, 0, 0},                   \
   kernels,                                                                                \
   library},
#include "runtime/library/library_times.def"
#undef ROW
    {0},
};
enum { ROWS = sizeof rows / sizeof *rows - 1 };

/* Rates of an H200.  They only tell how times grow with sizes between rows. */
static const double OPERATIONS_16 = 990e6, OPERATIONS_TF32 = 495e6, OPERATIONS_32 = 60e6;
static const double BYTES = 4e6, LAUNCH = 2; /* a microsecond; microseconds */

/* Sizes that are 64 times as large are another problem. */
static const double DISTANCE_MOST = 6, NEAR = 0.05, UNALIGNED = 4;

static double ideal(const TimedProblem *p) {
  double speed = p->dtype != DT_F32 ? OPERATIONS_16 : p->tf32 ? OPERATIONS_TF32 : OPERATIONS_32;
  double operations = 2 * p->batch * p->m * p->n * p->k / speed;
  double elements = p->m * p->k * p->stride * p->stride / p->taps + p->k * p->n + p->m * p->n;
  double memory = p->batch * elements * (double)dtype_bytes(p->dtype) / BYTES;
  return fmax(operations, memory) + LAUNCH;
}

static double apart(double a, double b) { return log2(fmax(a, 1)) - log2(fmax(b, 1)); }

/* Rows of memory begin at multiples of 16 bytes, of numbers of 16 bits. */
static bool is_aligned(const TimedProblem *p) {
  bool a = p->work == TIMED_TN || p->work == TIMED_TT,
       b = p->work == TIMED_NT || p->work == TIMED_TT;
  double rows_of_a = a ? p->m : p->k / p->taps, rows_of_b = b ? p->k : p->n;
  if (p->pitch_a > 0) rows_of_a = p->pitch_a;
  if (p->pitch_b > 0) rows_of_b = p->pitch_b;
  return fmod(rows_of_a, 8) == 0 && fmod(rows_of_b, 8) == 0 && fmod(p->n, 8) == 0;
}

static double distance(const TimedProblem *a, const TimedProblem *b) {
  double d[] = {apart(a->batch, b->batch),
                apart(a->m, b->m),
                apart(a->n, b->n),
                apart(a->k, b->k),
                apart(a->taps, b->taps),
                apart(a->stride, b->stride),
                is_aligned(a) == is_aligned(b) ? 0 : UNALIGNED};
  double sum = 0;
  for (unsigned i = 0; i < sizeof d / sizeof *d; i++) sum += d[i] * d[i];
  return sqrt(sum);
}

static bool same_kind(const TimedProblem *a, const TimedProblem *b) {
  return a->work == b->work && dtype_bits(a->dtype) == dtype_bits(b->dtype) && a->tf32 == b->tf32;
}

/* A convolution of each channel by itself. */
static bool is_depthwise(const TimedProblem *p) { return p->taps > 1 && p->batch > 1 && p->n == 1; }

/* These ratios were measured on an H200, in 16 bits, and are used for other GPUs too: the engine
 * that cuDNN's heuristics name takes 9 to 14 times as long as PyTorch's for the result, and longer
 * than kernels for the input's gradient; for the weight's, 0.6 to 0.9 of theirs in five of six
 * cases and 1.03 in one. */
static ExpectedTimes depthwise_times(const TimedProblem *p) {
  double base = ideal(p);
  if (p->dtype == DT_F32) return (ExpectedTimes){0};
  if (p->work == TIMED_WEIGHT) return (ExpectedTimes){base, 0.75 * base};
  return (ExpectedTimes){base, INFINITY};
}

ExpectedTimes library_times(int capability, const TimedProblem *p) {
  if (is_depthwise(p)) return depthwise_times(p);
  double weight = 0, kernels = 0, library = 0, nearest = DISTANCE_MOST;
  for (int i = 0; i < ROWS; i++) {
    const Row *r = &rows[i];
    if (r->capability != capability || !same_kind(p, &r->problem)) continue;
    double d = distance(p, &r->problem), w = 1 / pow(d * d + NEAR, 2), base = ideal(&r->problem);
    weight += w;
    kernels += w * log(r->kernels / base);
    library += w * log(r->library / base);
    nearest = fmin(nearest, d);
  }
  if (nearest >= DISTANCE_MOST) return (ExpectedTimes){0};
  double base = ideal(p);
  return (ExpectedTimes){base * exp(kernels / weight), base * exp(library / weight)};
}

/* ---- a core ---- */

/* Rates of a Sapphire Rapids, operations a microsecond.  Of 190 products, 60 of which are those of
 * twelve training steps and the others were drawn, this takes 129: MKL has 0.71 of our kernels'
 * time by the geometric mean, and more than 1.07 of it in one (1.14 of 0.12 ms). */
static const double CORE_KERNELS = 115e3, CORE_MKL = 138e3;

/* Products of f64: 512 and 1,024 cubed have MKL at 59e3, beside kernels at 44e3. */
static const double CORE_KERNELS_64 = 44e3, CORE_MKL_64 = 59e3;

/* MKL packs all of b: few rows leave that no time.  32x4096 by 1024, 4096: 0.59 to 0.71 of our
 * speed; 98 rows 1.11; a b that stays in the second cache 1.2 to 1.9. */
enum { CORE_ROWS_MANY = 97, CORE_CACHE = 3 << 19 };
/* Vectors of columns: of 8 and 16 columns MKL has 0.74 to 1.0 of our speed. */
enum { CORE_COLUMNS = 24 };
static const double CORE_OPERATIONS = 2e6; /* of one matrix; below, calls take as long */

ExpectedTimes library_times_of_core(const TimedProblem *p) {
  double operations = 2 * p->m * p->n * p->k;
  bool wide = p->dtype == DT_F64;
  bool small = p->k * p->n * dtype_bytes(p->dtype) <= CORE_CACHE;
  bool suits = (wide || p->dtype == DT_F32) && p->n >= CORE_COLUMNS &&
               operations >= CORE_OPERATIONS && (p->m >= CORE_ROWS_MANY || small);
  if (!suits) return (ExpectedTimes){0};
  operations *= p->batch;
  if (wide) return (ExpectedTimes){operations / CORE_KERNELS_64, operations / CORE_MKL_64};
  return (ExpectedTimes){operations / CORE_KERNELS, operations / CORE_MKL};
}
