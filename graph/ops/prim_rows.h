/* Arguments for the rules of primitives. */
#ifndef NEREID_GRAPH_OPS_PRIM_ROWS_H
#define NEREID_GRAPH_OPS_PRIM_ROWS_H

#include "graph/ops/infer_rules.h"
#include "graph/ops/prims.h"

/* To ask for the arguments of a node that was inferred, so that asking cannot fail. */
static inline Infer prim_arguments(Graph *g, const Node *n) {
  return (Infer){.g = g, .n = (Node *)n, .schema = n->op ? ops_schema(g, n->op) : NULL};
}

#endif
