/* Tensors as they are in memory, through views. */
#ifndef NEREID_GRAPH_ANALYSIS_STRIDED_H
#define NEREID_GRAPH_ANALYSIS_STRIDED_H

#include "graph/ops/prims.h"

enum { STRIDED_RANK_MAX = 5 };

/* The element at an index is `offset` + the sum of indices times strides, in elements of the
 * memory of a node that is no view.  The stride of an axis of one element is 0. */
typedef struct {
  Node *memory;
  Dim offset, stride[STRIDED_RANK_MAX];
} Strided;

/* Sets `index` to an index of its own for each axis: 0 for an axis of one element. */
void strided_index(Dims *d, const Dim *shape, uint32_t rank, Dim *index);
/* The terms of an offset in memory whose axes, `rank` of them, have these indices; false: it is no
 * sum of them.  `out->memory` stays as it is. */
bool strided_offset(Dims *d, Dim offset, const Dim *index, int rank, Strided *out);
/* False: n has more axes, or its elements are in another order. */
bool strided_of(Graph *g, Node *n, Strided *out);
/* The tensor of which n is a permutation, of one or several in a row; axis i of n is `axes[i]` of
 * it. */
Node *strided_unpermuted(Node *n, uint32_t *axes);
/* The tensor whose elements n has, and zeros after them along the last axis; NULL: n is no such
 * one. */
Node *strided_unpadded(Graph *g, const Node *n);
/* Is n in memory from its first element on, row-major and without gaps? */
bool strided_is_dense(Graph *g, Node *n);

/* A CPU multiplies bytes of integers in words of four along the sum, and bf16 in words of two,
 * where both operands of a product have them next to each other in memory. */
enum { STRIDED_WORD = 4 };
/* Elements of that dtype in a word; 1: they are words of their own. */
int64_t strided_word(DType t);
bool strided_sums_words(Graph *g, const Node *product);

#endif
