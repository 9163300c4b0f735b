/* The sources of a concatenation: cat and padding, primitives each of whose elements comes from one
 * of several operands, or is a constant.  A source has the index that is read, and the bounds of
 * that index. */
#ifndef NEREID_GRAPH_OPS_CONCAT_SOURCES_H
#define NEREID_GRAPH_OPS_CONCAT_SOURCES_H

#include "graph/ops/prims.h"

typedef struct {
  Node *operand;
  Dim index[GRAPH_RANK_MAX]; /* in operand, as if the limits held */
  uint32_t nlimits;
  struct {
    Dim x, lo, hi; /* lo <= x < hi; a limit that always holds is NULL */
  } limits[GRAPH_RANK_MAX];
} ConcatSource;

typedef struct {
  ConcatSource *items;
  uint32_t n;
  Arg otherwise; /* where the bounds of no source hold; NONE: those of one always do */
} ConcatSources;

/* The sources of the element of n, a PRIM_CONCAT, at index `index`. */
ConcatSources concat_sources(Graph *g, const Node *n, const Dim *index);
/* Adds lo <= x < hi, as far as it is not known already. */
void source_limit(Graph *g, ConcatSource *p, Dim x, Dim lo, Dim hi);

#endif
