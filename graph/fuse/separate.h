/* Copies of what must lie in memory of its own before nodes are fused: an output that is a view or
 * comes twice, what is scattered to or searched, and the middle of chains of views that are so long
 * that kernels would have to go through all of them for each element. */
#ifndef NEREID_GRAPH_FUSE_SEPARATE_H
#define NEREID_GRAPH_FUSE_SEPARATE_H

#include "graph/ir/graph.h"

/* All nodes are primitives. */
void graph_separate(Graph *g);

#endif
