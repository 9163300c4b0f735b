/* What a kernel does at each line of its source, and what that costs: for people who want to know
 * why it is slow.  Everything is read from the compiled kernel: its schedule, its last nest and the
 * cost model's simulation. */
#ifndef NEREID_LOWER_COST_EXPLAIN_H
#define NEREID_LOWER_COST_EXPLAIN_H

#include "lower/cost/estimate.h"
#include "lower/lower.h"

/* "copy": "bf16, 16 bytes a thread by cp.async to @operand" */
typedef struct {
  const char *name, *text;
} LineFact;

typedef struct {
  uint32_t line;
  VEC(LineFact) facts;
} LineReport;

/* A loop whose copies run ahead. */
typedef struct {
  uint32_t line;
  int slots;
  int in_flight;    /* groups of products that run on into the next iteration */
  const char *form; /* "boxes" or "cp.async" */
} RingReport;

typedef struct {
  const Unit *unit;
  uint32_t file;      /* of the kernel; lines of others are left out */
  bool launch;        /* the grid is known, and so are times */
  Estimate estimate;
  VEC(Name) unknown;     /* integer arguments without a value, in a launch */
  VEC(LineReport) lines; /* those that have facts, in order */
  VEC(RingReport) rings;
} Explanation;

/* The explanation of a unit at level thread.  Without a launch `in` has a grid of one program. */
Explanation *explain_unit(Arena *a, const Unit *u, const EstimateInput *in, bool launch);
/* The kernel's totals, a line each, then each line of the source with its facts. */
void explanation_print(Text *out, const Explanation *e);
/* The totals alone. */
void explanation_print_totals(Text *out, const Explanation *e);

#endif
