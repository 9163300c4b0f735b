/* Pointer bounds: which bytes a kernel may access through a parameter, as an expression over its
 * arguments and the grid, for the runtime alias check of lower/nest/nest.h's NoAlias.
 *
 * The expression's value is an interval of byte offsets from the pointer, computed operation by
 * operation on intervals (runtime/image/intexpr.h, which also lists the functions used here).  Its
 * names are those of the parameters (integers: their values), and
 *
 *   pid.x pid.y pid.z     a program's index: 0 to the grid's extent - 1
 *   grid.x grid.y grid.z  the grid's extents
 *
 * A comparison that guards an access, as its mask or as a branch around it, bounds the values that
 * it compares. */
#ifndef NEREID_LOWER_ANALYSIS_POINTER_BOUNDS_H
#define NEREID_LOWER_ANALYSIS_POINTER_BOUNDS_H

#include "lang/tile/tile.h"

/* Fills out[i] for each parameter: NULL for a parameter that is no pointer, where an address
 * depends on data, and where the expression would be too long.  `names` are the parameters' names
 * in expressions. */
void pointer_bounds(const char **out, const TileFunc *f, const char *const *names, Arena *a);

/* How often the loops run whose bodies have a product; NULL: there are none, or that is unknown, or
 * a body has two, or is in another loop. */
const char *product_turns(const TileFunc *f, const char *const *names, Arena *a);

/* ---- certain_reach.c ---- */

/* Fills out[i] for each parameter: the number of bytes from the pointer on, or NULL.  The
 * expression's names are `names`, those of the parameters, and grid_x, grid_y, grid_z. */
void certain_reach(const char **out, const TileFunc *f, const char *const *names, Arena *a);

#endif
