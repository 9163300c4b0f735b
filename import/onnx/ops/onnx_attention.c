/* Attention over heads, and the rotation of their elements by position. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- heads ---- */

Node *onnx_heads_of(OnnxCall *c, Node *x, int64_t heads) {
  Build *b = &c->b;
  infer_rank(&b->in, &x->type, 3, 3);
  if (heads < 1) onnx_lack(c, "%lld heads", (long long)heads);
  const Dim *s = x->type.shape;
  Dim shape[] = {s[0], s[1], build_const(b, heads),
                 dim_floordiv(onnx_dims(c), s[2], build_const(b, heads))};
  return build_transpose(b, build_view(b, x, 4, shape), 1, 2);
}

/* Four axes are those of heads already. */
static Node *split_heads(OnnxCall *c, Node *x, const char *count) {
  if (rank_of(x) == 4) return x;
  if (!onnx_has_attr(c, count)) onnx_fail(c, E_ONNX_ATTR_MISSING, count);
  return onnx_heads_of(c, x, onnx_int(c, count, 0));
}

Node *onnx_join_heads(Build *b, Node *x) {
  x = build_transpose(b, x, 1, 2);
  const Dim *s = x->type.shape;
  Dim shape[] = {s[0], s[1], dim_mul(b->in.g->dims, s[2], s[3])};
  return build_view(b, x, 3, shape);
}

/* ---- Attention ---- */

/* Indices in `axis` of products: [length, 1] of queries, [length] of keys. */
static Node *query_positions(Build *b, Dim length, bool queries) {
  Node *n = build_arange(b, length);
  return queries ? build_unsqueeze(b, n, 1) : n;
}

/* The first query's position among the keys: after those of the past, or so that the last query is
 * at the last valid key. */
static Node *query_indices(OnnxHeads *h, Build *b) {
  Node *at = query_positions(b, h->query->type.shape[2], true);
  if (!h->valid) return build_with(b, OP_aten_add_Tensor, at, arg_dim(h->past));
  Node *first = build_with(b, OP_aten_sub_Tensor, h->valid, arg_dim(h->query->type.shape[2]));
  return build_add(b, at, build_along(b, first, 0, 4));
}

/* Keys at most `left` before and `right` after a query; -1: no limit. */
static void limit_keys(OnnxCall *c, OnnxHeads *h) {
  Build *b = &c->b;
  int64_t left = onnx_int(c, "left_window_size", -1), right = onnx_int(c, "right_window_size", -1);
  if (onnx_flag(c, "is_causal", false) && right) right = 0;
  Node *key = query_positions(b, h->key->type.shape[2], false);
  if (left >= 0 || right >= 0) {
    Node *behind = build_sub(b, key, query_indices(h, b));
    if (right >= 0)
      h->keep =
          build_and(b, h->keep, build_with(b, OP_aten_le_Scalar, behind, build_int(b, right)));
    if (left >= 0)
      h->keep =
          build_and(b, h->keep, build_with(b, OP_aten_ge_Scalar, behind, build_int(b, -left)));
  }
  if (!h->valid) return;
  Node *end = build_along(b, h->valid, 0, 4);
  h->keep = build_and(b, h->keep, build_op2(b, OP_aten_lt_Tensor, key, end));
}

/* A mask of booleans, or one that is added; keys beyond its end are not seen. */
static void read_mask(OnnxCall *c, OnnxHeads *h, Node *mask) {
  Build *b = &c->b;
  Dim keys = h->key->type.shape[2], zero = build_const(b, 0), size;
  if (!rank_of(mask)) onnx_lack(c, "a mask without axes");
  size = mask->type.shape[rank_of(mask) - 1];
  bool is_bool = mask->type.dtype == DT_I1;
  if (!dim_is(size, 1) && size != keys) {
    Dim pad[] = {zero, dim_sub(onnx_dims(c), keys, size)};
    Arg args[] = {arg_node(mask), arg_dims(b->in.g, 2, pad),
                  is_bool ? arg_bool(false) : arg_float(-INFINITY)};
    mask = build(b, OP_aten_constant_pad_nd_default, 3, args);
  }
  if (is_bool) h->keep = mask;
  else h->bias = mask;
}

/* The mask that is added to scores: -inf at keys that a query does not attend to. */
static Node *attention_bias(Build *b, const OnnxHeads *h) {
  if (!h->keep) return h->bias;
  DType t = h->query->type.dtype;
  Node *none = build_full(b, 0, NULL, arg_float(-INFINITY), t);
  Node *some = h->bias ? h->bias : build_full(b, 0, NULL, arg_float(0), t);
  return build_where(b, h->keep, arg_node(some), arg_node(none));
}

/* Heads of keys and values that several heads of queries share, each as often. */
static Node *shared(Build *b, const OnnxHeads *h, Node *x) {
  const Dim *s = x->type.shape;
  Dim heads = h->query->type.shape[1], times = dim_floordiv(b->in.g->dims, heads, s[1]);
  if (heads == s[1]) return x;
  Dim wide[] = {s[0], s[1], times, s[2], s[3]}, shape[] = {s[0], heads, s[2], s[3]};
  x = build_expand(b, build_unsqueeze(b, x, 2), 5, wide);
  return build_view(b, x, 4, shape);
}

static void set_products(OnnxCall *c, const OnnxHeads *h, Node *x, int64_t now) {
  if (h->products == now) onnx_set(c, 3, x);
}

/* Probabilities of keys; those of sinks, whose scores are one more column, are left out. */
static Node *probabilities(Build *b, const OnnxHeads *h, Node *x) {
  Arg last = build_int(b, -1);
  if (!h->sink) return build_with(b, OP_aten__safe_softmax_default, x, last);
  Dim column[GRAPH_RANK_MAX], keys = x->type.shape[3];
  memcpy(column, x->type.shape, 4 * sizeof *column);
  column[3] = build_const(b, 1);
  Node *sink = build_to(b, build_along(b, h->sink, 1, 4), x->type.dtype);
  Node *both[] = {x, build_expand(b, sink, 4, column)};
  Node *all = build_with(b, OP_aten__safe_softmax_default, build_cat(b, 2, both, 3), last);
  return build_slice(b, all, 3, build_const(b, 0), keys, 1);
}

/* Step by step, where results between are wanted, or products have a limit. */
static Node *spelled_out(OnnxCall *c, const OnnxHeads *h) {
  Build *b = &c->b;
  Node *key = build_transpose(b, shared(b, h, h->key), 2, 3);
  Node *query = build_with(b, OP_aten_mul_Tensor, h->query, arg_float(h->scale));
  Node *x = build_op2(b, OP_aten_matmul_default, query, key), *bias = attention_bias(b, h);
  set_products(c, h, x, 0);
  if (h->cap > 0) {
    x = build_with(b, OP_aten_div_Tensor, x, arg_float(h->cap));
    x = build_with(b, OP_aten_mul_Tensor, build_op1(b, OP_aten_tanh_default, x), arg_float(h->cap));
  }
  set_products(c, h, x, 1);
  if (bias) x = build_add(b, x, bias);
  set_products(c, h, x, 2);
  x = probabilities(b, h, x);
  set_products(c, h, x, 3);
  return build_op2(b, OP_aten_matmul_default, x, shared(b, h, h->value));
}

Node *onnx_attend(OnnxCall *c, const OnnxHeads *h) {
  Build *b = &c->b;
  if (h->products >= 0 || h->cap > 0 || h->sink) return spelled_out(c, h);
  Node *mask = h->keep && !h->bias ? h->keep : attention_bias(b, h);
  Arg args[] = {arg_node(h->query), arg_node(h->key),
                arg_node(h->value), mask ? arg_node(mask) : arg_none(),
                arg_float(0),       arg_bool(false)};
  NamedArg named[] = {
      {pool_name(b->in.g->names, "scale"), arg_float(h->scale)},
      {pool_name(b->in.g->names, "enable_gqa"),
       arg_bool(h->query->type.shape[1] != h->key->type.shape[1])},
  };
  return build_with_all(b, OP_aten_scaled_dot_product_attention_default, 6, args, 2, named);
}

/* The past comes before what is new, and both together are a result. */
static Node *with_past(OnnxCall *c, uint32_t input, uint32_t result, Node *x) {
  if (onnx_has(c, input)) x = build_cat(&c->b, 2, (Node *[]){onnx_in(c, input), x}, 2);
  if (onnx_wants(c, result)) onnx_set(c, result, x);
  return x;
}

double onnx_heads_scale(OnnxCall *c, const Node *query) {
  if (onnx_has_attr(c, "scale")) return onnx_float(c, "scale", 1);
  Dim size = query->type.shape[3];
  if (!dim_is_int(size)) onnx_lack(c, "heads of symbolic size");
  return 1 / sqrt((double)size->value);
}

void onnx_op_attention(OnnxCall *c) {
  Build *b = &c->b;
  bool flat = rank_of(onnx_in(c, 0)) == 3;
  OnnxHeads h = {.past = build_const(b, 0), .cap = onnx_float(c, "softcap", 0)};
  h.query = split_heads(c, onnx_in(c, 0), "q_num_heads");
  h.key = with_past(c, 4, 1, split_heads(c, onnx_in(c, 1), "kv_num_heads"));
  h.value = with_past(c, 5, 2, split_heads(c, onnx_in(c, 2), "kv_num_heads"));
  onnx_ignore(c, "q_num_heads");
  onnx_ignore(c, "kv_num_heads");
  infer_rank(&b->in, &h.query->type, 4, 4);
  infer_rank(&b->in, &h.key->type, 4, 4);
  if (onnx_has(c, 4)) h.past = onnx_in(c, 4)->type.shape[2];
  if (onnx_has(c, 6)) h.valid = build_to(b, onnx_in(c, 6), DT_I64);
  h.scale = onnx_heads_scale(c, h.query);
  h.products = onnx_wants(c, 3) ? onnx_int(c, "qk_matmul_output_mode", 0) : -1;
  onnx_ignore(c, "qk_matmul_output_mode");
  onnx_ignore(c, "softmax_precision"); /* f32 or more */
  if (onnx_has(c, 3)) read_mask(c, &h, onnx_in(c, 3));
  limit_keys(c, &h);
  Node *y = onnx_attend(c, &h);
  onnx_set(c, 0, flat ? onnx_join_heads(b, y) : y);
}

/* ---- RotaryEmbedding ---- */

Node *onnx_angles(Build *b, Node *table, Node *positions) {
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(build_to(b, positions, DT_I64));
  table = build_with(b, OP_aten_index_Tensor, table, list);
  infer_rank(&b->in, &table->type, 3, 3);
  return build_unsqueeze(b, table, 1);
}

/* Each position takes its row of a table; without positions the table has a row for each. */
static Node *angles(OnnxCall *c, uint32_t input) {
  Build *b = &c->b;
  Node *table = onnx_in(c, input);
  if (onnx_has(c, 3)) return onnx_angles(b, table, onnx_in(c, 3));
  infer_rank(&b->in, &table->type, 3, 3);
  return build_unsqueeze(b, table, 1);
}

/* Half `i` of the rotated elements: the first or second ones, or every other one. */
static Node *rotated_half(Build *b, Node *x, Dim half, uint32_t i, bool interleaved) {
  Dim shape[5];
  memcpy(shape, x->type.shape, 3 * sizeof *shape);
  shape[3] = interleaved ? half : build_const(b, 2);
  shape[4] = interleaved ? build_const(b, 2) : half;
  return build_select(b, build_view(b, x, 5, shape), interleaved ? 4 : 3, build_const(b, i));
}

/* All of x rotated. */
static Node *rotated(OnnxCall *c, Node *x, const OnnxRotation *r) {
  Build *b = &c->b;
  bool interleaved = r->interleaved;
  Dim half = dim_floordiv(onnx_dims(c), r->size, build_const(b, 2));
  Node *first = rotated_half(b, x, half, 0, interleaved),
       *second = rotated_half(b, x, half, 1, interleaved);
  Node *pair[] = {build_sub(b, build_mul(b, r->cosine, first), build_mul(b, r->sine, second)),
                  build_add(b, build_mul(b, r->sine, first), build_mul(b, r->cosine, second))};
  if (!interleaved) return build_cat(b, 2, pair, 3);
  for (int i = 0; i < 2; i++) pair[i] = build_unsqueeze(b, pair[i], 4);
  return build_view(b, build_cat(b, 2, pair, 4), 4, x->type.shape);
}

Node *onnx_rotate(OnnxCall *c, Node *x, const OnnxRotation *r) {
  Build *b = &c->b;
  Dim zero = build_const(b, 0), all = x->type.shape[3];
  Node *y = rotated(c, build_slice(b, x, 3, zero, r->size, 1), r);
  return r->size == all
             ? y
             : build_cat(b, 2, (Node *[]){y, build_slice(b, x, 3, r->size, all, 1)}, 3);
}

void onnx_op_rotary_embedding(OnnxCall *c) {
  Build *b = &c->b;
  bool flat = rank_of(onnx_in(c, 0)) == 3;
  Node *x = split_heads(c, onnx_in(c, 0), "num_heads");
  onnx_ignore(c, "num_heads");
  infer_rank(&b->in, &x->type, 4, 4);
  int64_t wanted = onnx_int(c, "rotary_embedding_dim", 0);
  OnnxRotation r = {angles(c, 1), angles(c, 2),
                    wanted > 0 ? build_const(b, wanted) : x->type.shape[3],
                    onnx_flag(c, "interleaved", false)};
  Node *y = onnx_rotate(c, x, &r);
  onnx_set(c, 0, flat ? onnx_join_heads(b, y) : y);
}

/* ---- FlexAttention ---- */

/* The graph of an attribute, which changes the scores, or the probabilities. */
static Node *modified(OnnxCall *c, const char *name, Node *x) {
  if (!onnx_has_attr(c, name)) return x;
  OnnxValue *in[] = {onnx_value_of_node(c, x)}, *out[1];
  onnx_read_body(c, onnx_graph(c, name), in, 1, out, 1);
  Node *y = onnx_node_of(c, out[0]);
  if (rank_of(y) != 4) onnx_lack(c, "a %s whose result has not four axes", name);
  return build_to(&c->b, y, x->type.dtype);
}

/* Heads of keys or values for each of the queries that share them. */
static Node *heads_for(OnnxCall *c, Node *x, const Node *query) {
  Build *b = &c->b;
  Dim heads = x->type.shape[1], wanted = query->type.shape[1];
  if (heads == wanted) return x;
  if (!dim_is_int(heads) || !dim_is_int(wanted) || heads->value < 1 || wanted->value % heads->value)
    onnx_lack(c, "heads of keys that do not divide those of queries");
  return build(b, OP_aten_repeat_interleave_self_int,
               ARGS(arg_node(x), build_int(b, wanted->value / heads->value), build_int(b, 1)));
}

void onnx_op_flex_attention(OnnxCall *c) {
  Build *b = &c->b;
  Node *x[3];
  for (uint32_t i = 0; i < 3; i++) {
    x[i] = onnx_in(c, i);
    infer_rank(&b->in, &x[i]->type, 4, 4);
  }
  Dim size = x[0]->type.shape[3];
  if (!onnx_has_attr(c, "scale") && !dim_is_int(size)) onnx_lack(c, "a symbolic size of heads");
  double scale =
      onnx_has_attr(c, "scale") ? onnx_float(c, "scale", 0) : 1 / sqrt((double)size->value);
  DType given = x[2]->type.dtype;
  DType t = onnx_dtype_attr(c, "softmax_precision", build_wide(x[0]->type.dtype));
  Arg root = arg_float((double)sqrtf((float)scale));
  Node *query = build_with(b, OP_aten_mul_Tensor, x[0], root);
  Node *key = build_with(b, OP_aten_mul_Tensor, heads_for(c, x[1], x[0]), root);
  Node *scores = build_op2(b, OP_aten_matmul_default, query, build_transpose(b, key, 2, 3));
  scores = modified(c, "score_mod", build_to(b, scores, t));
  Node *probs = build_with(b, OP_aten_softmax_int, scores, build_int(b, -1));
  probs = modified(c, "prob_mod", probs);
  Node *value = build_to(b, heads_for(c, x[2], x[0]), t);
  onnx_set(c, 0, build_to(b, build_op2(b, OP_aten_matmul_default, probs, value), given));
}
