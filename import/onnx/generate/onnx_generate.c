#include "import/onnx/generate/onnx_generate.h"

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { SEARCHED_MAX = 512, FEEDS = 3 /* tokens, positions and the mask, before the caches */ };

static bool is_cache(const Onnx__ValueInfo *v) {
  const Onnx__TensorType *t = v->type ? v->type->tensor_type : NULL;
  return t && t->shape && t->shape->n_dim == 5 && t->shape->dim[2]->has_dim_value &&
         t->shape->dim[4]->has_dim_value && onnx_dtype(t->elem_type) != DT_NONE;
}

/* Keys and values of no tokens, [2, rows, heads, 0, size]. */
static Node *empty_cache(OnnxCall *c, const Onnx__ValueInfo *v, Dim rows) {
  const Onnx__TensorType *t = v->type->tensor_type;
  Dim shape[] = {build_const(&c->b, 2), rows, build_const(&c->b, t->shape->dim[2]->dim_value),
                 build_const(&c->b, 0), build_const(&c->b, t->shape->dim[4]->dim_value)};
  return build_full(&c->b, 5, shape, build_int(&c->b, 0), onnx_dtype(t->elem_type));
}

static void feed(Search *s, Node *tokens, Node *positions, Node *mask) {
  Node *all[] = {tokens, positions, mask};
  for (int i = 0; i < FEEDS; i++)
    s->in[i] = onnx_value_of_node(s->c, build_to(&s->c->b, all[i], DT_I32));
}

static void check_search(Search *s) {
  OnnxCall *c = s->c;
  size_t n = s->decoder->n_input;
  if (s->kind != SEARCH_DECODER || onnx_has_attr(c, "encoder"))
    onnx_lack(c, "model_type %d, or an encoder without one", s->kind);
  if (onnx_has_attr(c, "init_decoder")) onnx_lack(c, "init_decoder");
  if (onnx_has(c, s->inputs->mask))
    onnx_lack(c, "attention_mask, which ONNX Runtime does not use");
  onnx_ignore(c, "decoder_start_token_id");
  if (n <= FEEDS || s->decoder->n_output != n - FEEDS + 1)
    onnx_fail(c, E_ONNX_BODY, n, s->decoder->n_output);
}

void onnx_search_lengths(Search *s) {
  OnnxCall *c = s->c;
  Dim length = s->sequence->type.shape[1];
  s->most = onnx_need_int(c, 1);
  if (!dim_is_int(length)) onnx_lack(c, "a prompt of open length");
  s->begin = length->value;
  if (s->most <= s->begin || s->most - s->begin > SEARCHED_MAX)
    onnx_lack(c, "max_length %lld after %lld tokens", (long long)s->most, (long long)s->begin);
}

Node *onnx_search_rows(Build *b, Node *x, int64_t times) {
  uint32_t rank = rank_of(x);
  Dim shape[GRAPH_RANK_MAX] = {x->type.shape[0], build_const(b, times)};
  Dim flat[GRAPH_RANK_MAX] = {dim_mul(b->in.g->dims, shape[0], shape[1])};
  if (times == 1) return x;
  for (uint32_t i = 1; i < rank; i++) shape[i + 1] = flat[i] = x->type.shape[i];
  x = build_expand(b, build_unsqueeze(b, x, 1), rank + 1, shape);
  return build_view(b, x, rank, flat);
}

void onnx_search_begin_alone(Search *s) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  size_t n = s->decoder->n_input;
  check_search(s);
  s->sequence = onnx_in(c, 0);
  infer_rank(&b->in, &s->sequence->type, 2, 2);
  onnx_search_lengths(s);
  s->sequence = onnx_search_rows(b, s->sequence, s->rows);
  s->feeds = FEEDS;
  s->row_axis = 1;
  s->ncaches = (uint32_t)n - FEEDS;
  for (uint32_t i = 0; i < s->ncaches; i++) {
    const Onnx__ValueInfo *v = s->decoder->input[FEEDS + i];
    if (!is_cache(v)) onnx_lack(c, "caches other than [2, batch, heads, length, size]");
    s->in[FEEDS + i] = onnx_value_of_node(c, empty_cache(c, v, s->sequence->type.shape[0]));
  }
  Node *mask = build_with(b, OP_aten_ne_Scalar, s->sequence, build_int(b, s->pad));
  mask = build_to(b, mask, DT_I64);
  s->count = build_sum(b, mask, 1u << 1, true);
  Node *place = build_with(b, OP_aten_cumsum_default, mask, build_int(b, 1));
  place = build_mul(b, build_with(b, OP_aten_sub_Tensor, place, build_int(b, 1)), mask);
  feed(s, s->sequence, place, mask);
}

/* ---- scores ---- */

Node *onnx_search_last(Search *s, OnnxValue *logits) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  int64_t tokens = onnx_int(c, "vocab_size", -1);
  Node *x = onnx_node_of(c, logits);
  infer_rank(&b->in, &x->type, 3, 3);
  Dim last = dim_sub(onnx_dims(c), x->type.shape[1], build_const(b, 1));
  if (tokens > 0 && !dim_is(x->type.shape[2], tokens))
    onnx_lack(c, "vocab_size other than that of logits");
  return build_to(b, build_select(b, x, 1, last), DT_F32);
}

Node *onnx_search_scores(Search *s) {
  Node *first = s->first;
  s->first = NULL;
  if (first) return first;
  onnx_read_body(s->c, s->decoder, s->in, s->decoder->n_input, s->out, s->decoder->n_output);
  return onnx_search_last(s, s->out[0]);
}

static Node *without(Build *b, Node *scores, Node *tokens) {
  return build_where(b, tokens, arg_float(-dtype_largest_finite(DT_F32)), arg_node(scores));
}

/* Scores of tokens that the sequence has are divided by the penalty, or times it below 0. */
static Node *penalized(Search *s, Node *scores) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  Node *by = build_to(b, build_view(b, onnx_in(c, s->inputs->penalty), 0, NULL), DT_F32);
  Node *none = build_full(b, 2, scores->type.shape, arg_bool(false), DT_I1);
  Node *ids = onnx_from_begin(c, build_to(b, s->sequence, DT_I64), scores->type.shape[1]);
  Node *has = build(b, OP_aten_scatter_value, ARGS(arg_node(none), build_int(b, 1), arg_node(ids),
                                                   arg_bool(true)));
  Node *low = build_with(b, OP_aten_lt_Scalar, scores, build_int(b, 0));
  Node *less = build_where(b, low, arg_node(build_mul(b, scores, by)),
                           arg_node(build_div(b, scores, by)));
  return build_where(b, has, arg_node(less), arg_node(scores));
}

static Node *masked_by(Search *s, Node *scores, uint32_t i) {
  Build *b = &s->c->b;
  Node *mask = onnx_in(s->c, i);
  if (rank_of(mask) == 2) mask = onnx_search_rows(b, mask, s->rows);
  return without(b, scores, build_with(b, OP_aten_eq_Scalar, mask, build_int(b, 0)));
}

Node *onnx_search_filtered(Search *s, Node *scores) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  int64_t grams = onnx_int(c, "no_repeat_ngram_size", 0);
  Dim length = s->sequence->type.shape[1];
  if (onnx_has(c, s->inputs->penalty)) scores = penalized(s, scores);
  Node *twice =
      grams > 0 ? onnx_completing(c, s->sequence, scores->type.shape[1], grams) : NULL;
  if (twice) scores = without(b, scores, twice);
  if (onnx_has(c, s->inputs->allowed)) scores = masked_by(s, scores, s->inputs->allowed);
  if (onnx_has(c, s->inputs->allowed_first) && dim_is(length, s->begin))
    scores = masked_by(s, scores, s->inputs->allowed_first);
  if (!onnx_has(c, 2)) return scores;
  Node *least = build_view(b, onnx_in(c, 2), 0, NULL);
  Node *is_short = build_with(b, OP_aten_gt_Scalar, least, arg_dim(length));
  Node *token = build_arange(b, scores->type.shape[1]);
  token = build_with(b, OP_aten_eq_Scalar, token, build_int(b, s->eos));
  return without(b, scores, build_and(b, is_short, token));
}

/* ---- tokens ---- */

static Node *chosen_rows(Build *b, Node *x, uint32_t axis, Node *from) {
  if (!from) return x;
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, axis), arg_node(from)));
}

void onnx_search_append(Search *s, Node *from, Node *token) {
  OnnxCall *c = s->c;
  Build *b = &c->b;
  Node *sequence = chosen_rows(b, s->sequence, 0, from);
  s->sequence = build_cat(b, 2, (Node *[]){sequence, token}, 1);
  if (s->kind == SEARCH_DECODER) {
    Node *mask = onnx_node_of(c, s->in[2]);
    Node *one = build_with(b, OP_aten_ge_Scalar, s->count, build_int(b, 0));
    mask = build_cat(b, 2, (Node *[]){mask, build_to(b, one, DT_I32)}, 1);
    feed(s, token, s->count, mask);
    s->count = build_with(b, OP_aten_add_Tensor, s->count, build_int(b, 1));
  } else {
    s->in[0] = onnx_value_of_node(c, s->whole ? s->sequence : token);
  }
  for (uint32_t i = 0; i < s->ncaches; i++) {
    Node *cache = onnx_node_of(c, s->out[1 + i]);
    if (s->rows > 1) cache = chosen_rows(b, cache, s->row_axis, from);
    s->in[s->feeds + i] = onnx_value_of_node(c, cache);
  }
}
