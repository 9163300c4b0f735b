#ifndef NEREID_LOWER_THREAD_LICM_H
#define NEREID_LOWER_THREAD_LICM_H

#include "lower/lower.h"

/* Passes hoist (level nest) and licm (level thread): loop-invariant code motion.  Statements, and
 * whole unrolled loops, whose operands no iteration changes move before the loop. */
bool licm_run(Unit *u);

#endif
