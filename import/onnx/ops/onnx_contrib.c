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

/* ---- what builders of language models write ---- */

/* The gates of a recurrence, in f32: decay, and how far a state follows. */
void onnx_op_linear_gate(OnnxCall *c) {
  Build *b = &c->b;
  Node *a = onnx_in(c, 0), *follows = onnx_optional(c, 3);
  Node *x = build_add(b, build_to(b, a, DT_F32), onnx_in(c, 1));
  x = build_mul(b, build_op1(b, OP_aten_softplus_default, x), onnx_in(c, 2));
  onnx_set(c, 0, build_to(b, x, a->type.dtype));
  if (!onnx_wants(c, 1)) return;
  if (!follows) onnx_lack(c, "the result beta without the input b");
  Node *y = build_op1(b, OP_aten_sigmoid_default, build_to(b, follows, DT_F32));
  onnx_set(c, 1, build_to(b, y, follows->type.dtype));
}

void onnx_op_unfold(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  int64_t size = onnx_int(c, "size", 0), step = onnx_int(c, "step", 1);
  if (size < 1 || step < 1)
    onnx_lack(c, "slices of %lld, by %lld", (long long)size, (long long)step);
  uint32_t axis = onnx_axis_attr(c, "dim", -1, rank_of(x));
  Build *b = &c->b;
  onnx_set(c, 0, build(b, OP_aten_unfold_default,
                       ARGS(arg_node(x), build_int(b, axis), build_int(b, size),
                            build_int(b, step))));
}

/* The numbers that fields of four bits stand for, fractions of a block's largest magnitude: FP4's
 * are one bit of sign, two of the exponent and one of the mantissa, divided by 12; NF4's are
 * quantiles of the normal distribution. */
enum { FIELDS = 16 };
static const float bnb_numbers[2][FIELDS] = {
    {0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f,
     -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
     0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f}};

static Node *bnb_table(OnnxCall *c, int64_t kind) {
  OnnxKnown *k = onnx_known_new(c, DT_F32, 1, (int64_t[]){FIELDS});
  for (uint32_t i = 0; i < FIELDS; i++) k->at[i].number = (double)bnb_numbers[kind][i];
  return onnx_constant(c, k);
}

/* Fields of bytes, the upper one of each first, as so many numbers along one axis. */
static Node *bnb_fields(OnnxCall *c, int64_t kind, int64_t count) {
  Build *b = &c->b;
  Node *x = build_flat(b, onnx_in(c, 1)), *part[2];
  part[0] = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, build_int(b, 4));
  part[1] = build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, FIELDS - 1));
  for (int i = 0; i < 2; i++) part[i] = build_unsqueeze(b, part[i], 1);
  x = build_flat(b, build_cat(b, 2, part, 1));
  x = build_slice(b, x, 0, build_const(b, 0), build_const(b, count), 1);
  return build_op2(b, OP_aten_take_default, bnb_table(c, kind), build_to(b, x, DT_I64));
}

void onnx_op_matmul_bnb4(OnnxCall *c) {
  Build *b = &c->b;
  int64_t n = onnx_int(c, "N", 0), k = onnx_int(c, "K", 0), size = onnx_int(c, "block_size", 0);
  int64_t kind = onnx_int(c, "quant_type", 1), count;
  bool small = n > 0 && k > 0 && !__builtin_mul_overflow(n, k, &count) && count <= INT32_MAX;
  if (!small || size < 16 || size > INT32_MAX || kind < 0 || kind > 1)
    onnx_lack(c, "N %lld, K %lld, block_size %lld, quant_type %lld", (long long)n, (long long)k,
              (long long)size, (long long)kind);
  onnx_ignore(c, "training_mode");
  Node *scale = build_to(b, build_flat(b, onnx_in(c, 2)), DT_F32), *x = onnx_in(c, 0);
  int64_t blocks = (count + size - 1) / size;
  Node *weight = bnb_fields(c, kind, count);
  Dim pad[] = {build_const(b, 0), build_const(b, blocks * size - count)};
  if (blocks * size > count)
    weight = build(b, OP_aten_constant_pad_nd_default,
                   ARGS(arg_node(weight), arg_dims(b->in.g, 2, pad), arg_float(0)));
  weight = build_view(b, weight, 2, (Dim[]){build_const(b, blocks), build_const(b, size)});
  weight = build_flat(b, build_mul(b, weight, build_unsqueeze(b, scale, 1)));
  weight = build_slice(b, weight, 0, build_const(b, 0), build_const(b, count), 1);
  weight = build_view(b, weight, 2, (Dim[]){build_const(b, n), build_const(b, k)});
  if (onnx_flag(c, "transB", true)) weight = build_transpose(b, weight, 0, 1);
  onnx_set(c, 0, build_op2(b, OP_aten_matmul_default, x, build_to(b, weight, x->type.dtype)));
}

/* ---- MatMulFpQ4 ---- */

/* Columns of blocks: a number, with blk_quant_type 1 a zero point of one byte, and a byte for two
 * elements each, of which the second is half a block later. */
typedef struct {
  int64_t size; /* of a block, in elements */
  bool zero;
} PackedBlock;

static const PackedBlock packed_blocks[] = {{32, false}, {32, true}};
enum { SCALE_BYTES = 4, USUAL_ZERO = 8 };

/* Four bytes, the last axis, as a number. */
static Node *float_of_bytes(Build *b, Node *x) {
  Dim shape[] = {x->type.shape[0]};
  Node *y = NULL;
  x = build_to(b, x, DT_I32);
  for (int64_t i = 0; i < SCALE_BYTES; i++) {
    Node *part = build_select(b, x, 1, build_const(b, i));
    part = build_with(b, OP_aten_bitwise_left_shift_Tensor_Scalar, part, build_int(b, 8 * i));
    y = y ? build_op2(b, OP_aten_bitwise_or_Tensor, y, part) : part;
  }
  y = build(b, OP_aten_view_dtype, ARGS(arg_node(y), arg_dtype(DT_F32)));
  return build_view(b, y, 1, shape);
}

/* Elements of blocks, [blocks, size]. */
static Node *packed_elements(Build *b, Node *x, const PackedBlock *k) {
  Dim zero = build_const(b, 0), four = build_const(b, SCALE_BYTES);
  Dim first = build_const(b, SCALE_BYTES + k->zero), end = x->type.shape[1];
  Node *scale = float_of_bytes(b, build_slice(b, x, 1, zero, four, 1));
  Node *data = build_slice(b, x, 1, first, end, 1);
  Node *low = build_with(b, OP_aten_bitwise_and_Scalar, data, build_int(b, FIELDS - 1));
  Node *high = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, data, build_int(b, 4));
  Node *y = build_to(b, build_cat(b, 2, (Node *[]){low, high}, 1), DT_F32);
  Node *from = build_full(b, 0, NULL, arg_float(USUAL_ZERO), DT_F32);
  if (k->zero) from = build_to(b, build_slice(b, x, 1, four, first, 1), DT_F32);
  return build_mul(b, build_sub(b, y, from), build_unsqueeze(b, scale, 1));
}

void onnx_op_matmul_packed(OnnxCall *c) {
  Build *b = &c->b;
  int64_t kind = onnx_int(c, "blk_quant_type", 1), shape[GRAPH_RANK_MAX];
  if (kind < 0 || kind > 1) onnx_lack(c, "blk_quant_type %lld", (long long)kind);
  const PackedBlock *k = &packed_blocks[kind];
  if (onnx_need_ints(c, 2, shape) != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX ||
      shape[1] > INT32_MAX)
    onnx_lack(c, "a B_shape that is not two positive numbers");
  int64_t blocks = (shape[0] + k->size - 1) / k->size, bytes = k->size / 2 + SCALE_BYTES + k->zero;
  Dim whole[] = {build_const(b, shape[1]), build_const(b, blocks * k->size)};
  Dim packed[] = {build_const(b, shape[1] * blocks), build_const(b, bytes)};
  Node *weight = build_view(b, build_flat(b, onnx_in(c, 1)), 2, packed);
  weight = build_view(b, packed_elements(b, weight, k), 2, whole);
  weight = build_slice(b, weight, 1, build_const(b, 0), build_const(b, shape[0]), 1);
  onnx_set(c, 0, build_op2(b, OP_aten_matmul_default, onnx_in(c, 0),
                           build_transpose(b, weight, 0, 1)));
}
