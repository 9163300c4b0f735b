/* Expansions of losses, as PyTorch's documentation of torch.nn defines them. */
#include <math.h>

#include "graph/expand/expansion.h"
#include "graph/messages.h"

static Node *number(Build *b, double v, DType t) { return build_full(b, 0, NULL, arg_float(v), t); }

static Node *reduced(Build *b, Node *loss) {
  return build_with(b, OP_nereid_reduced_default, loss, build_arg(b, "reduction"));
}

static Node *minus(Build *b, Arg x, Node *y) { /* x - y, of a number x */
  return build(b, OP_aten_rsub_Scalar, ARGS(arg_node(y), x));
}

static Node *at_least_zero(Build *b, Node *x) {
  return build_with(b, OP_aten_clamp_min_default, x, build_int(b, 0));
}

/* ---- distances ---- */

static Node *distance(Build *b, const char *x, const char *y) {
  return build(b, OP_aten_pairwise_distance_default,
               ARGS(arg_node(build_input(b, x)), arg_node(build_input(b, y)), build_arg(b, "p"),
                    build_arg(b, "eps")));
}

Node *expand_triplet_margin_loss(Build *b) {
  Node *near = distance(b, "anchor", "positive"), *far = distance(b, "anchor", "negative");
  if (infer_bool(&b->in, "swap"))
    far = build_op2(b, OP_aten_minimum_default, far, distance(b, "positive", "negative"));
  Node *gap = build_with(b, OP_aten_add_Tensor, build_sub(b, near, far), build_arg(b, "margin"));
  return reduced(b, at_least_zero(b, gap));
}

/* ---- two classes, 1 and -1 ---- */

static Node *has_class(Build *b, int64_t class) {
  return build_with(b, OP_aten_eq_Scalar, build_input(b, "target"), build_int(b, class));
}

static Node *of_class(Build *b, int64_t class, Node *loss) {
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), loss->type.dtype);
  return build_where(b, has_class(b, class), arg_node(loss), arg_node(zero));
}

Node *expand_cosine_embedding_loss(Build *b) {
  Node *x = build_input(b, "input1"), *y = build_input(b, "input2");
  uint32_t axis = rank_of(build_input(b, "target")), set = 1u << axis;
  infer_rank(&b->in, &x->type, axis + 1, axis + 1);
  infer_rank(&b->in, &y->type, axis + 1, axis + 1);
  Node *products[] = {build_mul(b, x, y), build_mul(b, x, x), build_mul(b, y, y)};
  for (int i = 0; i < 3; i++) products[i] = build_sum(b, products[i], set, false);
  for (int i = 1; i < 3; i++)
    products[i] = build_with(b, OP_aten_add_Tensor, products[i], arg_float(1e-12));
  Node *length = build_op1(b, OP_aten_sqrt_default, build_mul(b, products[1], products[2]));
  Node *cosine = build_div(b, products[0], length);
  Node *over = build_with(b, OP_aten_sub_Tensor, cosine, build_arg(b, "margin"));
  Node *apart = of_class(b, -1, at_least_zero(b, over));
  return reduced(b, build_add(b, of_class(b, 1, minus(b, build_int(b, 1), cosine)), apart));
}

/* A target that is neither 1 nor -1 has both. */
Node *expand_hinge_embedding_loss(Build *b) {
  Node *x = build_self(b);
  Node *under = at_least_zero(b, minus(b, build_arg(b, "margin"), x));
  Node *zero = build_full(b, 0, NULL, build_int(b, 0), x->type.dtype);
  Node *near = build_where(b, has_class(b, -1), arg_node(zero), arg_node(x));
  Node *far = build_where(b, has_class(b, 1), arg_node(zero), arg_node(under));
  return reduced(b, build_add(b, near, far));
}

Node *expand_margin_ranking_loss(Build *b) {
  Node *gap = build_sub(b, build_input(b, "input1"), build_input(b, "input2"));
  Node *wrong = build_op1(b, OP_aten_neg_default, build_mul(b, build_input(b, "target"), gap));
  wrong = build_with(b, OP_aten_add_Tensor, wrong, build_arg(b, "margin"));
  return reduced(b, at_least_zero(b, wrong));
}

/* ---- counts ---- */

/* Stirling's formula for the logarithm of a factorial, of more than 1. */
static Node *log_factorial(Build *b, Node *n) {
  Node *log = build_op1(b, OP_aten_log_default, n);
  Node *rest = build_op1(b, OP_aten_log_default,
                         build_with(b, OP_aten_mul_Tensor, n, arg_float(6.283185307179586)));
  Node *value = build_sub(b, build_mul(b, n, log), n);
  value = build_add(b, value, build_with(b, OP_aten_mul_Tensor, rest, arg_float(0.5)));
  Node *few = build_with(b, OP_aten_le_Scalar, n, build_int(b, 1));
  return build_where(b, few, arg_node(number(b, 0, value->type.dtype)), arg_node(value));
}

Node *expand_poisson_nll_loss(Build *b) {
  Node *x = build_input(b, "input"), *target = build_input(b, "target"), *loss;
  if (infer_bool(&b->in, "log_input")) {
    loss = build_sub(b, build_op1(b, OP_aten_exp_default, x), build_mul(b, target, x));
  } else {
    Node *log = build_with(b, OP_aten_add_Tensor, x, build_arg(b, "eps"));
    loss = build_sub(b, x, build_mul(b, target, build_op1(b, OP_aten_log_default, log)));
  }
  if (infer_bool(&b->in, "full")) loss = build_add(b, loss, log_factorial(b, target));
  return reduced(b, loss);
}

/* ---- several classes ---- */

static Node *mean_of_classes(Build *b, Node *x, uint32_t axis) {
  return build_mean(b, x, 1u << axis, false);
}

/* How much less the score of the right class is above each other one's than the margin. */
Node *expand_multi_margin_loss(Build *b) {
  Node *x = build_self(b), *target = build_input(b, "target");
  Node *weight = build_input(b, "weight");
  infer_rank(&b->in, &x->type, 1, 2);
  uint32_t axis = rank_of(x) - 1;
  Dim one = build_const(b, 1);
  if (!rank_of(target) || !axis) target = build_view(b, target, axis, x->type.shape);
  Node *index = axis ? build_unsqueeze(b, target, 1) : build_view(b, target, 1, &one);
  Arg chosen[] = {arg_node(x), build_int(b, axis), arg_node(index)};
  Node *right = build(b, OP_aten_gather_default, 3, chosen);
  Node *gap = build_with(b, OP_aten_add_Tensor, build_sub(b, x, right), build_arg(b, "margin"));
  gap = at_least_zero(b, gap);
  double p = infer_number(&b->in, "p");
  if (p == 2) gap = build_mul(b, gap, gap);
  if (weight) {
    Node *own = build_with(b, OP_aten_take_default, weight, arg_node(index));
    gap = build_mul(b, gap, own);
  }
  Node *classes = build_arange(b, x->type.shape[axis]);
  Node *same = build_op2(b, OP_aten_eq_Tensor, classes, index);
  gap = build_where(b, same, arg_node(number(b, 0, gap->type.dtype)), arg_node(gap));
  return reduced(b, mean_of_classes(b, gap, axis));
}

typedef struct {
  Node *loss, *is_target;
} MultiLabel;

/* The classes before the first -1 of a row are its own: each should be above each other by 1. */
static MultiLabel multi_label_loss(Build *b) {
  Node *x = build_self(b), *target = build_input(b, "target");
  infer_rank(&b->in, &x->type, 1, 2);
  infer_rank(&b->in, &target->type, rank_of(x), rank_of(x));
  uint32_t axis = rank_of(x) - 1;
  Node *none = build_with(b, OP_aten_lt_Scalar, target, build_int(b, 0));
  Node *ended =
      build_with(b, OP_aten_cumsum_default, build_to(b, none, DT_I64), build_int(b, axis));
  Node *valid = build_with(b, OP_aten_eq_Scalar, ended, build_int(b, 0));
  Node *place = build_with(b, OP_aten_clamp_min_default, target, build_int(b, 0));
  Node *right =
      build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, axis), arg_node(place)));
  Node *classes = build_arange(b, x->type.shape[axis]);
  Node *own = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, target, axis + 1), classes);
  own = build_and(b, own, build_unsqueeze(b, valid, axis + 1));
  Node *is_target = build(b, OP_aten_any_dim, ARGS(arg_node(own), build_int(b, axis)));
  Node *gap = build_sub(b, build_unsqueeze(b, x, axis), build_unsqueeze(b, right, axis + 1));
  gap = at_least_zero(b, build_with(b, OP_aten_add_Tensor, gap, build_int(b, 1)));
  Node *other = build_op1(b, OP_aten_logical_not_default, is_target);
  Node *counts = build_and(b, build_unsqueeze(b, valid, axis + 1), build_unsqueeze(b, other, axis));
  gap = build_where(b, counts, arg_node(gap), arg_node(number(b, 0, gap->type.dtype)));
  Node *sum = build_sum(b, gap, 1u << axis | 1u << (axis + 1), false);
  sum = build_with(b, OP_aten_div_Tensor, sum, arg_dim(x->type.shape[axis]));
  return (MultiLabel){reduced(b, sum), build_to(b, is_target, x->type.dtype)};
}

Node *expand_multilabel_margin_loss(Build *b) { return multi_label_loss(b).loss; }

Node *expand_multilabel_margin_loss_forward(Build *b) {
  MultiLabel m = multi_label_loss(b);
  return build_pair(b, m.loss, m.is_target);
}
