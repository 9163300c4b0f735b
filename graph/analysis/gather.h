/* Gathers: primitives that read an operand at an index that other operands say. */
#ifndef NEREID_GRAPH_ANALYSIS_GATHER_H
#define NEREID_GRAPH_ANALYSIS_GATHER_H

#include "graph/ops/prims.h"

typedef struct {
  Node *data;
  Dim element[GRAPH_RANK_MAX]; /* in data; where an index says it, a symbol of its own */
  uint32_t n;
  struct {
    Node *index;
    Dim element[GRAPH_RANK_MAX]; /* in index */
    Dim symbol;                  /* its element's value in the index above; negative ones */
    Dim size;                    /* count from the end of an axis of that size */
  } by[GRAPH_RANK_MAX];
} Gather;

/* The element that n, a PRIM_GATHER, reads for its element at index `element`.  The symbols are
 * new ones. */
void gather_of(Graph *g, const Node *n, const Dim *element, Gather *out);

#endif
