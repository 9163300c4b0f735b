/* Symbolic evaluation of elements: integers and booleans as expressions of their index and of
 * sizes, as of masks that models make of arange. */
#ifndef NEREID_GRAPH_ANALYSIS_ELEMENT_VALUE_H
#define NEREID_GRAPH_ANALYSIS_ELEMENT_VALUE_H

#include "graph/ops/prims.h"

/* The element of n at index `index` (n's rank) as an expression of the index's symbols and of
 * sizes; 0 or 1 for booleans.  NULL: unknown, or a float.  n is computed by primitives. */
Dim element_value(Graph *g, Node *n, const Dim *index);

/* The slack of a comparison of integers: an expression that is at least 0 where the comparison
 * holds.  NULL: n is none of <, <=, >, >=, or an operand is unknown. */
Dim element_slack(Graph *g, Node *n, const Dim *index);

#endif
