/* Rows that programs of a CPU reduce, as norms and softmax do: how many are a tile, and whether the
 * tile is a row or a loop goes through it. */
#ifndef NEREID_PLANNER_PLAN_CPU_ROWS_H
#define NEREID_PLANNER_PLAN_CPU_ROWS_H

#include "planner/fuse/fuse.h"
#include "planner/plan/plan.h"

/* Is a tile one row?  Rows have a vector at least, and nothing but pointwise operators and
 * reductions along them. */
bool cpu_rows_are_single(const Group *g);
/* Elements that loops through such a row take at a time; 0: the row is better one tile.  Each loop
 * reads the row again, and computes again what it needs of it: a few sums and products. */
int64_t cpu_rows_block(const Group *g, const StepCost *cost);

#endif
