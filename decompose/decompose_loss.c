/* Losses: a number for each element or row, and their mean or sum. */
#include "decompose/decompose.h"

typedef enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM } Reduction;

static Reduction loss_reduction(Build *b) { return (Reduction)infer_int(&b->in, "reduction"); }

static Node *reduce_loss(Build *b, Node *x) {
  Reduction how = loss_reduction(b);
  uint32_t set = all_axes(x);
  if (how != REDUCE_NONE)
    x = how == REDUCE_MEAN ? build_mean(b, x, set, false) : build_sum(b, x, set, false);
  return build_to(b, x, b->in.n->type.dtype);
}

Node *decompose_reduced(Build *b) { return reduce_loss(b, build_widen(b, build_input(b, "self"))); }

static Node *input_difference(Build *b) {
  Node *x = build_widen(b, build_input(b, "self"));
  return build_sub(b, x, build_widen(b, build_input(b, "target")));
}

Node *decompose_mse_loss(Build *b) {
  Node *gap = input_difference(b);
  return reduce_loss(b, build_mul(b, gap, gap));
}

Node *decompose_l1_loss(Build *b) {
  return reduce_loss(b, build_op1(b, OP_aten_abs_default, input_difference(b)));
}

/* ---- classes, along axis 1, or the axis of a vector ---- */

static uint32_t class_axis(const Node *x) { return rank_of(x) > 1; }

static Node *zero_unless(Build *b, Node *condition, Node *x) {
  return build_where(b, condition, arg_node(x), build_int(b, 0));
}

static Node *negate(Build *b, Node *x) { return build_op1(b, OP_aten_neg_default, x); }

/* The weight of each row's class; NULL: all count as 1. */
static Node *class_weights(Build *b, Node *target) {
  Node *weight = build_input(b, "weight");
  if (!weight) return NULL;
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(target);
  return build_widen(b, build(b, OP_aten_index_Tensor, ARGS(arg_node(weight), list)));
}

typedef struct {
  Node *counts;  /* is it not to be ignored? */
  Node *target;  /* a class that there is */
  Node *weights; /* or NULL */
} Rows;

static Rows class_rows(Build *b) {
  Node *target = build_to(b, build_input(b, "target"), DT_I64);
  Node *counts = build_with(b, OP_aten_ne_Tensor, target, build_arg(b, "ignore_index"));
  target = zero_unless(b, counts, target);
  return (Rows){counts, target, class_weights(b, target)};
}

/* The logarithms of the expected classes, from logs[.., classes, ..]. */
static Node *expected_logs(Build *b, Node *logs, const Rows *r) {
  uint32_t axis = class_axis(logs);
  Node *at = build_unsqueeze(b, r->target, axis);
  Node *y =
      build(b, OP_aten_gather_default, ARGS(arg_node(logs), build_int(b, axis), arg_node(at)));
  return build_squeeze(b, y, 1u << axis);
}

/* The mean is by the weights of the rows that count. */
static Node *reduced_rows(Build *b, Node *losses, const Rows *r) {
  Node *x = zero_unless(b, r->counts, losses);
  if (loss_reduction(b) != REDUCE_MEAN) return reduce_loss(b, x);
  Node *one = build_to(b, r->counts, x->type.dtype);
  Node *w = r->weights ? zero_unless(b, r->counts, r->weights) : one;
  Node *mean =
      build_div(b, build_sum(b, x, all_axes(x), false), build_sum(b, w, all_axes(w), false));
  return build_to(b, mean, b->in.n->type.dtype);
}

static Node *weight_by_class(Build *b, Node *x, const Rows *r) {
  return r->weights ? build_mul(b, x, r->weights) : x;
}

Node *decompose_nll_loss(Build *b) {
  Node *logs = build_widen(b, build_input(b, "self"));
  Rows r = class_rows(b);
  return reduced_rows(b, weight_by_class(b, negate(b, expected_logs(b, logs, &r)), &r), &r);
}

/* The loss, and the sum of the weights of the rows that count: 0 if nothing is reduced. */
Node *decompose_nll_loss_forward(Build *b) {
  Node *logs = build_widen(b, build_input(b, "self"));
  DType t = logs->type.dtype, of = build_result_dtype(b);
  Rows r = class_rows(b);
  Node *x = weight_by_class(b, negate(b, expected_logs(b, logs, &r)), &r);
  Node *w = zero_unless(b, r.counts, r.weights ? r.weights : build_to(b, r.counts, t));
  w = build_sum(b, w, all_axes(w), false);
  Reduction how = loss_reduction(b);
  x = zero_unless(b, r.counts, x);
  if (how != REDUCE_NONE) x = build_sum(b, x, all_axes(x), false);
  if (how == REDUCE_MEAN) x = build_div(b, x, w);
  bool is_vector = rank_of(logs) == 1;
  if (how == REDUCE_NONE && !is_vector) w = build_full(b, 0, NULL, build_int(b, 0), t);
  return build_pair(b, build_to(b, x, of), build_to(b, w, of));
}

static Node *log_softmax(Build *b, Node *x) {
  return build_with(b, OP_aten_log_softmax_int, x, build_int(b, class_axis(x)));
}

/* Numbers along the classes' axis, times the weights of the classes. */
static Node *by_class(Build *b, Node *x) {
  Node *weight = build_input(b, "weight");
  return weight ? build_mul(b, x, build_along(b, weight, class_axis(x), rank_of(x))) : x;
}

static Node *sum_of_classes(Build *b, Node *x) {
  return negate(b, build_sum(b, by_class(b, x), 1u << class_axis(x), false));
}

/* The target has a probability for each class; the mean is one of rows. */
static Node *of_probabilities(Build *b, Node *logs, double smoothing) {
  Node *target = build_widen(b, build_input(b, "target"));
  Dim classes = logs->type.shape[class_axis(logs)];
  if (smoothing > 0) {
    Node *each = build_full(b, 0, NULL, arg_float(smoothing), target->type.dtype);
    each = build_with(b, OP_aten_div_Tensor, each, arg_dim(classes));
    target = build_with(b, OP_aten_mul_Tensor, target, arg_float(1 - smoothing));
    target = build_add(b, target, each);
  }
  return reduce_loss(b, sum_of_classes(b, build_mul(b, logs, target)));
}

Node *decompose_cross_entropy(Build *b) {
  Node *logs = log_softmax(b, build_widen(b, build_input(b, "self")));
  double smoothing = infer_number(&b->in, "label_smoothing");
  if (dtype_is_float(build_input(b, "target")->type.dtype))
    return of_probabilities(b, logs, smoothing);
  Rows r = class_rows(b);
  Node *x = weight_by_class(b, negate(b, expected_logs(b, logs, &r)), &r);
  if (smoothing > 0) {
    Node *all = build_with(b, OP_aten_mul_Tensor, sum_of_classes(b, logs), arg_float(smoothing));
    all = build_with(b, OP_aten_div_Tensor, all, arg_dim(logs->type.shape[class_axis(logs)]));
    x = build_add(b, build_with(b, OP_aten_mul_Tensor, x, arg_float(1 - smoothing)), all);
  }
  return reduced_rows(b, x, &r);
}
