/* Allocation of a plan's temporaries in one pool, from their sizes and lifetimes.
 *
 * All steps are known before the plan runs, so nothing is allocated while it does: the pool is one
 * allocation, and its size is exactly the peak of the memory in use. */
#ifndef NEREID_GRAPH_PLAN_BUFFER_POOL_H
#define NEREID_GRAPH_PLAN_BUFFER_POOL_H

#include "graph/plan/plan.h"

enum { MEMORY_ALIGNMENT = 256 };
/* No pool is larger; sizes up to here can be added without overflow. */
#define MEMORY_LIMIT ((int64_t)1 << 48)

typedef struct {
  int64_t size;         /* bytes, 0 to MEMORY_LIMIT */
  uint32_t first, last; /* the steps between which it is alive, both of them included */
  int64_t offset;       /* by memory_place: a multiple of MEMORY_ALIGNMENT */
} MemoryItem;

/* Gives each item its offset, so that items that are alive at one step share no byte.  Returns the
 * bytes of the pool, -1 if that exceeds MEMORY_LIMIT (graph/plan/buffer_offsets.c). */
int64_t memory_place(Arena *scratch, MemoryItem *items, uint32_t n);

/* The first and last step of each temporary of the plan: those that name it.  One that the plan
 * returns or copies at its end stays until then; one that no step names is dead from the begin. */
void memory_lifetimes(Plan *p);

/* Lifetimes, offsets and the pool's size of a plan.  Where a size depends on symbols, offsets and
 * pool are NULL: they are found when the plan runs.  False if the pool exceeds MEMORY_LIMIT. */
bool memory_plan(Plan *p);

/* The bytes of a buffer, dim_huge() if they are too many. */
Dim memory_bytes(Dims *d, const PlanBuffer *b);

#endif
