/* Pass pipeline on level nest. */
#ifndef NEREID_LOWER_PIPELINE_PIPELINE_H
#define NEREID_LOWER_PIPELINE_PIPELINE_H

#include "lower/lower.h"

/* In loops around a dot, operands that are loaded from global memory and put into shared memory as
 * they are become asynchronous copies that run ahead: their buffers become rings, and the
 * statements that compute their addresses run ahead with them, on variables of their own. */
bool pipeline_run(Unit *u);

#endif
