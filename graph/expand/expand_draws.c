/* Expansions of activations that draw numbers. */
#include <math.h>

#include "graph/expand/expansion.h"

/* SELU's value far below 0: what alpha dropout sets elements to, before it restores mean and
 * variance. */
Node *expand_alpha_dropout(Build *b) {
  Node *x = build_self(b);
  double p = infer_number(&b->in, "p"), low = -1.7580993408473766;
  if (!infer_bool(&b->in, "train") || p == 0) return x;
  bool channels = b->in.n->op->id == OP_aten_feature_alpha_dropout_default;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++)
    shape[i] = channels && i > 1 ? build_const(b, 1) : x->type.shape[i];
  DType t = x->type.dtype;
  if (p == 1) return build_with(b, OP_aten_mul_Tensor, x, build_int(b, 0));
  Node *zero = build_full(b, rank_of(x), shape, build_int(b, 0), DT_F32);
  Node *kept = build_with(b, OP_aten_bernoulli_p, zero, arg_float(1 - p));
  kept = build_with(b, OP_aten_ne_Scalar, kept, build_int(b, 0));
  double scale = 1 / sqrt((1 - p) * (1 + p * low * low));
  Node *wide = build_widen(b, x);
  Node *y = build_where(b, kept, arg_node(wide),
                        arg_node(build_full(b, 0, NULL, arg_float(low), wide->type.dtype)));
  y = build_with(b, OP_aten_mul_Tensor, y, arg_float(scale));
  return build_to(b, build_with(b, OP_aten_add_Tensor, y, arg_float(-scale * p * low)), t);
}

/* In training each slope is drawn. */
Node *expand_rrelu(Build *b) {
  Node *x = build_self(b);
  double low = infer_number(&b->in, "lower"), high = infer_number(&b->in, "upper");
  if (!infer_bool(&b->in, "training"))
    return build_with(b, OP_aten_leaky_relu_default, x, arg_float((low + high) / 2));
  Node *slope = build_op1(b, OP_aten_rand_like_default, build_widen(b, x));
  slope = build_with(b, OP_aten_mul_Tensor, slope, arg_float(high - low));
  slope = build_with(b, OP_aten_add_Tensor, slope, arg_float(low));
  Node *below = build_to(b, build_mul(b, x, slope), x->type.dtype);
  Node *above = build_with(b, OP_aten_gt_Scalar, x, build_int(b, 0));
  return build_where(b, above, arg_node(x), arg_node(below));
}
