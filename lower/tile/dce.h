/* What no one reads is not computed. */
#ifndef NEREID_LOWER_TILE_DCE_H
#define NEREID_LOWER_TILE_DCE_H

#include "lower/lower.h"

/* Removes ops that only compute or load, and whose results nothing uses, before they get layouts: a
 * tile that goes through shared memory could not be taken back later. */
bool dce_run(Unit *u);

#endif
