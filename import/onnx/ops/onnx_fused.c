/* Fused operators of com.microsoft, which ONNX Runtime's optimizers write in place of several. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static Node *plus(Build *b, Node *x, Node *y) { return y ? build_add(b, x, y) : x; }

/* ---- norms ---- */

static Node *norm_of_last(OnnxCall *c, Node *x, Node *scale, Node *bias) {
  Build *b = &c->b;
  Arg shape = arg_dims(b->in.g, 1, &x->type.shape[rank_of(x) - 1]);
  Arg epsilon = arg_float(onnx_float(c, "epsilon", 1e-12));
  return build(b, OP_aten_layer_norm_default,
               ARGS(arg_node(x), shape, arg_node(scale), bias ? arg_node(bias) : arg_none(),
                    epsilon));
}

/* Results 1 and 2, which training needs, are left out by all writers of files. */
static Node *skip_sum(OnnxCall *c, uint32_t bias) {
  Build *b = &c->b;
  if (onnx_wants(c, 1) || onnx_wants(c, 2)) onnx_lack(c, "the results mean and inv_std_var");
  infer_rank(&b->in, onnx_type(c, 0), 1, GRAPH_RANK_MAX);
  Node *x = plus(b, build_add(b, onnx_in(c, 0), onnx_in(c, 1)), onnx_optional(c, bias));
  if (onnx_wants(c, 3)) onnx_set(c, 3, x);
  return x;
}

void onnx_op_skip_layer_norm(OnnxCall *c) {
  Node *x = skip_sum(c, 4);
  onnx_set(c, 0, norm_of_last(c, x, onnx_in(c, 2), onnx_optional(c, 3)));
}

void onnx_op_skip_rms_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = skip_sum(c, 3);
  Arg args[] = {arg_node(x), arg_dims(b->in.g, 1, &x->type.shape[rank_of(x) - 1]), arg_none(),
                arg_float(onnx_float(c, "epsilon", 1e-12))};
  onnx_set(c, 0, build_mul(b, build(b, OP_aten_rms_norm_default, 4, args), onnx_in(c, 2)));
}

static Node *embedded(OnnxCall *c, uint32_t table, Node *index) {
  Build *b = &c->b;
  return build_op2(b, OP_aten_embedding_default, onnx_in(c, table), build_to(b, index, DT_I64));
}

/* How many words of each row are masked in. */
static Node *count_words(OnnxCall *c, const Node *words) {
  Build *b = &c->b;
  if (!onnx_has(c, 7)) return build_full(b, 1, words->type.shape, build_int(b, 0), DT_I32);
  Node *one = build_with(b, OP_aten_eq_Scalar, onnx_in(c, 7), build_int(b, 1));
  return build_to(b, build_sum(b, build_to(b, one, DT_I64), 2, false), DT_I32);
}

/* Words, positions and segments; result 1 is how many words of each row are masked in. */
void onnx_op_embed_layer_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *words = onnx_in(c, 0);
  infer_rank(&b->in, &words->type, 2, 2);
  onnx_ignore(c, "mask_index_type");
  Node *at = onnx_has(c, 8) ? onnx_in(c, 8) : build_arange(b, words->type.shape[1]);
  Node *x = build_add(b, embedded(c, 2, words), embedded(c, 3, at));
  if (onnx_has(c, 1) && onnx_has(c, 4)) x = build_add(b, x, embedded(c, 4, onnx_in(c, 1)));
  onnx_set(c, 0, norm_of_last(c, x, onnx_in(c, 5), onnx_in(c, 6)));
  if (onnx_wants(c, 2)) onnx_set(c, 2, x);
  if (onnx_wants(c, 1)) onnx_set(c, 1, count_words(c, words));
}

/* A tensor of small integers, of which a row is taken first; `scale` is the input with its scale,
 * five further is that with its zero point. */
static Node *dequantized_input(OnnxCall *c, Node *x, uint32_t scale) {
  enum { TENSORS = 5 };
  Build *b = &c->b;
  Node *zero = build_view(b, onnx_in(c, scale + TENSORS), 0, NULL);
  x = build_sub(b, build_to(b, x, DT_I32), build_to(b, zero, DT_I32));
  return build_mul(b, build_to(b, x, DT_F32), build_view(b, onnx_in(c, scale), 0, NULL));
}

void onnx_op_quantized_embed_layer_norm(OnnxCall *c) {
  Build *b = &c->b;
  Node *words = onnx_in(c, 0);
  infer_rank(&b->in, &words->type, 2, 2);
  Node *at = build_arange(b, words->type.shape[1]);
  Node *x = build_add(b, dequantized_input(c, embedded(c, 2, words), 8),
                      dequantized_input(c, embedded(c, 3, at), 9));
  if (onnx_has(c, 1) && onnx_has(c, 4))
    x = build_add(b, x, dequantized_input(c, embedded(c, 4, onnx_in(c, 1)), 10));
  Node *scale = dequantized_input(c, onnx_in(c, 5), 11);
  onnx_set(c, 0, norm_of_last(c, x, scale, dequantized_input(c, onnx_in(c, 6), 12)));
  if (onnx_wants(c, 1)) onnx_set(c, 1, count_words(c, words));
}

/* ---- activations ---- */

static Node *gelu(OnnxCall *c, Node *x, const char *how) {
  Arg approximate = {.kind = ARG_STRING, .name = pool_name(c->b.in.g->names, how)}, a = arg_node(x);
  return build_with_named(&c->b, OP_aten_gelu_default, 1, &a, "approximate", approximate);
}

void onnx_op_bias_gelu(OnnxCall *c) {
  onnx_set(c, 0, gelu(c, build_add(&c->b, onnx_in(c, 0), onnx_in(c, 1)), "none"));
}

void onnx_op_fast_gelu(OnnxCall *c) {
  onnx_set(c, 0, gelu(c, plus(&c->b, onnx_in(c, 0), onnx_optional(c, 1)), "tanh"));
}

void onnx_op_quick_gelu(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Node *scaled = build_with(b, OP_aten_mul_Tensor, x, arg_float(onnx_float(c, "alpha", 1.702)));
  onnx_set(c, 0, build_mul(b, x, build_op1(b, OP_aten_sigmoid_default, scaled)));
}

static Node *clamped(Build *b, Node *x, double low, double high) {
  return build(b, OP_aten_clamp_default, ARGS(arg_node(x), arg_float(low), arg_float(high)));
}

/* Attribute `activation` on x, with up to two parameters. */
static Node *activated(OnnxCall *c, Node *x, const double *p) {
  static const struct {
    const char *name;
    OpId op;
  } plain[] = {{"Relu", OP_aten_relu_default},
               {"Tanh", OP_aten_tanh_default},
               {"Sigmoid", OP_aten_sigmoid_default},
               {"HardSwish", OP_aten_hardswish_default}};
  Build *b = &c->b;
  Name name = onnx_string(c, "activation", "");
  if (!*name) return x;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (!strcmp(name, plain[i].name)) return build_op1(b, plain[i].op, x);
  if (!strcmp(name, "LeakyRelu"))
    return build_with(b, OP_aten_leaky_relu_default, x, arg_float(*p));
  if (!strcmp(name, "Elu")) return build_with(b, OP_aten_elu_default, x, arg_float(*p));
  if (!strcmp(name, "Clip")) return clamped(b, x, p[0], p[1]);
  if (strcmp(name, "HardSigmoid") != 0) onnx_lack(c, "activation %s", name);
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(p[0]));
  return clamped(b, build_with(b, OP_aten_add_Tensor, x, arg_float(p[1])), 0, 1);
}

/* ---- products ---- */

/* The first axis comes before the last, after those of batches. */
static Node *batches_first(OnnxCall *c, Node *x, const char *attribute) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x);
  if (!onnx_flag(c, attribute, false) || rank < 3) return x;
  for (uint32_t i = 0; i + 2 < rank; i++) axes[i] = i + 1;
  axes[rank - 2] = 0;
  axes[rank - 1] = rank - 1;
  return build_permute(&c->b, x, axes);
}

static Node *operand(OnnxCall *c, uint32_t i, const char *batches, const char *turned) {
  Node *x = batches_first(c, onnx_in(c, i), batches);
  uint32_t rank = rank_of(x);
  bool turn = onnx_flag(c, turned, false) && rank > 1;
  return turn ? build_transpose(&c->b, x, rank - 2, rank - 1) : x;
}

void onnx_op_fused_matmul(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = operand(c, 0, "transBatchA", "transA"), *y = operand(c, 1, "transBatchB", "transB");
  double alpha = onnx_float(c, "alpha", 1);
  Node *z = build_op2(b, OP_aten_matmul_default, x, y);
  if (alpha != 1)
    z = build_to(b, build_with(b, OP_aten_mul_Tensor, z, arg_float(alpha)), z->type.dtype);
  onnx_set(c, 0, z);
}

void onnx_op_fused_gemm(OnnxCall *c) {
  double p[] = {onnx_float(c, "activation_alpha", 0), onnx_float(c, "activation_beta", 0)};
  onnx_ignore(c, "activation_gamma"); /* of activations that have one */
  Node *x = onnx_in(c, 0), *y = onnx_in(c, 1), *z = onnx_optional(c, 2);
  onnx_set(c, 0, activated(c, onnx_gemm(c, x, y, z), p));
}

/* Input 3 is added before the activation. */
void onnx_op_fused_conv(OnnxCall *c) {
  uint32_t n;
  const float *given = onnx_floats(c, "activation_params", &n);
  double p[2] = {0};
  for (uint32_t i = 0; i < 2 && given && i < n; i++) p[i] = (double)given[i];
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1), *bias = onnx_optional(c, 2);
  x = onnx_convolution(c, x, weight, bias);
  onnx_set(c, 0, activated(c, plus(&c->b, x, onnx_optional(c, 3)), p));
}

/* ---- weights of few bits ---- */

Node *onnx_unpacked(Build *b, Node *x, int64_t bits) {
  uint32_t n = (uint32_t)(8 / bits), rank = rank_of(x);
  Node *part[4];
  if (n == 1) return x;
  for (uint32_t i = 0; i < n; i++) {
    Arg by = build_int(b, bits * i), mask = build_int(b, (1 << bits) - 1);
    Node *low = i ? build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, by) : x;
    part[i] = build_unsqueeze(b, build_with(b, OP_aten_bitwise_and_Scalar, low, mask), rank);
  }
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  shape[rank - 1] = dim_mul(b->in.g->dims, shape[rank - 1], build_const(b, n));
  return build_view(b, build_cat(b, n, part, rank), rank, shape);
}

static int64_t bits_of(OnnxCall *c) {
  int64_t bits = onnx_int(c, "bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) onnx_lack(c, "%lld bits", (long long)bits);
  return bits;
}

/* The blocks become an axis of their own. */
Node *onnx_dequantized(OnnxCall *c, const OnnxBlocks *q) {
  Build *b = &c->b;
  uint32_t rank = rank_of(q->rows);
  Dim whole[GRAPH_RANK_MAX + 1], blocks = q->scale->type.shape[rank - 1];
  if (rank >= GRAPH_RANK_MAX) onnx_lack(c, "%u axes", rank);
  memcpy(whole, q->rows->type.shape, rank * sizeof *whole);
  Dim shape[GRAPH_RANK_MAX + 1], all = dim_mul(onnx_dims(c), blocks, build_const(b, q->size));
  memcpy(shape, whole, rank * sizeof *shape);
  Node *x = build_to(b, q->rows, DT_F32);
  if (all != whole[rank - 1]) {
    Dim pad[] = {build_const(b, 0), dim_sub(onnx_dims(c), all, whole[rank - 1])};
    x = build(b, OP_aten_constant_pad_nd_default,
              ARGS(arg_node(x), arg_dims(b->in.g, 2, pad), arg_float(0)));
  }
  shape[rank - 1] = blocks;
  shape[rank] = build_const(b, q->size);
  x = build_view(b, x, rank + 1, shape);
  if (q->zero) x = build_sub(b, x, build_unsqueeze(b, build_to(b, q->zero, DT_F32), rank));
  else x = build_with(b, OP_aten_sub_Tensor, x, arg_float(q->usual));
  x = build_mul(b, x, build_unsqueeze(b, build_to(b, q->scale, DT_F32), rank));
  shape[rank - 1] = all;
  x = build_slice(b, build_view(b, x, rank, shape), rank - 1, build_const(b, 0), whole[rank - 1],
                  1);
  return build_to(b, x, q->scale->type.dtype);
}

static int64_t size_attribute(OnnxCall *c, const char *name, int64_t least) {
  int64_t n = onnx_int(c, name, 0);
  if (n < least || n > INT32_MAX) onnx_lack(c, "%s %lld", name, (long long)n);
  return n;
}

/* A row of zero points for each row of B: packed like B, or floats. */
static Node *zero_points(OnnxCall *c, int64_t bits, Dim rows, Dim blocks) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  if (!onnx_has(c, 3)) return NULL;
  Node *zero = onnx_in(c, 3);
  bool packed = zero->type.dtype == DT_U8;
  Dim bytes = dim_floordiv(d, dim_add(d, dim_mul(d, blocks, build_const(b, bits)),
                                      build_const(b, 7)), build_const(b, 8));
  Dim shape[] = {rows, packed ? bytes : blocks};
  zero = build_view(b, zero, 2, shape);
  if (!packed) return zero;
  return build_slice(b, onnx_unpacked(b, zero, bits), 1, build_const(b, 0), blocks, 1);
}

void onnx_op_matmul_nbits(OnnxCall *c) {
  Build *b = &c->b;
  int64_t rows = size_attribute(c, "N", 1), terms = size_attribute(c, "K", 1);
  int64_t bits = bits_of(c), size = size_attribute(c, "block_size", 16);
  onnx_ignore(c, "accuracy_level"); /* how far others may narrow A */
  if (onnx_int(c, "weight_prepacked", 0)) onnx_lack(c, "weights that are packed for a GPU");
  if (onnx_has(c, 4)) onnx_lack(c, "the input g_idx");
  Dim n = build_const(b, rows), k = build_const(b, terms);
  Dim blocks = build_const(b, (terms + size - 1) / size);
  Dim bytes[] = {n, build_const(b, (terms + size - 1) / size * (size * bits / 8))};
  Dim scales[] = {n, blocks};
  Node *packed = build_view(b, onnx_in(c, 1), 2, bytes);
  OnnxBlocks q = {onnx_unpacked(b, packed, bits), build_view(b, onnx_in(c, 2), 2, scales),
              zero_points(c, bits, n, blocks), size, 1 << (bits - 1)};
  Node *weight = build_slice(b, onnx_dequantized(c, &q), 1, build_const(b, 0), k, 1);
  weight = build_to(b, weight, onnx_type(c, 0)->dtype);
  Node *bias = onnx_optional(c, 5);
  onnx_set(c, 0, build(b, OP_aten_linear_default,
                       ARGS(arg_node(onnx_in(c, 0)), arg_node(weight),
                            bias ? arg_node(bias) : arg_none())));
}

/* Rows of `x` along its first axis. */
static Node *rows_at(Build *b, Node *x, Node *index) {
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(index);
  return build_with(b, OP_aten_index_Tensor, x, list);
}

/* Only the rows that are asked for are dequantized. */
void onnx_op_gather_block_quantized(OnnxCall *c) {
  Build *b = &c->b;
  Node *data = onnx_in(c, 0), *scale = onnx_in(c, 2), *zero = onnx_optional(c, 3);
  uint32_t rank = rank_of(data);
  bool packed = data->type.dtype == DT_U8 && !c->in[0]->form;
  int64_t bits = packed ? bits_of(c) : 8;
  onnx_ignore(c, "bits");
  int64_t size = onnx_int(c, "block_size", 128);
  if (size < 16) onnx_lack(c, "block_size %lld", (long long)size);
  infer_rank(&b->in, &data->type, 2, GRAPH_RANK_MAX - 1);
  if (onnx_axis_attr(c, "gather_axis", 0, rank) != 0) onnx_lack(c, "a gather_axis that is not 0");
  if (onnx_axis_attr(c, "quantize_axis", 1, rank) != rank - 1)
    onnx_lack(c, "a quantize_axis that is not the last");
  Node *index = onnx_from_begin(c, onnx_in(c, 1), data->type.shape[0]);
  OnnxBlocks q = {onnx_unpacked(b, rows_at(b, data, index), bits), rows_at(b, scale, index), NULL,
                  size, packed ? 1 << (bits - 1) : 0};
  if (zero) {
    q.zero = onnx_unpacked(b, rows_at(b, zero, index), bits);
    uint32_t last = rank_of(q.zero) - 1;
    q.zero = build_slice(b, q.zero, last, build_const(b, 0), q.scale->type.shape[last], 1);
  }
  onnx_set(c, 0, onnx_dequantized(c, &q));
}
