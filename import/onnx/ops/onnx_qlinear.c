/* Operators of com.microsoft on quantized tensors: what they give is quantized anew. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* A scale or zero point of a whole tensor, which may be a vector of one. */
static Node *parameter(OnnxCall *c, uint32_t i, bool optional) {
  if (optional && !onnx_has(c, i)) return NULL;
  Node *v = onnx_in(c, i);
  infer_rank(&c->b.in, &v->type, 0, 1);
  return rank_of(v) ? build_view(&c->b, v, 0, NULL) : v;
}

/* Input i, after which come its scale and its zero point, as f32. */
static Node *real_input(OnnxCall *c, uint32_t i) {
  Build *b = &c->b;
  Node *x = build_to(b, onnx_integers(c, onnx_in(c, i), parameter(c, i + 2, true)), DT_F32);
  return build_mul(b, x, parameter(c, i + 1, false));
}

/* The result in units of input i, from the zero point of the next one on. */
static void set_quantized(OnnxCall *c, Node *x, uint32_t i, DType t) {
  onnx_set(c, 0, onnx_quantized(c, x, parameter(c, i, false), parameter(c, i + 1, true), t));
}

static DType dtype_of_input(OnnxCall *c, uint32_t i) { return onnx_type(c, i)->dtype; }

void onnx_op_qlinear_binary(OnnxCall *c) {
  Node *x = build_op2(&c->b, c->op->aten, real_input(c, 0), real_input(c, 3));
  set_quantized(c, x, 6, dtype_of_input(c, 0));
}

void onnx_op_qlinear_sigmoid(OnnxCall *c) {
  Node *x = build_op1(&c->b, OP_aten_sigmoid_default, real_input(c, 0));
  set_quantized(c, x, 3, dtype_of_input(c, 0));
}

void onnx_op_qlinear_leaky_relu(OnnxCall *c) {
  Arg slope = arg_float(onnx_float(c, "alpha", 0.01));
  Node *x = build_with(&c->b, OP_aten_leaky_relu_default, real_input(c, 0), slope);
  set_quantized(c, x, 3, dtype_of_input(c, 0));
}

/* `opset` is that of the Softmax: before 13 all axes from `axis` on are one. */
void onnx_op_qlinear_softmax(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = real_input(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", -1, rank_of(x));
  if (onnx_int(c, "opset", 13) < 13 && axis + 1 != rank_of(x))
    onnx_lack(c, "a softmax over several axes");
  x = build_with(b, OP_aten_softmax_int, x, build_int(b, axis));
  set_quantized(c, x, 3, dtype_of_input(c, 0));
}

void onnx_op_qlinear_where(OnnxCall *c) {
  Node *x = build_where(&c->b, onnx_in(c, 0), arg_node(real_input(c, 1)),
                        arg_node(real_input(c, 4)));
  set_quantized(c, x, 7, dtype_of_input(c, 1));
}

/* Scale and zero point of the result come first, then three inputs for each tensor. */
void onnx_op_qlinear_concat(OnnxCall *c) {
  enum { PARTS_MAX = 256 };
  Node *part[PARTS_MAX];
  uint32_t n = (c->nin - 2) / 3;
  if (c->nin < 5 || (c->nin - 2) % 3 || n > PARTS_MAX) onnx_lack(c, "%u inputs", c->nin);
  for (uint32_t i = 0; i < n; i++) part[i] = real_input(c, 2 + 3 * i);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(part[0]));
  set_quantized(c, build_cat(&c->b, n, part, axis), 0, dtype_of_input(c, 2));
}

/* ---- windows ---- */

typedef Node *PoolRule(OnnxCall *c, Node *x);

static Node *channels_last_pool(OnnxCall *c, PoolRule *pool, Node *x) {
  return onnx_move_channels(c, pool(c, onnx_move_channels(c, x, false)), true);
}

void onnx_op_nhwc_max_pool(OnnxCall *c) {
  onnx_set(c, 0, channels_last_pool(c, onnx_max_pool, onnx_in(c, 0)));
}

static Node *mean_of_planes(OnnxCall *c, Node *x) {
  return build_mean(&c->b, x, all_axes(x) & ~3u, true);
}

static void qlinear_pool(OnnxCall *c, PoolRule *pool) {
  Node *x = real_input(c, 0);
  infer_rank(&c->b.in, &x->type, 3, GRAPH_RANK_MAX);
  bool last = onnx_flag(c, "channels_last", false);
  set_quantized(c, last ? channels_last_pool(c, pool, x) : pool(c, x), 3, dtype_of_input(c, 0));
}

void onnx_op_qlinear_average_pool(OnnxCall *c) { qlinear_pool(c, onnx_average_pool); }
void onnx_op_qlinear_global_pool(OnnxCall *c) { qlinear_pool(c, mean_of_planes); }

/* ---- products ---- */

static Node *with_bias(OnnxCall *c, Node *x, uint32_t bias) {
  return onnx_has(c, bias) ? build_add(&c->b, x, onnx_in(c, bias)) : x;
}

void onnx_op_dynamic_quantize_matmul(OnnxCall *c) {
  OnnxFactor right = {onnx_in(c, 1), onnx_columns(c, 3, true), onnx_is_from_zero(c, 3)};
  Node *y = onnx_quantized_product(c, onnx_in(c, 0), right, onnx_columns(c, 2, false));
  onnx_set(c, 0, with_bias(c, y, 4));
}

static Node *product_in_f32(OnnxCall *c, OnnxFactor left, OnnxFactor right, Node *scale) {
  Build *b = &c->b;
  return build_mul(b, build_to(b, onnx_integer_product(c, left, right), DT_F32), scale);
}

void onnx_op_matmul_integer_to_float(OnnxCall *c) {
  OnnxFactor left = {onnx_in(c, 0), parameter(c, 4, true), onnx_is_from_zero(c, 4)};
  OnnxFactor right = {onnx_in(c, 1), onnx_columns(c, 5, true), onnx_is_from_zero(c, 5)};
  Node *scale = build_mul(&c->b, parameter(c, 2, false), onnx_columns(c, 3, false));
  onnx_set(c, 0, with_bias(c, product_in_f32(c, left, right, scale), 6));
}

static Node *turned(OnnxCall *c, Node *x, const char *attribute) {
  return onnx_flag(c, attribute, false) ? build_transpose(&c->b, x, 0, 1) : x;
}

/* Without a scale of the result it stays in f32. */
void onnx_op_qgemm(OnnxCall *c) {
  Build *b = &c->b;
  for (uint32_t i = 0; i <= 3; i += 3) infer_rank(&b->in, onnx_type(c, i), 2, 2);
  OnnxFactor left = {turned(c, onnx_in(c, 0), "transA"), parameter(c, 2, true),
                     onnx_is_from_zero(c, 2)};
  OnnxFactor right = {turned(c, onnx_in(c, 3), "transB"), onnx_columns(c, 5, true),
                      onnx_is_from_zero(c, 5)};
  Node *sums = onnx_integer_product(c, left, right);
  if (onnx_has(c, 6)) sums = build_add(b, sums, onnx_in(c, 6));
  Node *scale = build_mul(b, parameter(c, 1, false), onnx_columns(c, 4, false));
  scale = build_with(b, OP_aten_mul_Tensor, scale, arg_float(onnx_float(c, "alpha", 1)));
  Node *y = build_mul(b, build_to(b, sums, DT_F32), scale);
  if (!onnx_has(c, 7)) onnx_set(c, 0, y);
  else set_quantized(c, y, 7, dtype_of_input(c, 0));
}
