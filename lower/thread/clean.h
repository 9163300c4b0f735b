/* Clean-up passes on level thread. */
#ifndef NEREID_LOWER_THREAD_CLEAN_H
#define NEREID_LOWER_THREAD_CLEAN_H

#include "lower/lower.h"

/* Moves what a loop computes anew each time, from values that it does not change, before it. */
bool licm_run(Unit *u);
/* Joins equal computations and removes those that nothing uses. */
bool clean_run(Unit *u);

#endif
