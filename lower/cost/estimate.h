/* The cost model: a prediction of a launch's time from a nest of level thread.
 *
 * lower/cost owns the model and its simulator of warps.  It takes a nest of level thread, the grid,
 * values of arguments and the peaks of a device, and gives a time, its error, and the unit that
 * bounds it.
 *
 * Some programs of the grid are simulated (lower/cost/simulate.h): addresses, guards and trip
 * counts are computed from the arguments' values, a loop's middle is extrapolated, and everything
 * else is counted.  From that follow the bytes that memory and the cache deliver, the work of each
 * unit of a processor, and the time that one warp waits for its own results.  A few constants
 * (estimate.c) are fitted to measured times; none belongs to a kernel.
 *
 * An argument without a value, and a value loaded from memory, is unknown: guards on it hold, loops
 * over it run UNKNOWN_TRIPS times, addresses made of it are scattered.
 *
 * The folder: simulate*.c, one warp; register_pressure.c, the registers of a thread;
 * launch_stats.c, all programs together; estimate.c, the time. */
#ifndef NEREID_LOWER_COST_ESTIMATE_H
#define NEREID_LOWER_COST_ESTIMATE_H

#include "lower/nest/nest.h"
#include "lower/target/device_peaks.h"

enum { UNKNOWN_TRIPS = 16 }; /* iterations of a loop whose bounds are not known */

typedef struct {
  const char *name;
  int64_t value;
} EstimateValue;

typedef struct {
  const DevicePeaks *peaks;
  int64_t grid[3];
  const EstimateValue *values; /* of integer parameters */
  int nvalues;
} EstimateInput;

typedef enum {
  BOUND_MEMORY, /* bytes from memory */
  BOUND_CACHE,  /* bytes from the cache before it */
  BOUND_TENSOR, /* matrix units */
  BOUND_ISSUE,  /* instructions, and units that take them one by one */
  BOUND_LATENCY /* too few warps to hide that each waits for its own results */
} Bound;

typedef struct Estimate {
  double us, low_us, high_us; /* the launch, and between what it probably is */
  bool gpu;                   /* a processor is a multiprocessor (SM), else a core */
  /* The time of the whole launch if nothing but this counted; latency: of the processor that
   * has most to do, with all that it waits for. */
  double bound_us[BOUND_LATENCY + 1];
  double launch_us;               /* of the launch itself, whatever the kernel does */
  Bound bound;                    /* the largest of them */
  double memory_bytes, l2_bytes;
  double tensor_flops, f32_flops; /* of the launch */
  double specials;                /* exp2, rcp, sqrt, ... */
  double conflicts;               /* wavefronts of shared memory for each that would do; 1: none */
  double lines;                   /* the same of 128-byte lines of global memory */
  int warps;                      /* of a program */
  int registers, spilled;         /* a thread; 32-bit registers that do not fit */
  int64_t shared;                 /* bytes a program */
  int occupancy;                  /* programs a processor holds at a time */
  const char *occupancy_by;       /* the resource that limits how many run at once */
  int stages;                     /* slots of the deepest ring; 1: none */
  double programs, waves;         /* waves: programs by those that run at a time */
} Estimate;

const char *estimate_bound_name(Bound b); /* "memory" */
/* Estimates from statistics of the launch (lower/cost/launch_stats.h). */
struct LaunchStats;
Estimate estimate_stats(const struct LaunchStats *f, const DevicePeaks *r);
/* A table of the parts, a line each. */
void estimate_print(Text *out, const Estimate *e);
/* What no launch changes. */
void estimate_print_resources(Text *out, const Estimate *e);

#endif
