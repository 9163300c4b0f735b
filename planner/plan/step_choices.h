/* The tiles that a step may have, as its list gathers them. */
#ifndef NEREID_PLANNER_PLAN_STEP_CHOICES_H
#define NEREID_PLANNER_PLAN_STEP_CHOICES_H

#include "planner/plan/tiles.h"

/* A choice of four warps and three stages, without constexprs. */
StepChoice choice_new(const Tiles *t);
void add_choice_constexpr(const Tiles *t, StepChoice *c, const char *name, int64_t value);
/* Adds a choice that the step does not have, and takes the first.  False: no more are wanted. */
bool add_step_choice(const Tiles *t, PlanStep *s, StepChoice c);
/* The number of blocks of so many elements that n take. */
Dim blocks_of_size(const Tiles *t, Dim n, int64_t block);
/* The block, or the least power of two that holds n elements, if that is less. */
int64_t block_within(Dim n, int64_t block);

#endif
