/* Products on CPUs whose right operand each run is given, and is small: a program reads its columns
 * in place, or copies them for all of the sum, so that no launch before packs them in panels
 * (panels.h), and a panel that was written goes through no cache but the copier's own. */
#ifndef NEREID_TILING_NEAR_COLUMNS_H
#define NEREID_TILING_NEAR_COLUMNS_H

#include "graph/ir/graph.h"
#include "tiling/tiling.h"

/* How the right operand lies in memory: elements of a row are next to each other, or those of a
 * column, or they are those of a row and become words along the sum (strided.h); or it is no tensor
 * in memory, and the program computes its columns (nereid.packed_mm). */
typedef enum { NEAR_ROWS, NEAR_COLUMNS, NEAR_WORDS, NEAR_COMPUTED } NearOrder;

typedef struct {
  bool in_place;
  NearOrder order;
  Tile tile;    /* `bn` columns of a program, blocks of `bm` rows, all words of the sum */
  int64_t rows; /* of a program that copies its columns */
} NearColumns;

/* Is it computed so?  A product in panels is not to be asked for. */
bool near_columns_of(Graph *g, const Node *product, NearColumns *out);
/* Is the right operand, of which some is concatenated, cheap to compute where it is copied, and not
 * used elsewhere?  `uses`: by node id, of `nids` nodes. */
bool near_columns_computes(Graph *g, const Node *product, const uint32_t *uses, uint32_t nids);

#endif
