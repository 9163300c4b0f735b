/* Graphs as drawings for Graphviz. */
#ifndef NEREID_MODEL_REPORT_DOT_H
#define NEREID_MODEL_REPORT_DOT_H

#include "planner/plan/plan.h"

/* Nodes and their uses; with a plan of the graph, the nodes of each kernel in a box. */
void graph_print_dot(Text *out, const Graph *g, const Plan *p);

#endif
