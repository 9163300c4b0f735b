/* A simulation of one warp's part of a program, for the cost model (lower/cost/estimate.h).
 *
 * Integers, pointers and guards are computed for all lanes of the warp (or for its first one);
 * floats are counted only.  The first and the last iterations of a long loop are simulated, and
 * values that change steadily are extrapolated over those between.  Meanwhile a clock runs for this
 * warp alone: an instruction starts when its operands are there and its unit is free. */
#ifndef NEREID_LOWER_COST_SIMULATE_H
#define NEREID_LOWER_COST_SIMULATE_H

#include "lower/cost/estimate.h"

enum {
  SIM_LANES = 32,
  SIM_GROUPS = 64,
  SIM_FLYING = 128, /* registers */
  SIM_ARRAYS = 32,
  SIM_SITES = 256,
  SIM_DEPTH = 16 /* of loops; those that are deeper one iteration represents all */
};

/* The work of a warp; units are warp instructions unless said. */
typedef struct {
  double issued;
  double f32, alu, special, convert, shuffle;
  double shared, shared_least; /* turns of shared memory */
  double lines, lines_least;   /* 128-byte lines of global memory, ... */
  double sent;                 /* ... and those of stores */
  double tensor;               /* clocks of a processor's matrix units */
  double operands;             /* bytes of shared memory that matrix units read */
  double barriers, atomics;
  double narrow_copies; /* asynchronous ones of less than 16 bytes a thread */
  double unwanted; /* bytes of the cache's lines that boxes' rows are parts of, beside these */
  double rounds; /* of loops, and 1 */
  double f32_flops, tensor_flops, specials;
} SimCounts;

/* A statement that accesses global memory. */
typedef struct {
  const NestStmt *stmt;
  int array; /* -1: addresses are not known */
  bool store;
  double touched_sectors; /* of 32 bytes, each time that a warp's access touches one */
  double warp_sectors;    /* new ones for each warp of this program, ... */
  double program_sectors; /* ... and new ones for all of its warps that were simulated */
  double pieces;          /* of 256 aligned bytes, each time that a warp loads from one */
  int64_t first;          /* the first lane's first address in this program */
  int64_t lo, hi;         /* bytes that this program touches, lo to hi - 1 */
  bool simulated, touched;   /* it has a first address; it has lo and hi */
  bool once;                 /* the first warp accesses it for the program */
} SimSite;

/* Pointers have no values: each pointer parameter has a space of addresses of its own. */
enum { SIM_ARRAY_SHIFT = 44 };

typedef struct SimSeen SimSeen; /* sectors that this program has touched */

typedef struct {
  const Nest *nest;
  const DevicePeaks *peaks;
  Arena *arena;
  uint32_t *offset;             /* of a variable's first register, by its id */
  uint32_t registers, integers; /* integers come first: those alone have values */
  uint8_t *matters; /* of unrolled loops, by their index: there is more in it than to count */
  int64_t (*values)[SIM_LANES];             /* of integer registers */
  int64_t (*before[SIM_DEPTH])[SIM_LANES]; /* a loop's values before an iteration */
  int depth;
  uint8_t *known;
  const bool *only_accumulated; /* variables (lower/cost/only_accumulated.h) */
  uint8_t *given;       /* which of the nest's parameters have a value */
  float *ready;         /* when a register has its value, on this warp's clock */
  int64_t *index;       /* of the loops' indices, by id */
  int lanes;            /* that are computed: all, or 1 */
  bool counting;        /* false: only each site's first address is wanted */
  bool timing;          /* the clock matters: loops are followed until they run steadily */
  int ring;             /* slots of the deepest ring; 1: there is none */
  int warp;
  int64_t pid[3], grid[3];
  int steps;     /* statements that this warp has simulated */
  double weight; /* executions that the present one represents */
  SimCounts counts;
  SimCounts *lines;     /* by source line: the counts of its statements; NULL: not wanted */
  SimSite sites[SIM_SITES];
  int nsites;
  int narrays; /* pointer parameters */
  SimSeen *seen;
  /* this warp's clock */
  double time, free_tensor, free_special, free_alu;
  double flying[SIM_FLYING]; /* when registers of the last loads of such values are ready */
  uint32_t loaded;            /* registers of these, so far */
  double copies, groups[SIM_GROUPS]; /* when asynchronous copies are done: open ones, groups */
  double free_boxes; /* when the last box's bytes could leave the cache */
  double free_copies; /* when the processor can begin with another copy of a warp */
  double waits, early; /* for copies; clocks that these were done before */
  int ngroups;
  double products, product_groups[SIM_GROUPS];
  int nproducts;
} Simulation;

/* Begins the simulation of a nest at level thread; all of its integer parameters are unknown at
 * first. */
Simulation *simulation_new(Arena *a, const Nest *n, const DevicePeaks *r, const int64_t grid[3]);
void simulation_set(Simulation *sim, uint32_t param, int64_t value);
void simulation_set_parameters(Simulation *sim, const EstimateInput *in); /* those with values */
/* Forgets the program before. */
void simulation_start(Simulation *sim, const int64_t pid[3]);
/* Simulates a warp's part; adds to counts and sites.  sim->time is then how long it took
 * this warp alone. */
void simulate_warp(Simulation *sim, int warp);

/* ---- between simulate.c, simulate_clock.c and simulate_memory.c ---- */
static inline double sim_later(double x, double y) { return x > y ? x : y; }
static inline bool sim_is_integer(const Simulation *sim, const NestVar *v) {
  return sim->offset[v->id] < sim->integers;
}
int64_t sim_affine(const Simulation *sim, const Affine *a);
uint32_t sim_register(const Simulation *sim, const Ref *r);
/* Values of the first n lanes; false: unknown. */
bool sim_operand(const Simulation *sim, const Ref *r, int n, int64_t out[SIM_LANES]);
/* Clocks until bytes have arrived that are copied into a ring, as boxes or by threads, where so
 * many programs run (simulate_memory.c). */
double sim_copy_clocks(const DevicePeaks *r, double programs, double bytes, bool boxes);
/* The share of its matrix units' rate that single warps get (simulate_clock.c). */
double sim_synchronous_share(const DevicePeaks *r);
/* Clocks of a processor for a warp's narrow copy. */
static const double SIM_COPY_BUSY = 5.3;
/* Loads, stores, copies, atomics (simulate_memory.c). */
void simulate_memory(Simulation *sim, const NestStmt *s);
SimSeen *sim_seen_new(Arena *a);
void sim_seen_clear(SimSeen *s);
/* Counts what an elementwise op costs, and lets its warp's clock run (simulate_clock.c). */
void simulate_op(Simulation *sim, const NestStmt *s);
void simulate_product(Simulation *sim, const NestStmt *s);
void simulate_sync(Simulation *sim, const NestStmt *s); /* shuffles, barriers, waits, commits */
/* When all that a statement reads is there; then its results are `later`. */
double sim_start(const Simulation *sim, const NestStmt *s);
double sim_sharers(const Simulation *sim); /* warps of the program that take turns with this one */
void sim_results(Simulation *sim, const NestStmt *s, uint32_t n, double when);

#endif
