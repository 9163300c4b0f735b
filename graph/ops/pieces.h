/* Primitives whose element comes from one of several places, or from none: cat and padding.  Each
 * piece says where it reads, and between which limits that place must lie. */
#ifndef NEREID_GRAPH_OPS_PIECES_H
#define NEREID_GRAPH_OPS_PIECES_H

#include "graph/ops/prims.h"

typedef struct {
  Node *operand;
  Dim place[GRAPH_RANK_MAX]; /* in operand, as if the limits held */
  uint32_t nlimits;
  struct {
    Dim x, lo, hi; /* lo <= x < hi; a limit that always holds is NULL */
  } limits[GRAPH_RANK_MAX];
} Piece;

typedef struct {
  Piece *pieces;
  uint32_t n;
  Arg otherwise; /* where no piece's limits hold; NONE: one always does */
} Pieces;

/* What n, a PRIM_PIECES, reads for its element at `place`. */
Pieces pieces_of(Graph *g, const Node *n, const Dim *place);
/* Adds lo <= x < hi, as far as it is not known already. */
void piece_limit(Graph *g, Piece *p, Dim x, Dim lo, Dim hi);

#endif
