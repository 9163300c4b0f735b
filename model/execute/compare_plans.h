/* Two plans of one model, ours with kernels alone and one with calls of libraries: how long the
 * steps took that compute the same. */
#ifndef NEREID_MODEL_EXECUTE_COMPARE_PLANS_H
#define NEREID_MODEL_EXECUTE_COMPARE_PLANS_H

#include "planner/plan/plan.h"

typedef struct {
  const Plan *plan;
  const double *us; /* of each step, but for those that run once */
} TimedPlan;

/* Compares step i of `with`, a call: the sums over all steps, in either plan, that share nodes with
 * it, with each other, or with the steps between; steps that share none belong to those that read
 * what they write.  So the time of a bias that is a kernel of its own counts for the library. */
typedef struct {
  double kernels, library;
} ComparedTimes;

/* For each step of `with`; zeros for those that are no calls. */
const ComparedTimes *plans_compare(Arena *a, TimedPlan without, TimedPlan with);

#endif
