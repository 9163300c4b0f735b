/* The verifier of graphs: what holds before and after each pass.
 *
 *   - the last node is the output, and no other node is one; inputs come first
 *   - ids are unique, and below the graph's number of ids
 *   - names are unique, and graph_find() knows them
 *   - a node's operands are nodes of the graph that come before it
 *   - types are those that inference gives, unless data decides a size: inference would make new
 *     symbols of such sizes, and a verifier changes nothing */
#ifndef NEREID_GRAPH_OPS_VERIFY_GRAPH_H
#define NEREID_GRAPH_OPS_VERIFY_GRAPH_H

#include "graph/ir/graph.h"

/* The first fault, in `a`; NULL: there is none. */
const char *graph_fault(Arena *a, Graph *g);

#endif
