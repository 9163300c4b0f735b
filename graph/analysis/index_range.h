/* Value ranges of integer tensors, whatever the data is: of indices that come from arange, argmax,
 * clamp, a remainder or a constant. */
#ifndef NEREID_GRAPH_ANALYSIS_INDEX_RANGE_H
#define NEREID_GRAPH_ANALYSIS_INDEX_RANGE_H

#include "graph/ops/ops.h"

/* Both belong to it.  NULL: that end is not known. */
typedef struct {
  Dim lo, hi;
} IndexRange;

/* Is it known that n's elements are among lo ... hi - 1? */
bool index_is_inside(Graph *g, const Node *n, Dim lo, Dim hi);
/* Is what n computes, an integer of at most 16 bits, known to fit its dtype? */
bool index_never_wraps(Graph *g, const Node *n);
/* Is it known that none of n's elements is 0? */
bool index_is_not_zero(Graph *g, const Node *n);

#endif
