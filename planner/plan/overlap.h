/* Loads of a step that come before the step before it has ended.
 *
 * A kernel of a plan on a GPU starts before the one before it has ended, and waits for that
 * (dependent launch).  What it reads of *steady* memory need not wait: nothing writes that any more
 * when the kernel starts.  The kernel before has waited, so what came before that one has ended, as
 * has what came before the run.  So steady are buffers that a step two before wrote, or an earlier
 * one, and inputs, weights and constants that no step of the run has written. */
#ifndef NEREID_PLANNER_PLAN_OVERLAP_H
#define NEREID_PLANNER_PLAN_OVERLAP_H

#include "planner/plan/plan.h"

/* Marks arguments of steps that are steady. */
void overlap_find(Plan *p, Arena *scratch);
/* An argument that is marked and is not steady; NULL: there is none. */
const StepArg *overlap_fault(const Plan *p, Arena *scratch, uint32_t *step);

#endif
