/* A walk through one warp's part of a program, as the model of times (lower/cost/estimate.h) takes
 * it.
 *
 * Integers, pointers and guards are computed for all lanes of the warp (or for its first one);
 * floats are counted only.  Of a long loop the first and the last iterations are walked through,
 * and what changes steadily jumps over those between.  Meanwhile a clock runs for this warp alone:
 * an instruction starts when its operands are there and its unit is free. */
#ifndef NEREID_LOWER_COST_WALK_H
#define NEREID_LOWER_COST_WALK_H

#include "lower/nest/nest.h"
#include "lower/target/rates.h"

enum {
  WALK_LANES = 32,
  WALK_GROUPS = 64,
  WALK_FLYING = 128, /* registers */
  WALK_ARRAYS = 32,
  WALK_SITES = 256,
  WALK_DEPTH = 16,   /* of loops; those that are deeper have one iteration stand for all */
  UNKNOWN_TRIPS = 16 /* of loops whose bounds are not known */
};

/* What a warp has to do; units are warp instructions unless said. */
typedef struct {
  double issued;
  double f32, alu, special, convert, shuffle;
  double shared, shared_least; /* turns of shared memory */
  double lines, lines_least;   /* 128-byte lines of global memory, ... */
  double sent;                 /* ... and those of stores */
  double tensor;               /* clocks of a processor's matrix units */
  double operands;             /* bytes of shared memory that matrix units read */
  double barriers, atomics;
  double rounds; /* of loops, and 1 */
  double f32_flops, tensor_flops, specials;
} WalkCounts;

/* A statement that accesses global memory. */
typedef struct {
  const NestStmt *stmt;
  int array; /* -1: addresses are not known */
  bool store;
  double touched_sectors; /* of 32 bytes, each time that a warp's access touches one */
  double warp_sectors;    /* new ones for each warp of this program, ... */
  double program_sectors; /* ... and new ones for all of its warps that were walked through */
  double pieces;          /* of 256 aligned bytes, each time that a warp loads from one */
  int64_t first;          /* the first lane's first address in this program */
  int64_t lo, hi;         /* bytes that this program touches, lo to hi - 1 */
  bool walked, touched;   /* it has a first address; it has lo and hi */
} WalkSite;

/* Pointers have no values: each pointer parameter has a space of addresses of its own. */
enum { WALK_ARRAY_SHIFT = 44 };

typedef struct WalkSeen WalkSeen; /* sectors that this program has touched */

typedef struct {
  const Nest *nest;
  const Rates *rates;
  Arena *arena;
  uint32_t *offset;             /* of a variable's first register, by its id */
  uint32_t registers, integers; /* integers come first: those alone have values */
  uint8_t *matters; /* of unrolled loops, by their index: there is more in it than to count */
  int64_t (*values)[WALK_LANES];             /* of integer registers */
  int64_t (*before[WALK_DEPTH])[WALK_LANES]; /* a loop's values before an iteration */
  int depth;
  uint8_t *known;
  const bool *streamed; /* variables (lower/cost/only_accumulated.h) */
  uint8_t *given;       /* which of the nest's parameters have a value */
  float *ready;         /* when a register has its value, on this warp's clock */
  int64_t *index;       /* of the loops' indices, by id */
  int lanes;            /* that are computed: all, or 1 */
  bool counting;        /* false: only each site's first address is wanted */
  bool timing;          /* the clock matters: loops are followed until they run steadily */
  int ring;             /* slots of the deepest ring; 1: there is none */
  int warp;
  int64_t pid[3], grid[3];
  int steps;     /* statements that this warp has walked through */
  double weight; /* for how many executions the present one stands */
  WalkCounts counts;
  WalkSite sites[WALK_SITES];
  int nsites;
  int narrays; /* pointer parameters */
  WalkSeen *seen;
  /* this warp's clock */
  double time, free_tensor, free_special, free_alu;
  double flying[WALK_FLYING]; /* when registers of the last streamed loads have their values */
  uint32_t loaded;            /* registers of these, so far */
  double copies, groups[WALK_GROUPS]; /* when asynchronous copies are done: open ones, groups */
  int ngroups;
  double products, product_groups[WALK_GROUPS];
  int nproducts;
} Walk;

/* Of a nest at level thread, all of whose integer parameters are unknown at first. */
Walk *walk_new(Arena *a, const Nest *n, const Rates *r, const int64_t grid[3]);
void walk_set(Walk *w, uint32_t param, int64_t value);
/* Forgets the program before. */
void walk_program(Walk *w, const int64_t pid[3]);
/* Walks through a warp's part; adds to counts and sites.  w->time is then how long it took
 * this warp alone. */
void walk_warp(Walk *w, int warp);

/* ---- between walk.c and its parts ---- */
static inline double walk_later(double x, double y) { return x > y ? x : y; }
int64_t walk_affine(const Walk *w, const Affine *a);
uint32_t walk_register(const Walk *w, const Ref *r);
/* Values of the first n lanes; false: unknown. */
bool walk_operand(const Walk *w, const Ref *r, int n, int64_t out[WALK_LANES]);
/* An elementwise op on integers or pointers (walk_value.c); false: its result is unknown. */
bool walk_value(const Walk *w, const NestStmt *s, int n, int64_t out[WALK_LANES]);
/* Loads, stores, copies, atomics (walk_memory.c). */
void walk_memory(Walk *w, const NestStmt *s);
WalkSeen *walk_seen_new(Arena *a);
void walk_seen_clear(WalkSeen *s);
/* Counts what an elementwise op costs, and lets its warp's clock run (walk_clock.c). */
void walk_op(Walk *w, const NestStmt *s);
void walk_product(Walk *w, const NestStmt *s);
void walk_together(Walk *w, const NestStmt *s); /* shuffles, barriers, waits, commits */
/* When all that a statement reads is there; then its results are `later`. */
double walk_start(const Walk *w, const NestStmt *s);
double walk_sharers(const Walk *w); /* warps of the program that take turns with this one */
void walk_results(Walk *w, const NestStmt *s, uint32_t n, double when);

#endif
