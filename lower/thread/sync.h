/* Shared memory of level thread: where buffers lie, and where barriers stand.  See
 * lower/thread/sync.c. */
#ifndef NEREID_LOWER_THREAD_SYNC_H
#define NEREID_LOWER_THREAD_SYNC_H

#include "lower/lower.h"

bool allocate_shared_run(Unit *u);
bool sync_run(Unit *u);

#endif
