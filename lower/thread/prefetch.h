#ifndef NEREID_LOWER_THREAD_PREFETCH_H
#define NEREID_LOWER_THREAD_PREFETCH_H

#include "lower/lower.h"

/* Of the CPU's list, where the programs of a grid's axis 0 run one after the other: asks for what
 * the next one loads while this one computes. */
bool prefetch_run(Unit *u);

#endif
