/* Allocation of a plan's temporaries in one pool, from their sizes and lifetimes.
 *
 * All steps are known before the plan runs, so nothing is allocated while it does: the pool is one
 * allocation, and its size is exactly the peak of the memory in use. */
#ifndef NEREID_PLANNER_PLAN_BUFFER_POOL_H
#define NEREID_PLANNER_PLAN_BUFFER_POOL_H

#include "planner/plan/buffer_offsets.h"
#include "planner/plan/plan.h"

/* memory_offsets, in scratch memory of the arena. */
int64_t memory_assign_offsets(Arena *scratch, MemoryItem *items, uint32_t n);

/* The first and last step of each temporary of the plan: those that name it.  A temporary that the
 * plan returns or copies at its end is live until then; one that no step names is dead from the
 * beginning. */
void memory_lifetimes(Plan *p);

/* Lifetimes, offsets and the pool's size of a plan.  Where a size depends on symbols, offsets and
 * pool are NULL: they are found when the plan runs.  False if the pool exceeds MEMORY_LIMIT. */
bool memory_plan(Plan *p);

/* The bytes of a buffer, dim_huge() if they are too many. */
Dim memory_bytes(Dims *d, const PlanBuffer *b);

#endif
