/* Operators of com.microsoft for models of several streams a token, for hashes of their tokens, and
 * those of one line that ONNX had before its first opsets. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- streams: [..., C, H], or [..., C * H] with attribute num_branches ---- */

/* The last axis cut in C parts. */
static Node *cut_last(OnnxCall *c, Node *x, int64_t parts) {
  Dim shape[GRAPH_RANK_MAX + 1];
  uint32_t rank = rank_of(x);
  infer_rank(&c->b.in, &x->type, 1, GRAPH_RANK_MAX - 1);
  memcpy(shape, x->type.shape, rank * sizeof *shape);
  Dim each = dim_floordiv(onnx_dims(c), shape[rank - 1], build_const(&c->b, parts));
  shape[rank - 1] = build_const(&c->b, parts);
  shape[rank] = each;
  return build_view(&c->b, x, rank + 1, shape);
}

static Node *streams_in(OnnxCall *c, uint32_t i) {
  int64_t parts = onnx_int(c, "num_branches", 0);
  Node *x = onnx_in(c, i);
  if (parts < 0) onnx_lack(c, "num_branches %lld", (long long)parts);
  if (parts) x = cut_last(c, x, parts);
  infer_rank(&c->b.in, &x->type, 2, GRAPH_RANK_MAX);
  return build_to(&c->b, x, DT_F32);
}

/* Gates of streams, one for each or one for each feature, as they broadcast to x. */
static Node *gates_in(OnnxCall *c, uint32_t i, const Node *x) {
  Node *gate = build_to(&c->b, onnx_in(c, i), DT_F32);
  uint32_t rank = rank_of(x);
  infer_rank(&c->b.in, &gate->type, rank - 1, rank);
  if (rank_of(gate) == rank) return gate;
  Dim streams = x->type.shape[rank - 2], last = gate->type.shape[rank - 2];
  if (last == streams || !dim_is_int(streams)) return build_unsqueeze(&c->b, gate, rank - 1);
  return cut_last(c, gate, streams->value);
}

void onnx_op_streams_reduce(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = streams_in(c, 0);
  Node *y = build_mul(b, x, gates_in(c, 1, x));
  y = build_sum(b, y, 1u << (rank_of(x) - 2), false);
  y = build_with(b, OP_aten_mul_Tensor, y, arg_float(onnx_float(c, "reduction_scale", 1)));
  onnx_set(c, 0, build_to(b, y, onnx_type(c, 0)->dtype));
}

void onnx_op_streams_mix(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = streams_in(c, 0), *y = x;
  uint32_t rank = rank_of(x);
  if (onnx_has(c, 3)) {
    Node *mix = build_to(b, onnx_in(c, 3), DT_F32);
    infer_rank(&b->in, &mix->type, rank, rank);
    y = build_op2(b, OP_aten_matmul_default, build_transpose(b, mix, rank - 2, rank - 1), x);
  }
  Node *block = build_unsqueeze(b, build_to(b, onnx_in(c, 1), DT_F32), rank - 2);
  y = build_add(b, y, build_mul(b, gates_in(c, 2, x), block));
  const ValueType *t = onnx_type(c, 0);
  onnx_set(c, 0, build_to(b, build_view(b, y, t->rank, t->shape), t->dtype));
}

static Node *rms_normed(OnnxCall *c, Node *x, uint32_t scale) {
  Build *b = &c->b;
  Node *mean = build_mean(b, build_mul(b, x, x), 1u << (rank_of(x) - 1), true);
  mean = build_with(b, OP_aten_add_Tensor, mean, arg_float(onnx_float(c, "epsilon", 1e-5)));
  x = build_mul(b, x, build_op1(b, OP_aten_rsqrt_default, mean));
  return build_mul(b, x, build_to(b, onnx_in(c, scale), DT_F32));
}

/* A value times sigmoid(sign(d) * sqrt(max(|d|, 1e-6))), d being what key and query have in
 * common. */
void onnx_op_engram_gate(OnnxCall *c) {
  Build *b = &c->b;
  DType t = onnx_type(c, 0)->dtype;
  static const uint32_t ranks[] = {4, 4, 3};
  for (uint32_t i = 0; i < 3; i++) infer_rank(&b->in, onnx_type(c, i), ranks[i], ranks[i]);
  Node *key = rms_normed(c, build_to(b, onnx_in(c, 0), DT_F32), 3);
  Node *query = rms_normed(c, build_to(b, onnx_in(c, 1), DT_F32), 4);
  Dim size = key->type.shape[3];
  if (!dim_is_int(size)) onnx_lack(c, "a symbolic hidden size");
  Node *dot = build_sum(b, build_mul(b, key, query), 1u << 3, true);
  dot = build_with(b, OP_aten_mul_Tensor, dot, arg_float(1 / sqrt((double)size->value)));
  Node *root = build_with(b, OP_aten_clamp_min_default, build_op1(b, OP_aten_abs_default, dot),
                          arg_float(1e-6));
  root = build_op1(b, OP_aten_sqrt_default, root);
  Node *gate = build_mul(b, build_op1(b, OP_aten_sign_default, dot), root);
  gate = build_op1(b, OP_aten_sigmoid_default, gate);
  Node *value = build_unsqueeze(b, build_to(b, onnx_in(c, 2), DT_F32), 2);
  Node *y = build_mul(b, gate, value);
  onnx_set(c, 0, build_to(b, y, t));
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_to(b, rms_normed(c, y, 5), t));
}

/* ---- tokens ---- */

Node *onnx_completing(OnnxCall *c, Node *ids, Dim tokens, int64_t n) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *met = NULL;
  Dim length = ids->type.shape[1], places = dim_sub(d, length, build_const(b, n - 1));
  if (dim_is_int(length) && length->value < n) return NULL;
  for (int64_t i = 0; i + 1 < n; i++) {
    Dim at = dim_add(d, places, build_const(b, i)), first = build_const(b, i);
    Node *last = build_slice(b, ids, 1, at, dim_add(d, at, build_const(b, 1)), 1);
    Node *same = build_slice(b, ids, 1, first, dim_add(d, first, places), 1);
    same = build_op2(b, OP_aten_eq_Tensor, same, last);
    met = met ? build_and(b, met, same) : same;
  }
  Node *next = build_slice(b, ids, 1, build_const(b, n - 1), length, 1);
  Node *one = met ? build_to(b, met, DT_F32)
                  : build_full(b, 2, next->type.shape, arg_float(1), DT_F32);
  Node *counts = build_full(b, 2, (Dim[]){ids->type.shape[0], tokens}, arg_float(0), DT_F32);
  next = onnx_from_begin(c, build_to(b, next, DT_I64), tokens);
  counts = build(b, OP_aten_scatter_add_default,
                 ARGS(arg_node(counts), build_int(b, 1), arg_node(next), arg_node(one)));
  return build_with(b, OP_aten_gt_Scalar, counts, arg_float(0));
}

void onnx_op_no_repeat(OnnxCall *c) {
  Node *ids = onnx_in(c, 0), *scores = onnx_in(c, 1);
  int64_t n = onnx_int(c, "ngram_size", 0);
  infer_rank(&c->b.in, &ids->type, 2, 2);
  infer_rank(&c->b.in, &scores->type, 2, 2);
  if (n < 1) onnx_lack(c, "ngram_size %lld", (long long)n);
  Node *banned = onnx_completing(c, ids, scores->type.shape[1], n);
  Arg all = arg_node(scores);
  onnx_set(c, 0, banned ? build_where(&c->b, banned, arg_float(-INFINITY), all) : scores);
}

/* ---- hashes ---- */

enum { WORD = 32 };
static const int64_t word_mask = 0xffffffff;

/* Words are i64 from 0 on; the product of two wraps, and has the right lower half. */
static Node *word(Build *b, Node *x) {
  return build_with(b, OP_aten_bitwise_and_Scalar, x, build_int(b, word_mask));
}

static Node *word_times(Build *b, Node *x, int64_t y) {
  return word(b, build_with(b, OP_aten_mul_Tensor, x, build_int(b, y)));
}

static Node *word_shifted(Build *b, Node *x, int64_t by) {
  return build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, x, build_int(b, by));
}

static Node *word_turned(Build *b, Node *x, int64_t by) {
  Node *left = word_times(b, x, (int64_t)1 << by);
  return build_op2(b, OP_aten_bitwise_or_Tensor, left, word_shifted(b, x, WORD - by));
}

/* A word and itself, shifted by so many bits. */
static Node *word_mixed(Build *b, Node *x, int64_t by) {
  return build_op2(b, OP_aten_bitwise_xor_Tensor, x, word_shifted(b, x, by));
}

/* MurmurHash3 of 32 bits (Austin Appleby's, in the public domain), of one word each. */
void onnx_op_murmur_hash(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  if (dtype_bytes(x->type.dtype) != sizeof(uint32_t)) onnx_lack(c, "keys of other than 32 bits");
  int64_t seed = onnx_int(c, "seed", 0) & word_mask;
  if (dtype_is_float(x->type.dtype))
    x = build_with(b, OP_nereid_bits_default, x, arg_dtype(DT_I32));
  x = word_turned(b, word_times(b, word(b, build_to(b, x, DT_I64)), 0xcc9e2d51), 15);
  x = word_times(b, x, 0x1b873593);
  x = build_with(b, OP_aten_bitwise_xor_Scalar, x, build_int(b, seed));
  x = word_times(b, word_turned(b, x, 13), 5);
  x = word(b, build_with(b, OP_aten_add_Tensor, x, build_int(b, 0xe6546b64)));
  x = build_with(b, OP_aten_bitwise_xor_Scalar, x, build_int(b, sizeof(uint32_t)));
  x = word_times(b, word_mixed(b, x, 16), 0x85ebca6b);
  x = word_times(b, word_mixed(b, x, 13), 0xc2b2ae35);
  x = word_mixed(b, x, 16);
  onnx_set(c, 0, build_to(b, x, onnx_flag(c, "positive", true) ? DT_U32 : DT_I32));
}

OnnxGrams onnx_grams(OnnxCall *c, int64_t at_most, uint32_t end, uint32_t offset) {
  Build *b = &c->b;
  OnnxGrams g = {.factors = onnx_in(c, 1),
                 .sizes = onnx_in(c, 2),
                 .offset = onnx_optional(c, offset),
                 .end = onnx_optional(c, end),
                 .most = onnx_int(c, "max_ngram_size", 0),
                 .heads = onnx_int(c, "n_head_per_ngram", 0),
                 .pad = onnx_int(c, "pad_id", 0)};
  bool resets = onnx_flag(c, "reset_on_eos", false);
  g.resets = g.end && resets;
  if (g.end) g.end = build_view(b, g.end, 0, NULL);
  if (g.most < 2 || g.most > at_most || g.heads < 1)
    onnx_lack(c, "max_ngram_size %lld, n_head_per_ngram %lld", (long long)g.most,
              (long long)g.heads);
  build_check_data(b, build_with(b, OP_aten_le_Scalar, g.sizes, build_int(b, 0)),
                   "vocab_sizes has a size that is not positive", c->stand.name);
  return g;
}

static Node *either(Build *b, Node *x, Node *y) {
  return x ? build_op2(b, OP_aten_logical_or_default, x, y) : y;
}

/* Token i before each, or the end, where a text, *ended, or a segment ends between. */
static Node *gram_token(Build *b, const OnnxGrams *g, Node *const *tokens, Node *const *segments,
                        int64_t i, Node **ended) {
  Node *x = tokens[i];
  if (i && g->resets) *ended = either(b, *ended, build_op2(b, OP_aten_eq_Tensor, x, g->end));
  if (i && segments)
    *ended = either(b, *ended, build_op2(b, OP_aten_ne_Tensor, segments[i], segments[i - 1]));
  if (!*ended) return x;
  return build_where(b, *ended, g->end ? arg_node(g->end) : build_int(b, g->pad), arg_node(x));
}

Node *onnx_gram_hashes(OnnxCall *c, const OnnxGrams *g, Node *const *tokens,
                       Node *const *segments) {
  Build *b = &c->b;
  Node *mix = NULL, *ended = NULL, *parts[GRAPH_RANK_MAX];
  uint32_t axis = rank_of(tokens[0]);
  for (int64_t i = 0; i < g->most; i++) {
    Node *token = gram_token(b, g, tokens, segments, i, &ended);
    token = build_mul(b, token, build_select(b, g->factors, 0, build_const(b, i)));
    mix = mix ? build_op2(b, OP_aten_bitwise_xor_Tensor, mix, token) : token;
    if (!i) continue;
    Dim first = build_const(b, (i - 1) * g->heads), end = build_const(b, i * g->heads);
    Node *of = build_slice(b, g->sizes, 0, first, end, 1);
    parts[i - 1] = build_op2(b, OP_aten_remainder_Tensor, build_unsqueeze(b, mix, axis), of);
  }
  Node *y = build_cat(b, (uint32_t)g->most - 1, parts, axis);
  return g->offset ? build_add(b, y, g->offset) : y;
}

/* The tokens before those of this call, [batch, before]: a state, or a token for none. */
static Node *tokens_before(OnnxCall *c, const OnnxGrams *g, const Node *ids, Dim before) {
  Build *b = &c->b;
  Dim shape[] = {ids->type.shape[0], before};
  if (onnx_has(c, 3)) return onnx_in(c, 3);
  if (g->end) return build_expand(b, g->end, 2, shape);
  return build_full(b, 2, shape, build_int(b, g->pad), ids->type.dtype);
}

/* Numbers of n-grams, of n from 2 to `most`: their tokens, each times a factor, xor each other,
 * modulo a size of each head. */
void onnx_op_ngram_hashes(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *ids = onnx_in(c, 0), *tokens[GRAPH_RANK_MAX], *segments[GRAPH_RANK_MAX], *parts = NULL;
  infer_rank(&b->in, &ids->type, 2, 2);
  OnnxGrams g = onnx_grams(c, GRAPH_RANK_MAX, 5, 4);
  Dim zero = build_const(b, 0), before = build_const(b, g.most - 1), length = ids->type.shape[1];
  Node *all = build_cat(b, 2, (Node *[]){tokens_before(c, &g, ids, before), ids}, 1);
  if (onnx_has(c, 6)) { /* nothing ends before the first token */
    Node *of = onnx_in(c, 6), *first = build_slice(b, of, 1, zero, build_const(b, 1), 1);
    Dim shape[] = {ids->type.shape[0], before};
    parts = build_cat(b, 2, (Node *[]){build_expand(b, first, 2, shape), of}, 1);
  }
  for (int64_t i = 0; i < g.most; i++) {
    Dim from = build_const(b, g.most - 1 - i), end = dim_add(d, from, length);
    tokens[i] = build_slice(b, all, 1, from, end, 1);
    segments[i] = parts ? build_slice(b, parts, 1, from, end, 1) : NULL;
  }
  onnx_set(c, 0, onnx_gram_hashes(c, &g, tokens, parts ? segments : NULL));
  Dim end = dim_add(d, length, before);
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_slice(b, all, 1, length, end, 1));
}

/* ---- before the first opsets ---- */

void onnx_op_affine(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(onnx_float(c, "alpha", 1)));
  onnx_set(c, 0, build_with(b, OP_aten_add_Tensor, x, arg_float(onnx_float(c, "beta", 0))));
}

void onnx_op_scale(OnnxCall *c) {
  Arg by = arg_float(onnx_float(c, "scale", 1));
  onnx_set(c, 0, build_with(&c->b, OP_aten_mul_Tensor, onnx_in(c, 0), by));
}

/* alpha * f(beta * x) */
void onnx_op_scaled_function(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = build_with(b, OP_aten_mul_Tensor, onnx_in(c, 0), arg_float(onnx_float(c, "beta", 0)));
  x = build_op1(b, c->op->aten, x);
  onnx_set(c, 0, build_with(b, OP_aten_mul_Tensor, x, arg_float(onnx_float(c, "alpha", 0))));
}

void onnx_op_image_scaler(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t n = 0;
  infer_rank(&b->in, &x->type, 4, 4);
  Dim channels = x->type.shape[1];
  const float *bias = onnx_floats(c, "bias", &n);
  if (!bias || !dim_is(channels, n)) onnx_lack(c, "%u biases", n);
  Arg each = arg_list(b->in.g, n);
  for (uint32_t i = 0; i < n; i++)
    each.items[i] = arg_node(build_full(b, 0, NULL, arg_float(bias[i]), DT_F32));
  Node *shift = build(b, OP_aten_stack_default, ARGS(each, build_int(b, 0)));
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(onnx_float(c, "scale", 1)));
  onnx_set(c, 0, build_add(b, x, build_along(b, build_to(b, shift, x->type.dtype), 1, 4)));
}

/* The border is left, top, right, bottom; with `scale` the size of what is left. */
void onnx_op_crop(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *x = onnx_in(c, 0);
  uint32_t n = 0, sizes = 0;
  infer_rank(&b->in, &x->type, 4, 4);
  const int64_t *border = onnx_ints(c, "border", &n), *scale = onnx_ints(c, "scale", &sizes);
  if (!border || n < 4 || (scale && sizes != 2)) onnx_lack(c, "%u borders", n);
  for (uint32_t i = 0; i < 2; i++) {
    Dim size = x->type.shape[2 + i], from = build_const(b, border[1 - i]);
    Dim end = scale ? dim_add(d, from, build_const(b, scale[i]))
                    : dim_sub(d, size, build_const(b, border[3 - i]));
    x = build_slice(b, x, 2 + i, from, end, 1);
  }
  onnx_set(c, 0, x);
}
