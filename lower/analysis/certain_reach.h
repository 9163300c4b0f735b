/* Certain reach: bytes that a launch accesses through a parameter whatever the data are, as an
 * expression over its arguments and the grid.  Where they are more than an array has, the launch is
 * wrong; where they are not, nothing is said (lower/analysis/pointer_bounds.h bounds from above).
 *
 * It knows the accesses that most kernels have: outside of branches and loops, at the elements
 * pid * B + arange(0, B), or arange(0, B), of a parameter, with no mask or with the mask that these
 * numbers are less than a scalar argument or a constant. */
#ifndef NEREID_LOWER_ANALYSIS_CERTAIN_REACH_H
#define NEREID_LOWER_ANALYSIS_CERTAIN_REACH_H

#include "lang/tile/tile.h"

/* Fills out[i] for each parameter: the number of bytes from the pointer on, or NULL.  The
 * expression's names are `names`, those of the parameters, and grid_x, grid_y, grid_z. */
void certain_reach(const char **out, const TileFunc *f, const char *const *names, Arena *a);

#endif
