/* A step of a plan as a problem of the tuner (runtime/search/tuner.h). */
#ifndef NEREID_GRAPH_EXECUTE_TUNE_PROBLEM_H
#define NEREID_GRAPH_EXECUTE_TUNE_PROBLEM_H

#include "graph/compile/plan_kernels.h"
#include "runtime/search/search.h"

/* Its candidates are the step's choices, in their order, at the sizes that are bound.  Buffers of
 * floats hold normal numbers, all others zeros: an index that each table has.  Records call it by
 * what it computes, so that models and layers share them. */
int tune_problem(SearchProblem *out, PlanKernels *k, const Sizes *sizes, const PlanStep *s);

#endif
