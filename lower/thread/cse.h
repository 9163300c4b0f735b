#ifndef NEREID_LOWER_THREAD_CSE_H
#define NEREID_LOWER_THREAD_CSE_H

#include "lower/lower.h"

/* Level thread: common-subexpression elimination, then dead statements and variables go. */
bool cse_run(Unit *u);

#endif
