/* Values of tile IR through the ops that keep their elements. */
#ifndef NEREID_LOWER_ANALYSIS_VALUES_H
#define NEREID_LOWER_ANALYSIS_VALUES_H

#include "lang/tile/tile.h"

/* The value whose elements v's are, in another shape or a wider type. */
const TileValue *tile_root_value(const TileValue *v);

#endif
