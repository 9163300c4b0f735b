/* What a step loads before the step before it has ended.
 *
 * A kernel of a plan on a GPU starts before the one before it has ended, and waits for that
 * (dependent launch).  What it reads of *steady* memory need not wait: of inputs, weights and
 * constants that no step of a run writes, and no copy after the last step.  What came before the
 * run may have written them; a step of the run that comes before has waited for it. */
#ifndef NEREID_PLANNER_PLAN_OVERLAP_H
#define NEREID_PLANNER_PLAN_OVERLAP_H

#include "planner/plan/plan.h"

/* Marks arguments of steps that are steady. */
void overlap_find(Plan *p, Arena *scratch);
/* An argument that is marked and is not steady; NULL: there is none. */
const StepArg *overlap_fault(const Plan *p, Arena *scratch, uint32_t *step);

#endif
