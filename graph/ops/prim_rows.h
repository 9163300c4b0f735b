/* The rows of primitives that have tables of their own: pointwise ops and views. */
#ifndef NEREID_GRAPH_OPS_PRIM_ROWS_H
#define NEREID_GRAPH_OPS_PRIM_ROWS_H

#include "graph/ops/infer_rules.h"
#include "graph/ops/prims.h"

typedef struct ViewRow ViewRow;
typedef struct PointwiseRow PointwiseRow;

/* NULL: the op of that target has none. */
const ViewRow *view_row(const char *target);
const PointwiseRow *pointwise_row(const char *target);
/* How many there are. */
uint32_t prim_rows_views(void);
uint32_t prim_rows_pointwise(void);

/* To ask for the arguments of a node that was inferred, so that asking cannot fail. */
static inline Infer prim_arguments(Graph *g, const Node *n) {
  return (Infer){.g = g, .n = (Node *)n, .schema = n->op ? ops_schema(g, n->op) : NULL};
}

#endif
