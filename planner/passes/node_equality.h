/* Nodes that compute the same: of one operator, with equal arguments. */
#ifndef NEREID_PLANNER_PASSES_NODE_EQUALITY_H
#define NEREID_PLANNER_PASSES_NODE_EQUALITY_H

#include "graph/ir/graph.h"

/* Equal nodes have equal hashes. */
uint64_t node_hash(const Node *n);
bool node_equal(const Node *a, const Node *b);

#endif
