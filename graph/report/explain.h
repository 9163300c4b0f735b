/* What a plan does, as a table for people: of each kernel the nodes that it covers, what it must
 * move and compute, how long that takes at least, how long it took, and why it is not one with the
 * kernels before it. */
#ifndef NEREID_GRAPH_REPORT_EXPLAIN_H
#define NEREID_GRAPH_REPORT_EXPLAIN_H

#include "graph/plan/plan.h"
#include "runtime/device/peaks.h"
#include "graph/plan/sizes.h"

/* How long steps took, in microseconds. */
typedef struct {
  const double *steps; /* of each that is no `once`; NULL: nothing was measured */
  double updates;      /* copying of what the graph writes to inputs and weights */
  double run;          /* all of it, from the first launch to the last copy */
} StepTimes;

typedef struct {
  const Plan *plan;
  const Sizes *sizes; /* with all symbols bound */
  const char *mode;
  DevicePeaks peaks;
  StepTimes times;
} Explanation;

void explain_print(Text *out, const Explanation *x);

/* What a step must do for these sizes; false if that cannot be said. */
typedef struct {
  int64_t read, written; /* bytes */
  int64_t operations;
  double memory_us, compute_us; /* at least; 0 where the device's rate is not known */
} StepFloor;

bool explain_floor(const Explanation *x, const PlanStep *s, StepFloor *out);

#endif
