/* The verifier of plans: steps, reads and loops name what there is and are in order; with places, a
 * temporary is alive in each step that names it, and no two that are alive at once share bytes of
 * the pool. */
#ifndef NEREID_PLANNER_PLAN_VERIFY_PLAN_H
#define NEREID_PLANNER_PLAN_VERIFY_PLAN_H

#include "planner/plan/plan.h"

/* The first fault, in `a`; NULL: there is none. */
const char *plan_fault(Arena *a, const Plan *p, bool has_places);

#endif
