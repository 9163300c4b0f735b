/* Losses over classes, which are axis 1. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_op.h"

/* The elements of x along axis 1 at the indices that `index` says, without that axis. */
static Node *gather_class(Build *b, Node *x, Node *index) {
  Node *indices = build_unsqueeze(b, index, 1);
  Arg args[] = {arg_node(x), build_int(b, 1), arg_node(indices)};
  Node *y = build(b, OP_aten_gather_default, 3, args);
  return build_view(b, y, rank_of(index), index->type.shape);
}

/* The weight of each target: its class's, or 0 if it is to be ignored.  NULL: one. */
static Node *counts_of(OnnxCall *c, const Node *x, Node *target, Node *ignored, Node *weight) {
  Build *b = &c->b;
  DType t = x->type.dtype;
  Node *zero = onnx_scalar(c, 0, t), *one = onnx_scalar(c, 1, t), *count = NULL;
  if (weight) {
    Arg list = arg_list(b->in.g, 1);
    list.items[0] = arg_node(target);
    count = build_with(b, OP_aten_index_Tensor, weight, list);
  }
  if (!ignored) return count;
  return build_where(b, ignored, arg_node(zero), arg_node(count ? count : one));
}

/* Reductions: none, sum, or the weighted mean. */
static Node *loss_of(OnnxCall *c, Node *x, Node *target, Node *weight) {
  Build *b = &c->b;
  Name how = onnx_string(c, "reduction", "mean");
  Node *ignored = NULL;
  target = build_to(b, target, DT_I64);
  if (onnx_has_attr(c, "ignore_index")) {
    Arg index = build_int(b, onnx_int(c, "ignore_index", 0));
    ignored = build_with(b, OP_aten_eq_Scalar, target, index);
    target = build_where(b, ignored, arg_node(onnx_scalar(c, 0, DT_I64)), arg_node(target));
  }
  Node *loss = build_op1(b, OP_aten_neg_default, gather_class(b, x, target));
  Node *count = counts_of(c, x, target, ignored, weight);
  if (count) loss = build_mul(b, loss, count);
  if (!strcmp(how, "none")) return loss;
  uint32_t all = all_axes(loss);
  if (strcmp(how, "sum") && strcmp(how, "mean")) onnx_fail(c, E_ONNX_ATTR_VALUE, "reduction", how);
  Node *sum = build_sum(b, loss, all, false);
  if (!strcmp(how, "sum")) return sum;
  if (count) return build_div(b, sum, build_sum(b, count, all, false));
  return build_with(b, OP_aten_div_Tensor, sum, arg_dim(build_count(b, loss, all)));
}

void onnx_op_nll_loss(OnnxCall *c) {
  onnx_set(c, 0, loss_of(c, onnx_in(c, 0), onnx_in(c, 1), onnx_optional(c, 2)));
}

/* Result 1 is the logarithm of the probabilities. */
void onnx_op_cross_entropy(OnnxCall *c) {
  Node *x = build_with(&c->b, OP_aten_log_softmax_int, onnx_in(c, 0), build_int(&c->b, 1));
  onnx_set(c, 0, loss_of(c, x, onnx_in(c, 1), onnx_optional(c, 2)));
  onnx_set(c, 1, x);
}
