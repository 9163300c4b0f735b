/* What is known of elements of integers and booleans from their places alone, as of masks that
 * models make of arange. */
#ifndef NEREID_GRAPH_ANALYSIS_KNOWN_H
#define NEREID_GRAPH_ANALYSIS_KNOWN_H

#include "graph/ops/prims.h"

/* The element of n at `place` (n's rank) as an expression of the place's symbols and of sizes;
 * 0 or 1 of booleans.  NULL: it is not known, or floats.  n is computed by primitives. */
Dim known_element(Graph *g, Node *n, const Dim *place);

/* Of a comparison of two integers, given their difference right - left: the expression that is 0 or
 * more where it holds.  NULL: n is none of <, <=, >, >=, or an operand is not known. */
Dim known_slack(Graph *g, Node *n, const Dim *place);

#endif
