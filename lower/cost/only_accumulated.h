/* Which variables hold values that are used up one by one: each goes into a sum, or the like, and
 * nothing else reads it.  The assembler then does not keep all of them at a time, so that loads of
 * them wait for those before (lower/cost/walk_memory.c). */
#ifndef NEREID_LOWER_COST_ONLY_ACCUMULATED_H
#define NEREID_LOWER_COST_ONLY_ACCUMULATED_H

#include "lower/nest/nest.h"

/* Of a nest at level thread; by the variables' ids. */
bool *find_only_accumulated(Arena *a, const Nest *n);

#endif
