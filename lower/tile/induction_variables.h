/* Passes on the tile IR before the schedule. */
#ifndef NEREID_LOWER_TILE_INDUCTION_VARIABLES_H
#define NEREID_LOWER_TILE_INDUCTION_VARIABLES_H

#include "lower/lower.h"

/* A tile that a loop carries and moves by a scalar (`ptrs += BLOCK * stride`) becomes the tile it
 * started from plus a scalar that the loop carries: then it is no data, and its addresses stay
 * linear. */
bool induction_variables_run(Unit *u);

#endif
