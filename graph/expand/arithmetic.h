/* Short names for the arithmetic of tensors and numbers that formulas of expansions are made of. */
#ifndef NEREID_GRAPH_EXPAND_ARITHMETIC_H
#define NEREID_GRAPH_EXPAND_ARITHMETIC_H

#include "graph/expand/expansion.h"

static inline Node *plus(Build *b, Node *x, double v) {
  return v == 0 ? x : build_with(b, OP_aten_add_Tensor, x, arg_float(v));
}

static inline Node *times(Build *b, Node *x, double v) {
  return v == 1 ? x : build_with(b, OP_aten_mul_Tensor, x, arg_float(v));
}

static inline Node *minus_from(Build *b, double v, Node *x) {
  return build(b, OP_aten_rsub_Scalar, ARGS(arg_node(x), arg_float(v)));
}

static inline Node *compared(Build *b, OpId op, Node *x, double v) {
  return build_with(b, op, x, arg_float(v));
}

/* Integers: their dtype stays. */
static inline Node *plus_int(Build *b, Node *x, int64_t v) {
  return v ? build_with(b, OP_aten_add_Tensor, x, build_int(b, v)) : x;
}

static inline Node *choose(Build *b, Node *condition, Node *x, Node *y) {
  return build_where(b, condition, arg_node(x), arg_node(y));
}

static inline Node *zeros(Build *b, uint32_t rank, const Dim *shape, DType t) {
  return build_full(b, rank, shape, t == DT_I1 ? arg_bool(false) : build_int(b, 0), t);
}

static inline Node *zeros_like(Build *b, const Node *x) {
  return zeros(b, rank_of(x), x->type.shape, x->type.dtype);
}

/* x where the condition holds, and 0. */
static inline Node *masked(Build *b, Node *condition, Node *x) {
  return choose(b, condition, x, zeros(b, 0, NULL, x->type.dtype));
}

static inline bool is_empty(const Node *x) {
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (dim_is(x->type.shape[i], 0)) return true;
  return false;
}

#endif
