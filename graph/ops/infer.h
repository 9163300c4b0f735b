/* Types of results: each op's rule of shapes and dtypes.
 *
 * A rule gets its node's arguments, reports invalid ones, and sets the result's type.  The rules
 * are those of PyTorch's meta functions; broadcasting and dtype promotion follow its documents
 * (tensor_attributes: categories bool < integral < floating; a tensor with axes outranks one
 * without, which outranks a Python number).
 *
 * Sizes that are not known to differ count as equal: PyTorch traced the graph with sizes for which
 * they are. */
#ifndef NEREID_GRAPH_OPS_INFER_H
#define NEREID_GRAPH_OPS_INFER_H

#include "graph/ops/ops.h"

/* Infers the type of n, a CALL or GETITEM whose arguments have types; false after an error. */
bool infer_node(Graph *g, Node *n, ValueType *out);

/* Infers all nodes in order.  A node that has a type already (read from a file) keeps it, if it
 * can be what inference gives; if not, that is an error which names both.  Nodes after an
 * error are skipped, as are ops that the table lacks (ops_all_known names them). */
bool infer_graph(Graph *g);
/* Infers a graph as it was read: notes what sizes its nodes take to be equal. */
bool infer_model(Graph *g);

#endif
