#ifndef NEREID_LOWER_THREAD_FUSE_UNROLLED_H
#define NEREID_LOWER_THREAD_FUSE_UNROLLED_H

#include "lower/lower.h"

/* Level thread: unrolls that follow each other and have the same extent become one where no
 * iteration needs what another one computes.  So a value lives from one statement to the next
 * instead of through whole arrays of them.  Loads stay by themselves, before what uses them. */
bool fuse_unrolled_run(Unit *u);

#endif
