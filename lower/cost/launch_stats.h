/* The statistics of a launch that the cost model (lower/cost/estimate.h) reads: gathered by
 * simulating a few warps of a few programs in full, and many programs for their first addresses
 * alone. */
#ifndef NEREID_LOWER_COST_LAUNCH_STATS_H
#define NEREID_LOWER_COST_LAUNCH_STATS_H

#include "lower/cost/estimate.h"
#include "lower/cost/simulate.h"

typedef struct {
  const NestStmt *stmt;
  double busy;
} SiteTraffic;

typedef struct LaunchStats {
  double programs;
  int warps;
  int registers, spilled; /* a thread (register_pressure) */
  int64_t shared;         /* bytes a program */
  int occupancy, stages;
  SimCounts counts;     /* of all warps of a program, on average */
  double clocks;         /* that a program takes if it has a processor for itself, on average */
  double clocks_most;    /* ... the longest one */
  double waits, early;   /* in these clocks: waits for copies, clocks that these were done before */
  double loaded, stored; /* bytes between cache and processors, of a program */
  double read, written;  /* bytes between memory and the cache, of the launch */
  double busy;           /* the same, where short runs count as the bytes that take as long */
  SiteTraffic sites[SIM_SITES]; /* the parts that statements have in it */
  int nsites;
} LaunchStats;

/* Register pressure: an estimate of the 32-bit registers of a thread, the most that are live at one
 * statement of level thread (register_pressure.c).  The assembler may do better or worse. */
int register_pressure(Arena *a, const Nest *n);
/* The most that are live at a statement of each source line, `lines` of them. */
void register_pressure_of_lines(Arena *a, const Nest *n, double *lines);

/* Programs that a multiprocessor holds by their warps, registers and shared memory. */
int launch_stats_occupancy(const LaunchStats *f, const DevicePeaks *r);
/* The resource that limits how many run at once: "registers", "shared memory", "warps". */
const char *launch_stats_limit(const LaunchStats *f, const DevicePeaks *r);
LaunchStats launch_stats_gather(Arena *a, const Nest *n, const EstimateInput *in);

#endif
