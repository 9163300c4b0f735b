/* The tensor of a model's file that a buffer of a plan holds. */
#ifndef NEREID_PLANNER_COMPILE_BUFFER_WEIGHT_H
#define NEREID_PLANNER_COMPILE_BUFFER_WEIGHT_H

#include "graph/ir/weight_list.h"
#include "planner/plan/plan.h"

/* Fails if the file (`w`, which may be NULL) has no such tensor, or one of another type.  Floating
 * dtypes may differ: a model that was compiled for another one has its weights converted. */
int buffer_weight(const Weight **out, const Weights *w, const PlanBuffer *b, Arena *scratch);

#endif
