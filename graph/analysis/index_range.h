/* Between which numbers the elements of an integer tensor lie, whatever the data is: of indices
 * that arange, argmax, clamp, a remainder or a constant gives. */
#ifndef NEREID_GRAPH_ANALYSIS_INDEX_RANGE_H
#define NEREID_GRAPH_ANALYSIS_INDEX_RANGE_H

#include "graph/ops/ops.h"

/* Both belong to it.  NULL: that end is not known. */
typedef struct {
  Dim lo, hi;
} IndexRange;

/* Is it known that n's elements are among lo ... hi - 1? */
bool index_is_inside(Graph *g, const Node *n, Dim lo, Dim hi);

#endif
