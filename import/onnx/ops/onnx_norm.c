/* Normalization. */
#include "graph/messages.h"
#include "import/onnx/onnx_op.h"

static Node *scale_and_shift(OnnxCall *c, Node *x, Node *scale, Node *bias) {
  x = build_mul(&c->b, x, scale);
  return bias ? build_add(&c->b, x, bias) : x;
}

/* 1 / sqrt(x + epsilon) */
static Node *inverse_root(OnnxCall *c, Node *x, double epsilon) {
  return build_op1(&c->b, OP_aten_rsqrt_default,
                   build_with(&c->b, OP_aten_add_Tensor, x, arg_float(epsilon)));
}

/* old * momentum + new * (1 - momentum) */
static Node *running(OnnxCall *c, Node *old, Node *new, double momentum) {
  Build *b = &c->b;
  Node *kept = build_with(b, OP_aten_mul_Tensor, old, arg_float(momentum));
  return build_add(b, kept, build_with(b, OP_aten_mul_Tensor, new, arg_float(1 - momentum)));
}

/* Normalizes by the statistics of the batch, which also update the running ones. */
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
  onnx_set(c, 0, build(b, OP_aten_batch_norm_default, 9, args));
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
  onnx_set(c, 0, build(&c->b, OP_aten_instance_norm_default, 9, args));
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
    onnx_set(c, 0, build(b, OP_aten_layer_norm_default, 5, args));
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

/* Divides by the root of the mean of squares over the last axes. */
void onnx_op_rms_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", -1, rank_of(x));
  onnx_ignore(c, "stash_type"); /* f32 is what is computed in */
  Arg args[] = {arg_node(x), arg_dims(b->in.g, rank_of(x) - axis, x->type.shape + axis), arg_none(),
                arg_float(onnx_float(c, "epsilon", 1e-5))};
  onnx_set(c, 0, build_mul(b, build(b, OP_aten_rms_norm_default, 4, args), onnx_in(c, 1)));
}

/* Divided by (bias + alpha / size * the sum of squares of `size` neighbouring channels)^beta. */
void onnx_op_lrn(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *sum = NULL;
  int64_t size = onnx_int(c, "size", 0);
  double alpha = onnx_float(c, "alpha", 1e-4), beta = onnx_float(c, "beta", 0.75);
  double bias = onnx_float(c, "bias", 1);
  if (rank_of(x) < 2 || size < 1 || size > 64) onnx_lack(c, "size %lld", (long long)size);
  Dim pad[2 * GRAPH_RANK_MAX];
  uint32_t behind = rank_of(x) - 2;
  for (uint32_t i = 0; i < 2 * behind; i++) pad[i] = build_const(b, 0);
  pad[2 * behind] = build_const(b, (size - 1) / 2);
  pad[2 * behind + 1] = build_const(b, size / 2);
  Arg args[] = {arg_node(build_mul(b, x, x)), arg_dims(b->in.g, 2 * behind + 2, pad)};
  Node *squares = build(b, OP_aten_constant_pad_nd_default, 2, args);
  for (int64_t i = 0; i < size; i++) {
    Dim start = build_const(b, i), end = dim_add(onnx_dims(c), start, x->type.shape[1]);
    Node *part = build_slice(b, squares, 1, start, end, 1);
    sum = sum ? build_add(b, sum, part) : part;
  }
  sum = build_with(b, OP_aten_mul_Tensor, sum, arg_float(alpha / (double)size));
  sum = build_with(b, OP_aten_add_Tensor, sum, arg_float(bias));
  sum = build_with(b, OP_aten_pow_Tensor_Scalar, sum, arg_float(beta));
  onnx_set(c, 0, build_div(b, x, sum));
}

/* (x - mean) / (deviation + 1e-9) over axes. */
void onnx_op_mean_variance(OnnxCall *c) {
  static const int64_t usual[] = {0, 2, 3};
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t n;
  const int64_t *axes = onnx_ints(c, "axes", &n);
  uint32_t set = onnx_axis_set(c, axes ? axes : usual, axes ? n : 3, rank_of(x));
  Node *centered = build_sub(b, x, build_mean(b, x, set, true));
  Node *variance = build_mean(b, build_mul(b, centered, centered), set, true);
  Node *deviation = build_op1(b, OP_aten_sqrt_default, variance);
  onnx_set(c, 0,
           build_div(b, centered, build_with(b, OP_aten_add_Tensor, deviation, arg_float(1e-9))));
}

/* Groups of channels; scale and bias are of groups before opset 21, of channels from then on. */
void onnx_op_group_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *scale = onnx_in(c, 1), *bias = onnx_in(c, 2);
  int64_t groups = onnx_int(c, "num_groups", 0);
  double epsilon = onnx_float(c, "epsilon", 1e-5);
  onnx_ignore(c, "stash_type");
  if (rank_of(x) < 2 || groups < 1) onnx_fail(c, E_GRAPH_STEP, (long long)groups);
  Dim channels = x->type.shape[1], part = infer_exact_div(&b->in, channels, groups);
  if (c->opset < 21) {
    Dim rows[] = {build_const(b, groups), part};
    scale = build_view(b, build_expand(b, build_unsqueeze(b, scale, 1), 2, rows), 1, &channels);
    bias = build_view(b, build_expand(b, build_unsqueeze(b, bias, 1), 2, rows), 1, &channels);
  }
  Arg args[] = {arg_node(x), build_int(b, groups), arg_node(scale), arg_node(bias),
                arg_float(epsilon)};
  onnx_set(c, 0, build(b, OP_aten_group_norm_default, 5, args));
}

/* x / its p-norm along an axis. */
void onnx_op_lp_normalization(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", -1, rank_of(x));
  int64_t p = onnx_int(c, "p", 2);
  if (p != 1 && p != 2) onnx_lack(c, "p = %lld", (long long)p);
  Node *part = p == 1 ? build_op1(b, OP_aten_abs_default, x) : build_mul(b, x, x);
  Node *norm = build_sum(b, part, 1u << axis, true);
  if (p == 2) norm = build_op1(b, OP_aten_sqrt_default, norm);
  Node *zero = build_with(b, OP_aten_eq_Scalar, norm, build_int(b, 0));
  onnx_set(c, 0, build_where(b, zero, arg_float(0), arg_node(build_div(b, x, norm))));
}
