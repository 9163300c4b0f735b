/* Tensors as they are in memory, through views. */
#ifndef NEREID_GRAPH_ANALYSIS_STRIDED_H
#define NEREID_GRAPH_ANALYSIS_STRIDED_H

#include "graph/ops/prims.h"

enum { STRIDED_RANK_MAX = 4 };

/* The element at an index is `offset` + the sum of indices times strides, in elements of the
 * memory of a node that is no view.  The stride of an axis of one element is 0. */
typedef struct {
  Node *memory;
  Dim offset, stride[STRIDED_RANK_MAX];
} Strided;

/* False: n has more axes, or its elements are in another order. */
bool strided_of(Graph *g, Node *n, Strided *out);
/* Is n in memory from its first element on, row-major and without gaps? */
bool strided_is_dense(Graph *g, Node *n);

#endif
