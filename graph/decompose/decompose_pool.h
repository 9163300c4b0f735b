/* What the rules for pooling share. */
#ifndef NEREID_GRAPH_DECOMPOSE_DECOMPOSE_POOL_H
#define NEREID_GRAPH_DECOMPOSE_DECOMPOSE_POOL_H

#include "graph/decompose/decompose.h"
#include "graph/ops/window.h"

typedef struct {
  Node *x;
  uint32_t n, first; /* the last n axes, from `first` on */
  Dim kernel[WINDOW_AXES], stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
  Dim after[WINDOW_AXES]; /* padding behind */
  Dim places[WINDOW_AXES];
  bool ceil_mode;
} Pooling;

/* The type of what the node gives; of ops that also give indices, the values'. */
const ValueType *pool_result(const Build *b);
/* nereid.pool_max or nereid.pool_sum of x. */
Node *pool_slide(Build *b, OpId op, Node *x, const Pooling *p);
/* Are there few enough positions in a window to write out all? */
bool pool_few_positions(const Pooling *p);
/* The maxima and their places; NULL, and the node stays, if windows are too large. */
Node *pool_with_places(Build *b, const Pooling *p);
Node *pool_set_pair(Build *b, Node *values, Node *places);

/* ---- numbers of places ---- */

static inline Node *pool_plus(Build *b, Node *x, Dim by) {
  return dim_is(by, 0) ? x : build_with(b, OP_aten_add_Tensor, x, arg_dim(by));
}

static inline Node *pool_times(Build *b, Node *x, Dim by) {
  return dim_is(by, 1) ? x : build_with(b, OP_aten_mul_Tensor, x, arg_dim(by));
}

static inline Node *pool_at_most(Build *b, Node *x, Dim most) {
  return build_with(b, OP_aten_clamp_max_default, x, arg_dim(most));
}

#endif
