/* Operators of com.microsoft that are others in other words. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

void onnx_op_distances(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *y = onnx_in(c, 1);
  Name metric = onnx_string(c, "metric", "sqeuclidean");
  bool root = !strcmp(metric, "euclidean");
  if (!root && strcmp(metric, "sqeuclidean") != 0) onnx_lack(c, "metric %s", metric);
  infer_rank(&b->in, &x->type, 2, 2);
  infer_rank(&b->in, &y->type, 2, 2);
  Node *d = build_sub(b, build_unsqueeze(b, x, 1), build_unsqueeze(b, y, 0));
  d = build_sum(b, build_mul(b, d, d), 1u << 2, false);
  onnx_set(c, 0, root ? build_op1(b, OP_aten_sqrt_default, d) : d);
}

void onnx_op_expand_dims(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis(c, onnx_need_int(c, 1), rank_of(x) + 1);
  onnx_set(c, 0, build_unsqueeze(&c->b, x, axis));
}

void onnx_op_inverse(OnnxCall *c) {
  onnx_set(c, 0, build_op1(&c->b, OP_aten_linalg_inv_default, onnx_in(c, 0)));
}

/* x z sigmoid(x z), rounded after each step as the result is. */
void onnx_op_scaled_silu(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *scale = onnx_optional(c, 1), *z;
  DType t = x->type.dtype;
  double alpha = onnx_float(c, "alpha", 1);
  if (scale) z = build_mul(b, build_to(b, x, DT_F32), build_to(b, scale, DT_F32));
  else z = build_with(b, OP_aten_mul_Tensor, build_to(b, x, DT_F32), arg_float(alpha));
  z = build_to(b, z, t);
  onnx_set(c, 0, build_mul(b, z, build_op1(b, OP_aten_sigmoid_default, z)));
}

void onnx_op_gated_add(OnnxCall *c) {
  Build *b = &c->b;
  if (onnx_has(c, 3)) onnx_lack(c, "the input gate_weight");
  onnx_set(c, 0, build_add(b, onnx_in(c, 0), build_mul(b, onnx_in(c, 1), onnx_in(c, 2))));
}

/* x divided by the root of the mean of the squares of so many elements of its last axis each, in
 * f32: [..., groups, size]. */
static Node *norm_of_groups(OnnxCall *c, Node *x, Dim size, double usual) {
  Build *b = &c->b;
  uint32_t rank = rank_of(x);
  Dim shape[GRAPH_RANK_MAX + 1];
  infer_rank(&b->in, &x->type, 1, GRAPH_RANK_MAX - 1);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank - 1] = dim_floordiv(onnx_dims(c), x->type.shape[rank - 1], size);
  shape[rank] = size;
  x = build_view(b, build_to(b, x, DT_F32), rank + 1, shape);
  Node *mean = build_mean(b, build_mul(b, x, x), 1u << rank, true);
  mean = build_with(b, OP_aten_add_Tensor, mean, arg_float(onnx_float(c, "epsilon", usual)));
  return build_mul(b, x, build_op1(b, OP_aten_rsqrt_default, mean));
}

void onnx_op_gated_rms_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *scale = onnx_in(c, 1), *gate = build_to(b, onnx_in(c, 2), DT_F32);
  Name how = onnx_string(c, "activation", "silu");
  bool sigmoid = !strcmp(how, "sigmoid");
  if (!sigmoid && strcmp(how, "silu") && strcmp(how, "swish"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "activation", how);
  infer_rank(&b->in, &scale->type, 1, 1);
  Node *y = norm_of_groups(c, x, scale->type.shape[0], 1e-5);
  y = build_view(b, build_mul(b, y, build_to(b, scale, DT_F32)), rank_of(x), x->type.shape);
  Node *s = build_op1(b, OP_aten_sigmoid_default, gate);
  y = build_mul(b, y, sigmoid ? s : build_mul(b, gate, s));
  onnx_set(c, 0, build_to(b, y, x->type.dtype));
}

/* Branches are the last axis but one, or parts of the last one. */
void onnx_op_branch_rms_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *scale = onnx_optional(c, 1);
  int64_t branches = onnx_int(c, "num_branches", 0);
  infer_rank(&b->in, &x->type, branches ? 1 : 2, GRAPH_RANK_MAX - 1);
  Dim size = size_from_end(x, 1);
  if (branches < 0 || (branches && !dim_divisible(size, branches)))
    onnx_lack(c, "num_branches %lld", (long long)branches);
  if (branches) size = dim_floordiv(onnx_dims(c), size, build_const(b, branches));
  Node *y = norm_of_groups(c, x, size, 1e-5);
  if (!branches) y = build_view(b, y, rank_of(x), x->type.shape);
  if (scale) {
    infer_rank(&b->in, &scale->type, 1, 2);
    Dim shape[] = {size_from_end(y, 2), size};
    bool alike = dim_is(dim_sub(onnx_dims(c), scale->type.shape[0], size), 0);
    bool each = rank_of(scale) == 2 || !alike;
    scale = build_to(b, scale, DT_F32);
    y = build_mul(b, y, each ? build_view(b, scale, 2, shape) : scale);
  }
  onnx_set(c, 0, build_to(b, build_view(b, y, rank_of(x), x->type.shape), x->type.dtype));
}
