#include "lower/cost/estimate.h"

#include <math.h>

#include "lower/cost/launch_stats.h"

/* The time of a launch besides its work; and the attainable part of a device's peaks, as shares of
 * what its data sheet says or in clocks.  Fitted to problems of bench/tune.md on one H200; a third
 * of them, which played no part, is predicted as well. */
static const double LAUNCH_US = 3.3;
static const double PROGRAM_NS = 0.6;      /* to hand out a program, of the whole device */
static const double PROGRAM_CLOCKS = 1600; /* until its first instruction, and after its last */
static const double MEMORY_SHARE = 0.97;
static const double DIRTY = 0.6; /* of the cache: lines that others wrote, which go to memory */
/* A processor gets from the second cache, in a clock: the more of them ask, the less each gets, and
 * some of what is in the same lines costs as much. */
static const double CACHE_ALONE = 86, CACHE_ALL = 62, UNWANTED = 0.15;
static const double ISSUE = 0.34;           /* clocks of an instruction: four warps issue at once */
static const double INTEGERS = 0.25;        /* ... of one on integers, ... */
static const double SPECIALS = 0.85;        /* ... of exp2 and its like */
static const double SHUFFLES = 8.3;         /* ... of a shuffle */
static const double SENT = 2;               /* ... of a line that is stored, in part or all of it */
static const double ATOMICS = 9;            /* ... of an atomic access */
static const double TENSOR = 1;             /* ... of one of matrix units, by their peak rate */
static const double TURN_BYTES = 98;        /* of shared memory, that matrix units read; ... */
static const double TURNS = 0.66;           /* ... clocks of such a turn, or of a warp's */
static const double BARRIER_CLOCKS = 12;    /* until the last warp has come */
static const double QUEUE_CLOCKS = 920;     /* that copies come later if memory is half busy */
static const double SPILL_TURNS = 0.5;      /* clocks of a spilled register in a round of a loop */
static const double SPILL_CLOCKS = 19;      /* ... that its warp waits */

/* Parts that overlap take as long as the longest, and a little more the more they are alike: the
 * p-norm of their times. */
static const double UNITS_NORM = 2.8, WARPS_NORM = 3.8, DEVICE_NORM = 2.8;
/* Rounds of programs that stay together, by those that a processor holds. */
static const double ROUNDS_TOGETHER = 1.28;

static double norm(const double *x, int n, double p) {
  double most = 0, sum = 0;
  for (int i = 0; i < n; i++) most = fmax(most, x[i]);
  if (most <= 0) return 0;
  for (int i = 0; i < n; i++) sum += pow(x[i] / most, p);
  return most * pow(sum, 1 / p);
}

static double norm2(double x, double y, double p) { return norm((double[]){x, y}, 2, p); }

/* ---- one multiprocessor ---- */

/* Clocks of its units for one program. */
typedef struct {
  double issue; /* of the units that take instructions one by one */
  double cache, tensor;
  double all;   /* of all units together, as they overlap */
  double alone; /* that its warps take, each for itself */
} Program;

/* Clocks of the bytes that a program gets from the cache. */
static double loaded_clocks(const LaunchStats *f, double processors) {
  double share = fmin(1, f->programs / processors);
  double lines = f->loaded + UNWANTED * f->counts.unwanted;
  return (1 - share) * f->loaded / CACHE_ALONE + share * lines / CACHE_ALL;
}

static Program program_clocks(const LaunchStats *f, double processors) {
  const SimCounts *c = &f->counts;
  double spills = f->spilled * c->rounds;
  double shared = TURNS * (c->shared + c->operands / TURN_BYTES) + SHUFFLES * c->shuffle +
                  SPILL_TURNS * spills + SIM_COPY_BUSY * c->narrow_copies;
  double units[] = {fmax(1, ISSUE * c->issued), INTEGERS * (c->alu + c->convert),
                    SPECIALS * c->special, c->f32 / 4, shared};
  Program p = {
      .issue = norm(units, 5, UNITS_NORM),
      .cache = loaded_clocks(f, processors) + SENT * c->sent + ATOMICS * c->atomics,
      .tensor = c->tensor,
  };
  p.all = norm((double[]){p.issue, p.cache, TENSOR * p.tensor}, 3, UNITS_NORM);
  double waits = (BARRIER_CLOCKS * c->barriers + SPILL_CLOCKS * spills) / f->warps;
  p.alone = f->clocks + PROGRAM_CLOCKS + waits;
  return p;
}

/* The clocks of n programs that begin together.  What units do for one of them is a part of the
 * time that it takes alone. */
static double together_clocks(const Program *p, double n) {
  double alone = fmax(p->alone, p->all), others = pow(n * p->all / alone, WARPS_NORM);
  return alone * pow(1 + fmax(0, others - pow(p->all / alone, WARPS_NORM)), 1 / WARPS_NORM);
}

/* Clocks until the processor that has the most programs is done with them: rounds of as many as it
 * holds, and one of the rest.  The more rounds there are, the fewer programs start together: a
 * new one replaces each that ends.  If programs differ in length, a longest one comes last. */
static double processor_clocks(const LaunchStats *f, const Program *p, double mean) {
  double programs = ceil(mean), held = fmin(f->occupancy, programs);
  double round = together_clocks(p, held), rounds = floor(programs / held);
  double rest = programs - rounds * held;
  double clocks = rounds * round + (rest > 0 ? together_clocks(p, rest) : 0);
  double longest = f->clocks > 0 ? fmax(1, f->clocks_most / f->clocks) : 1;
  if (programs > held) {
    double together = fmin(1, ROUNDS_TOGETHER * held / mean);
    clocks = together * clocks + (1 - together) * mean / held * round;
  }
  return clocks + (longest - 1) * round;
}

/* ---- the device ---- */

/* Memory that is busy for a share of the time answers later, as a queue does.  A program waits for
 * that where its copies were not done before, once for all that its ring has in flight. */
static double waited_clocks(const LaunchStats *f, double busy) {
  static const double BUSIEST = 0.9;
  double share = fmin(BUSIEST, busy), later = QUEUE_CLOCKS * share / (1 - share);
  if (f->waits <= 0) return 0;
  return f->waits / fmax(1, f->stages - 1) * fmax(0, later - f->early / f->waits);
}

/* The time beside memory's depends on how busy memory is in all of the time. */
static double device_us(Estimate *e, const LaunchStats *f, const Program *p, double mean,
                        double mhz) {
  enum { TRIES = 3 };
  double together = 0, *us = e->bound_us;
  for (int i = 0; i < TRIES; i++) {
    Program now = *p;
    if (together > 0) now.alone += waited_clocks(f, us[BOUND_MEMORY] / together);
    us[BOUND_LATENCY] = processor_clocks(f, &now, mean) / mhz;
    together = norm2(us[BOUND_MEMORY], us[BOUND_LATENCY], DEVICE_NORM);
  }
  return together;
}

static void bound_gpu(Estimate *e, const LaunchStats *f, const DevicePeaks *r) {
  double mhz = r->clock / 1e6, mean = f->programs / r->processors, programs = ceil(mean);
  Program p = program_clocks(f, r->processors);
  double *us = e->bound_us;
  double dirty = fmin(f->read + f->written, DIRTY * (double)r->cache);
  us[BOUND_MEMORY] = (f->busy + dirty) / (MEMORY_SHARE * r->bandwidth) * 1e6;
  us[BOUND_CACHE] = p.cache * programs / mhz;
  us[BOUND_TENSOR] = p.tensor * programs / mhz;
  us[BOUND_ISSUE] = p.issue * programs / mhz;
  double together = device_us(e, f, &p, mean, mhz);
  e->launch_us = LAUNCH_US;
  e->us = e->launch_us + fmax(together, f->programs * PROGRAM_NS / 1e3);
}

/* On a CPU a warp is one SIMD vector, so the counts are vector instructions.  The model knows
 * little about the caches, and nothing about the C compiler's optimizations. */
static void bound_cpu(Estimate *e, const LaunchStats *f, const DevicePeaks *r) {
  static const double INSTRUCTIONS = 2, MULTIPLIES = 2, CALL_US = 0.4;
  const SimCounts *c = &f->counts;
  double mhz = r->clock > 0 ? r->clock / 1e6 : 2500, programs = ceil(f->programs / r->processors);
  double *us = e->bound_us;
  us[BOUND_MEMORY] = r->bandwidth > 0 ? (f->read + f->written) / r->bandwidth * 1e6 : 0;
  us[BOUND_ISSUE] = programs * c->issued / (INSTRUCTIONS * mhz);
  us[BOUND_LATENCY] = programs * (c->f32 + 8 * c->special) / (MULTIPLIES * mhz);
  e->launch_us = CALL_US;
  e->us = e->launch_us + norm(us, BOUND_LATENCY + 1, DEVICE_NORM);
}

/* ---- all ---- */

/* A unit that is busy for about as long as the processor runs is the bound, not latency. */
static Bound bound_of(const Estimate *e) {
  static const double BUSY = 0.8;
  const double *us = e->bound_us;
  Bound b = BOUND_MEMORY;
  for (Bound i = BOUND_MEMORY; i < BOUND_LATENCY; i++)
    if (us[i] > us[b]) b = i;
  return us[b] > BUSY * us[BOUND_LATENCY] ? b : BOUND_LATENCY;
}

/* Nine of ten launches of bench/tune.md take a time between low_us and high_us.  The error is
 * largest for accesses to scattered lines, and for few warps that wait for memory: the assembler
 * chooses how many loads are in flight at a time. */
static void add_error(Estimate *e, const LaunchStats *f, const DevicePeaks *r) {
  static const double errors[] = {0.25, 0.28, 0.28, 0.28, 0.36}, OF_CPU = 2, OF_SPILLS = 0.08;
  static const double OF_LINES = 0.4, OF_LINES_MOST = 4, OF_FEW = 0.5;
  double error = r->sm ? errors[e->bound] : OF_CPU;
  if (r->sm && f->spilled) error += OF_SPILLS;
  if (r->sm) error += fmin(OF_LINES_MOST, OF_LINES * (e->lines - 1));
  if (r->sm && e->bound == BOUND_LATENCY && f->programs < r->processors) error += OF_FEW;
  e->low_us = e->us / (1 + error);
  e->high_us = e->us * (1 + error);
}

Estimate estimate_stats(const struct LaunchStats *f, const DevicePeaks *r) {
  const SimCounts *c = &f->counts;
  Estimate e = {
      .memory_bytes = f->read + f->written,
      .l2_bytes = (f->loaded + f->stored) * f->programs,
      .tensor_flops = c->tensor_flops * f->programs,
      .f32_flops = c->f32_flops * f->programs,
      .specials = c->specials * f->programs,
      .conflicts = c->shared_least > 0 ? c->shared / c->shared_least : 1,
      .lines = c->lines_least > 0 ? c->lines / c->lines_least : 1,
      .warps = f->warps,
      .registers = f->registers,
      .spilled = f->spilled,
      .shared = f->shared,
      .occupancy = f->occupancy,
      .occupancy_by = r->sm ? launch_stats_limit(f, r) : "",
      .stages = f->stages,
      .programs = f->programs,
      .waves = f->programs / ((double)f->occupancy * r->processors),
  };
  e.gpu = r->sm != 0;
  if (e.gpu) bound_gpu(&e, f, r);
  else bound_cpu(&e, f, r);
  e.bound = bound_of(&e);
  add_error(&e, f, r);
  return e;
}

/* ---- text ---- */

const char *estimate_bound_name(Bound b) {
  static const char *const names[] = {"memory", "cache", "tensor", "issue", "latency"};
  return names[b];
}

static void print_scaled(Text *out, const char *name, double v, const char *unit) {
  static const char *const scales[] = {"", "k", "M", "G", "T", "P"};
  int scale = 0;
  while (v >= 999.95 && scale < 5) v /= 1000, scale++;
  text_printf(out, "%-18s %.4g%s%s%s\n", name, v, scale || *unit ? " " : "", scales[scale], unit);
}

/* Microseconds, never with an exponent. */
static void print_us(Text *out, double us) {
  if (us > 0 && us < 0.001) text_puts(out, "<0.001");
  else text_printf(out, us < 1000 ? "%.4g" : "%.0f", us);
}

static void print_part(Text *out, const char *name, double us) {
  text_printf(out, "  %-16s ", name);
  print_us(out, us);
  text_puts(out, " us\n");
}

static void print_time(Text *out, const Estimate *e) {
  text_printf(out, "%-18s ", "time");
  print_us(out, e->us);
  text_puts(out, " us (");
  print_us(out, e->low_us);
  text_puts(out, " to ");
  print_us(out, e->high_us);
  text_printf(out, "), bound by %s\n", estimate_bound_name(e->bound));
}

static void print_count(Text *out, const char *name, double v, const char *unit) {
  text_printf(out, "%-18s %.4g%s\n", name, v, unit);
}

/* How much more is moved than must be; nothing for memory that the kernel does not use. */
static void print_excess(Text *out, const char *name, double v, const char *what) {
  if (v <= 1) text_printf(out, "%-18s none\n", name);
  else text_printf(out, "%-18s %.4g times the fewest %s\n", name, v, what);
}

/* What decides how many programs of a GPU run at a time, and how well they use its memories. */
static void print_gpu_resources(Text *out, const Estimate *e) {
  text_printf(out, "%-18s %d per thread%s", "registers", e->registers, e->spilled ? "" : "\n");
  if (e->spilled) text_printf(out, ", %d more spilled\n", e->spilled);
  text_printf(out, "%-18s %lld B per program\n", "shared memory", (long long)e->shared);
  print_count(out, "pipeline stages", e->stages, "");
  print_excess(out, "bank conflicts", e->conflicts, "accesses of shared memory");
}

static void print_occupancy(Text *out, const Estimate *e) {
  text_printf(out, "%-18s %d program%s per SM, by %s\n", "occupancy", e->occupancy,
              e->occupancy == 1 ? "" : "s", e->occupancy_by);
}

void estimate_print_resources(Text *out, const Estimate *e) {
  if (!e->gpu) return;
  print_gpu_resources(out, e);
  print_occupancy(out, e);
}

void estimate_print(Text *out, const Estimate *e) {
  print_time(out, e);
  print_part(out, "launch", e->launch_us);
  for (Bound b = BOUND_MEMORY; b <= BOUND_LATENCY; b++)
    if (e->bound_us[b] > 0 || e->gpu) print_part(out, estimate_bound_name(b), e->bound_us[b]);
  print_scaled(out, "memory traffic", e->memory_bytes, "B");
  print_scaled(out, e->gpu ? "L2 traffic" : "cache traffic", e->l2_bytes, "B");
  if (e->gpu) print_scaled(out, "tensor cores", e->tensor_flops, "FLOP");
  print_scaled(out, "f32 arithmetic", e->f32_flops, "FLOP");
  print_scaled(out, "special functions", e->specials, "");
  if (e->gpu) {
    print_gpu_resources(out, e);
    print_excess(out, "scattered accesses", e->lines, "128-byte lines of global memory");
  }
  text_printf(out, "%-18s %.0f\n", "programs", e->programs);
  if (e->gpu) print_occupancy(out, e);
  print_count(out, "waves", e->waves, "");
}
