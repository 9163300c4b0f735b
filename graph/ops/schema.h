/* Schemas as ATen writes them: "(Tensor(a!) self, int[2] n, *, Scalar? b=1) -> Tensor(a!)". */
#ifndef NEREID_GRAPH_OPS_SCHEMA_H
#define NEREID_GRAPH_OPS_SCHEMA_H

#include "graph/ops/ops.h"

/* Parses a schema of the op table, in which an error is a bug. */
const OpSchema *schema_parse(Graph *g, const char *text);

#endif
