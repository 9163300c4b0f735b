/* Inserts copies of values that need their own buffer, before nodes are fused: an output that is a
 * view or is returned twice, the operands of scatters and searches, and the middle of chains of
 * views that are too long to be evaluated for each element. */
#ifndef NEREID_PLANNER_FUSE_INSERT_COPIES_H
#define NEREID_PLANNER_FUSE_INSERT_COPIES_H

#include "graph/ir/graph.h"

/* All nodes are primitives. */
void graph_insert_copies(Graph *g);

#endif
