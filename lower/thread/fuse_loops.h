/* Passes of the CPU's list on level thread, where an unrolled loop stays a loop and what a register
 * array holds goes through memory. */
#ifndef NEREID_LOWER_THREAD_FUSE_LOOPS_H
#define NEREID_LOWER_THREAD_FUSE_LOOPS_H

#include "lower/lower.h"

/* Joins unrolled loops of the same extents, so that an element stays in a register from the
 * statement that computes it to those that use it; register arrays that live in one loop only
 * become scalars. */
bool fuse_loops_run(Unit *u);

#endif
