/* Values that depend on the model's weights alone.
 *
 * Weights are parameters, buffers and constants of the file that the graph does not write to.  A
 * value that is computed from those, or from nothing, is the same in each run; so the nodes that
 * compute them can be run once, when the model is loaded (plan.h). */
#ifndef NEREID_GRAPH_ANALYSIS_WEIGHT_CONSTANTS_H
#define NEREID_GRAPH_ANALYSIS_WEIGHT_CONSTANTS_H

#include "graph/ir/graph.h"

/* Flags by node id.  A returned value is the caller's to keep, so it counts as varying. */
bool *constants_find(const Graph *g, Arena *a);

#endif
