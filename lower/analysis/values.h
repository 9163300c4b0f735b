/* Values of tile IR: through the ops that keep their elements, and computed alike. */
#ifndef NEREID_LOWER_ANALYSIS_VALUES_H
#define NEREID_LOWER_ANALYSIS_VALUES_H

#include "lang/tile/tile.h"

/* The value whose elements v's are, in another shape or a wider type. */
const TileValue *tile_root_value(const TileValue *v);

/* The parameter, of the kernel or of a loop, that an address is computed from; NULL if another op
 * computes it. */
TileValue *tile_address_root(TileValue *v);

/* Two values under comparison, of which `base` in the one counts as `other` in the other: so
 * addresses compare as if their parameters were one. */
typedef struct {
  int64_t base, other; /* value ids; equal, or -1, for none */
  int steps;           /* that may be taken yet */
} ValueComparison;

/* Is it the same value, or computed alike?  False too when all steps have been taken. */
bool values_alike(const TileValue *a, const TileValue *b, ValueComparison *c);

#endif
