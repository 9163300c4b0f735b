/* Gradients of activations, softmax and losses that are no expression of their operands' elements
 * (others are rows of graph/ops/op_table.def, or rules of planner/passes/rewrites/gradients.py).
 * 16-bit floats are widened; the result is rounded once. */
#include "decompose/decompose.h"

/* ---- activations ---- */

/* Gradients of the operand, and of the weight at each element. */
Node *decompose_prelu_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_output"), *x = build_wide_input(b, "self");
  Node *weight = build_wide_input(b, "weight");
  Node *positive = build_with(b, OP_aten_gt_Tensor, x, build_int(b, 0));
  Node *of_x = build_where(b, positive, arg_node(grad), arg_node(build_mul(b, weight, grad)));
  Node *of_weight = build_where(b, positive, build_int(b, 0), arg_node(build_mul(b, x, grad)));
  return build_pair(b, build_to_result(b, of_x), build_to_result(b, of_weight));
}

/* The second result is exp(-|x|), which nothing of ours reads. */
Node *decompose_log_sigmoid_forward(Build *b) {
  Node *x = build_self(b), *size = build_op1(b, OP_aten_abs_default, x);
  Node *buffer = build_op1(b, OP_aten_exp_default, build_op1(b, OP_aten_neg_default, size));
  return build_pair(b, build_op1(b, OP_aten_log_sigmoid_default, x), buffer);
}

/* y = a * sigmoid(c) of the halves a and c. */
Node *decompose_glu_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_output"), *x = build_wide_input(b, "self");
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim half = grad->type.shape[axis], zero = build_const(b, 0);
  Dim end = dim_add(build_dims(b), half, half);
  Node *share = build_op1(b, OP_aten_sigmoid_default, build_slice(b, x, axis, half, end, 1));
  Node *of_left = build_mul(b, grad, share);
  Node *rest = build_sub(b, of_left, build_mul(b, of_left, share));
  Node *of_right = build_mul(b, rest, build_slice(b, x, axis, zero, half, 1));
  return build_to_result(b, build_cat(b, 2, (Node *[]){of_left, of_right}, axis));
}

/* ---- softmax ---- */

static Node *sum_along_dim(Build *b, Node *x) {
  if (!rank_of(x)) return x;
  return build_sum(b, x, 1u << infer_axis_arg(&b->in, "dim", rank_of(x)), true);
}

/* y * (grad - sum(y * grad)) */
Node *decompose_softmax_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_output"), *y = build_wide_input(b, "output");
  Node *mean = sum_along_dim(b, build_mul(b, y, grad));
  return build_to_result(b, build_mul(b, y, build_sub(b, grad, mean)));
}

/* Are these the numbers 0, 1, ... along the last axis, as nll_loss_backward has them? */
static bool is_class_numbers(const Node *x, Dim n) {
  return x && x->op && x->op->id == OP_aten_arange_start_step && x->args[0].kind == ARG_INT &&
         dim_is(x->args[0].dim, 0) && x->args[1].kind == ARG_INT && x->args[1].dim == n &&
         x->args[2].kind == ARG_INT && dim_is(x->args[2].dim, 1);
}

static const Node *operand(const Node *x, OpId op, uint32_t i) {
  bool is = x && x->op && x->op->id == op && i < x->nargs && x->args[i].kind == ARG_NODE;
  return is ? x->args[i].node : NULL;
}

static bool is_one_a_row(const Node *x) {
  return !rank_of(x) || dim_is(x->type.shape[rank_of(x) - 1], 1);
}

/* The sum of each row of x, of which one element at most is not 0, as of the gradient of the loss
 * of one class: that element.  NULL: x is no such tensor. */
static Node *only_element(Build *b, const Node *x) {
  uint32_t last = rank_of(x) - 1;
  const Node *from = operand(x, OP_aten_to_dtype, 0), *where = x;
  if (from) {
    Node *one = dtype_is_float(from->type.dtype) ? only_element(b, from) : NULL;
    return one ? build_to(b, one, x->type.dtype) : NULL;
  }
  const Node *here = operand(where, OP_aten_where_self, 0);
  const Node *slope = operand(where, OP_aten_where_self, 1);
  const Node *equal = operand(here, OP_aten_logical_and_default, 0);
  const Node *counts = operand(here, OP_aten_logical_and_default, 1);
  const Node *classes = operand(equal, OP_aten_eq_Tensor, 0);
  const Node *at = operand(equal, OP_aten_eq_Tensor, 1);
  if (!slope || !counts || !at || !is_class_numbers(classes, x->type.shape[last])) return NULL;
  bool zero = where->args[2].kind == ARG_INT && dim_is(where->args[2].dim, 0);
  if (!zero || at->type.dtype != DT_I64 || rank_of(at) != last + 1) return NULL;
  if (!is_one_a_row(at) || !is_one_a_row(slope) || !is_one_a_row(counts)) return NULL;
  Node *target = (Node *)at;
  Node *inside = build_with(b, OP_aten_ge_Scalar, target, build_int(b, 0));
  inside = build_and(b, inside,
                     build_with(b, OP_aten_lt_Scalar, target, arg_dim(x->type.shape[last])));
  inside = build_and(b, inside, (Node *)counts);
  return build_where(b, inside, where->args[1], build_int(b, 0));
}

/* grad - exp(y) * sum(grad) */
Node *decompose_log_softmax_backward(Build *b) {
  Node *grad = build_wide_input(b, "grad_output"), *y = build_wide_input(b, "output");
  Node *share = build_op1(b, OP_aten_exp_default, y), *sum = NULL;
  if (rank_of(grad) && infer_axis_arg(&b->in, "dim", rank_of(grad)) == rank_of(grad) - 1)
    sum = only_element(b, grad);
  if (!sum) sum = sum_along_dim(b, grad);
  return build_to_result(b, build_sub(b, grad, build_mul(b, share, sum)));
}

/* ---- losses of two tensors ---- */

enum { REDUCE_MEAN = 1 };

/* The gradient of each element's loss. */
static Node *loss_gradient(Build *b) {
  Node *grad = build_wide_input(b, "grad_output");
  if (infer_int(&b->in, "reduction") != REDUCE_MEAN) return grad;
  Dim n = value_numel(b->in.g, &b->in.n->type);
  return build_with(b, OP_aten_div_Tensor, grad, arg_dim(n));
}

static Node *prediction_error(Build *b) {
  return build_sub(b, build_wide_input(b, "self"), build_wide_input(b, "target"));
}

/* grad * slope in the shape of the result. */
static Node *finish_loss(Build *b, Node *slope) {
  const ValueType *t = &b->in.n->type;
  Node *x = build_to_result(b, build_mul(b, slope, loss_gradient(b)));
  return build_expand(b, x, t->rank, t->shape);
}

Node *decompose_mse_loss_backward(Build *b) {
  return finish_loss(b, build_with(b, OP_aten_mul_Tensor, prediction_error(b), arg_float(2)));
}

/* Linear in the error between -limit and limit, where it has reached -+most. */
static Node *bounded_slope(Build *b, double limit, double most) {
  Node *gap = prediction_error(b);
  Node *low = build_with(b, OP_aten_le_Scalar, gap, arg_float(-limit));
  Node *high = build_with(b, OP_aten_ge_Scalar, gap, arg_float(limit));
  Node *line = limit > 0 ? build_with(b, OP_aten_mul_Tensor, gap, arg_float(most / limit)) : gap;
  Node *y = build_where(b, high, arg_float(most), arg_node(line));
  return build_where(b, low, arg_float(-most), arg_node(y));
}

Node *decompose_huber_loss_backward(Build *b) {
  double delta = infer_number(&b->in, "delta");
  return finish_loss(b, bounded_slope(b, delta, delta));
}

Node *decompose_smooth_l1_loss_backward(Build *b) {
  return finish_loss(b, bounded_slope(b, infer_number(&b->in, "beta"), 1));
}

/* The loss is log(1 + exp(-target * x)). */
Node *decompose_soft_margin_loss_backward(Build *b) {
  Node *sign = build_op1(b, OP_aten_neg_default, build_wide_input(b, "target"));
  Node *margin = build_mul(b, sign, build_wide_input(b, "self"));
  return finish_loss(b, build_mul(b, sign, build_op1(b, OP_aten_sigmoid_default, margin)));
}

/* (x - target) / (x * (1 - x)), whose divisor PyTorch bounds. */
Node *decompose_binary_cross_entropy_backward(Build *b) {
  const double least = 1e-12;
  Node *x = build_wide_input(b, "self"), *weight = build_wide_input(b, "weight");
  Node *other = build_with(b, OP_aten_rsub_Scalar, x, arg_float(1));
  Node *spread = build_with(b, OP_aten_clamp_min_default, build_mul(b, other, x), arg_float(least));
  Node *slope = build_div(b, prediction_error(b), spread);
  return finish_loss(b, weight ? build_mul(b, slope, weight) : slope);
}

/* ---- losses of classes ---- */

/* -weight[class] * grad at each row's class, 0 elsewhere. */
Node *decompose_nll_loss_backward(Build *b) {
  Node *x = build_input(b, "self"), *target = build_input(b, "target");
  Node *grad = build_wide_input(b, "grad_output"), *weight = build_wide_input(b, "weight");
  uint32_t rank = rank_of(x), axis = rank > 1;
  if (infer_int(&b->in, "reduction") == REDUCE_MEAN)
    grad = build_div(b, grad, build_wide_input(b, "total_weight"));
  if (rank_of(grad)) grad = build_unsqueeze(b, grad, axis);
  Node *classes = build_along(b, build_arange(b, x->type.shape[axis]), axis, rank);
  Node *at = build_unsqueeze(b, build_to(b, target, DT_I64), axis);
  Node *counts = build_with(b, OP_aten_ne_Tensor, at, build_arg(b, "ignore_index"));
  Node *here = build_and(b, build_op2(b, OP_aten_eq_Tensor, classes, at), counts);
  Node *slope = build_op1(b, OP_aten_neg_default, grad);
  if (weight) slope = build_mul(b, slope, build_along(b, weight, axis, rank));
  Node *y = build_where(b, here, arg_node(slope), build_int(b, 0));
  return build_to_result(b, build_expand(b, y, rank, x->type.shape));
}
