/* A plan as a table for people: of each kernel the nodes that it covers, the bytes and operations,
 * the least time for these, the measured time, and the reason why it is not fused with the kernels
 * before it.
 *
 * model/report owns views of a compiled model for people.  It takes a graph, its plan and measured
 * times, and gives tables, drawings (model/report/dot.h), traces and folders of dumps. */
#ifndef NEREID_MODEL_REPORT_EXPLAIN_H
#define NEREID_MODEL_REPORT_EXPLAIN_H

#include "planner/plan/plan.h"
#include "planner/plan/sizes.h"
#include "runtime/device/peaks.h"

/* How long steps took, in microseconds. */
typedef struct {
  const double *steps; /* of each that is no `once`; NULL: nothing was measured */
  double updates;      /* copies of new values to inputs and weights */
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

/* The least work of a step for these sizes; false if that is not known. */
typedef struct {
  int64_t read, written; /* bytes */
  int64_t given;         /* of them, bytes of inputs and of results; 0 in a plan that was read */
  int64_t operations;
  double memory_us, compute_us; /* at least; 0 where the device's rate is not known */
} StepFloor;

bool explain_floor(const Explanation *x, const PlanStep *s, StepFloor *out);

#endif
