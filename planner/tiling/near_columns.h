/* Products on CPUs whose right operand each run is given, and is small: a program reads its columns
 * in place, or copies them for all of the sum, so that no launch before packs them in panels
 * (panels.h), and a panel that was written goes through no cache but the copier's own. */
#ifndef NEREID_PLANNER_TILING_NEAR_COLUMNS_H
#define NEREID_PLANNER_TILING_NEAR_COLUMNS_H

#include "graph/ir/graph.h"
#include "planner/tiling/tiling.h"

typedef struct {
  bool in_place;
  Tile tile;    /* `bn` columns of a program, blocks of `bm` rows, all of the sum */
  int64_t rows; /* of a program that copies its columns */
} NearColumns;

/* Is it computed so?  A product in panels is not to be asked for. */
bool near_columns_of(Graph *g, const Node *product, NearColumns *out);

#endif
