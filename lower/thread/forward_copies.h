#ifndef NEREID_LOWER_THREAD_FORWARD_COPIES_H
#define NEREID_LOWER_THREAD_FORWARD_COPIES_H

#include "lower/lower.h"

/* Of the CPU's list: what is copied to shared memory only to be read from there is read where it
 * lies. */
bool forward_copies_run(Unit *u);

#endif
