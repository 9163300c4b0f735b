/* Kernels whose programs could be done one after the other by one of them (pass
 * loop_over_programs). */
#ifndef NEREID_LOWER_ANALYSIS_LONE_PROGRAMS_H
#define NEREID_LOWER_ANALYSIS_LONE_PROGRAMS_H

#include "lang/tile/tile.h"

/* The parameter that says how many they are, named as bounds of accesses name that. */
#define LONE_PROGRAMS "grid.x"

/* Is the kernel a product, in the one loop, of programs along one axis of the grid, and do these
 * tell each other nothing, and wait for nothing? */
bool has_lone_programs(const TileFunc *f);

/* Has no element that it stores more than 2 bytes?  A tile of others takes as long to store as such
 * a loop gains. */
bool stores_narrow(const TileFunc *f);

#endif
