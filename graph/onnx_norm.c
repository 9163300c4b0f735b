/* Normalization. */
#include "graph/onnx_op.h"

static Node *scale_and_shift(OnnxCall *c, Node *x, Node *scale, Node *bias) {
  x = build_mul(&c->b, x, scale);
  return bias ? build_add(&c->b, x, bias) : x;
}

/* 1 / sqrt(x + epsilon) */
static Node *inverse_root(OnnxCall *c, Node *x, double epsilon) {
  return build_op1(&c->b, "aten.rsqrt.default",
                   build_with(&c->b, "aten.add.Tensor", x, arg_float(epsilon)));
}

/* old * momentum + new * (1 - momentum) */
static Node *running(OnnxCall *c, Node *old, Node *new, double momentum) {
  Build *b = &c->b;
  Node *kept = build_with(b, "aten.mul.Tensor", old, arg_float(momentum));
  return build_add(b, kept, build_with(b, "aten.mul.Tensor", new, arg_float(1 - momentum)));
}

/* With the statistics of the batch, which also go into the running ones. */
static void batch_norm_training(OnnxCall *c, Node *x, double epsilon, double momentum) {
  Build *b = &c->b;
  uint32_t set = all_axes(x) & ~2u, rank = rank_of(x);
  Node *mean = build_mean(b, x, set, true), *centered = build_sub(b, x, mean);
  Node *variance = build_mean(b, build_mul(b, centered, centered), set, true);
  Node *scale = build_along(b, onnx_in(c, 1), 1, rank),
       *bias = build_along(b, onnx_in(c, 2), 1, rank);
  Node *y = build_mul(b, centered, inverse_root(c, variance, epsilon));
  onnx_set(c, 0, scale_and_shift(c, y, scale, bias));
  const Dim *channels = &x->type.shape[1];
  if (onnx_wants(c, 1))
    onnx_set(c, 1, running(c, onnx_in(c, 3), build_view(b, mean, 1, channels), momentum));
  if (onnx_wants(c, 2))
    onnx_set(c, 2, running(c, onnx_in(c, 4), build_view(b, variance, 1, channels), momentum));
}

/* Before opset 14 it trains if there are more results than one. */
void onnx_op_batch_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  double epsilon = onnx_float(c, "epsilon", 1e-5), momentum = onnx_float(c, "momentum", 0.9);
  onnx_ignore(c, "consumed_inputs");
  bool spatial = c->opset >= 9 || onnx_flag(c, "spatial", true);
  bool training = c->opset >= 14 ? onnx_flag(c, "training_mode", false) : onnx_wants(c, 1);
  if (c->opset < 7 && onnx_flag(c, "is_test", false)) training = false;
  if (!spatial) onnx_lack(c, "spatial = 0");
  if (rank_of(x) < 2)
    onnx_fail(c, E_GRAPH_AXES, 2, GRAPH_RANK_MAX, infer_type_text(&b->in, &x->type));
  if (training && c->opset < 14) onnx_lack(c, "training");
  if (training) {
    batch_norm_training(c, x, epsilon, momentum);
    return;
  }
  Arg args[] = {arg_node(x),
                arg_node(onnx_in(c, 1)),
                arg_node(onnx_in(c, 2)),
                arg_node(onnx_in(c, 3)),
                arg_node(onnx_in(c, 4)),
                arg_bool(false),
                arg_float(momentum),
                arg_float(epsilon),
                arg_bool(false)};
  onnx_set(c, 0, build(b, "aten.batch_norm.default", 9, args));
}

void onnx_op_instance_norm(OnnxCall *c) {
  double epsilon = onnx_float(c, "epsilon", 1e-5);
  onnx_ignore(c, "consumed_inputs");
  Arg args[] = {arg_node(onnx_in(c, 0)),
                arg_node(onnx_in(c, 1)),
                arg_node(onnx_in(c, 2)),
                arg_none(),
                arg_none(),
                arg_bool(true),
                arg_float(0.1),
                arg_float(epsilon),
                arg_bool(false)};
  onnx_set(c, 0, build(&c->b, "aten.instance_norm.default", 9, args));
}

/* Over the axes from `axis` on; results 1 and 2 are the means and the inverse deviations. */
void onnx_op_layer_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *scale = onnx_in(c, 1), *bias = onnx_optional(c, 2);
  double epsilon = onnx_float(c, "epsilon", 1e-5);
  uint32_t axis = onnx_axis_attr(c, "axis", -1, rank_of(x));
  DType t = x->type.dtype, wide = onnx_dtype_attr(c, "stash_type", DT_F32);
  Arg shape = arg_dims(b->in.g, rank_of(x) - axis, x->type.shape + axis);
  if (!onnx_wants(c, 1) && !onnx_wants(c, 2) && rank_of(scale) == rank_of(x) - axis &&
      (!bias || rank_of(bias) == rank_of(scale))) {
    Arg args[] = {arg_node(x), shape, arg_node(scale), bias ? arg_node(bias) : arg_none(),
                  arg_float(epsilon)};
    onnx_set(c, 0, build(b, "aten.layer_norm.default", 5, args));
    return;
  }
  uint32_t set = all_axes(x) & ~((1u << axis) - 1);
  x = build_to(b, x, wide);
  Node *mean = build_mean(b, x, set, true), *centered = build_sub(b, x, mean);
  Node *variance = build_mean(b, build_mul(b, centered, centered), set, true);
  Node *inverse = inverse_root(c, variance, epsilon);
  Node *y = build_to(b, build_mul(b, centered, inverse), t);
  onnx_set(c, 0, scale_and_shift(c, y, scale, bias));
  onnx_set(c, 1, mean);
  onnx_set(c, 2, inverse);
}
