/* Small steps that do not depend on each other become one launch. */
#ifndef NEREID_PLANNER_COMPILE_JOIN_LAUNCHES_H
#define NEREID_PLANNER_COMPILE_JOIN_LAUNCHES_H

#include "planner/kernels/source_functions.h"

/* Joins steps that follow each other among the `n` of `steps`, whose kernels are functions of `f`,
 * and returns how many are left.  `before` steps come before the first. */
uint32_t join_launches(Graph *g, Functions *f, PlanStep *steps, uint32_t n, uint32_t before);

#endif
