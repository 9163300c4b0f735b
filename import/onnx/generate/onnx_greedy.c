/* GreedySearch and Sampling.  A row has pads from its end on; ONNX Runtime stops when all have
 * ended, and leaves the rest of its result as the memory was. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/generate/onnx_generate.h"

static const SearchInputs inputs = {.penalty = 3, .allowed = 4, .allowed_first = 5, .mask = 6};

/* A token of each row; pads after its end. */
static void append_token(Search *s, Node **ended, Node *token) {
  Build *b = &s->c->b;
  Node *eos = build_with(b, OP_aten_eq_Scalar, token, build_int(b, s->eos));
  *ended = *ended ? build_op2(b, OP_aten_logical_or_default, *ended, eos) : eos;
  token = build_where(b, *ended, build_int(b, s->pad), arg_node(token));
  onnx_search_append(s, NULL, build_to(b, token, DT_I32));
}

static Node *best_token(Build *b, Node *scores) {
  return build(b, OP_aten_argmax_default,
               ARGS(arg_node(scores), build_int(b, 1), arg_bool(true)));
}

void onnx_op_greedy_search(OnnxCall *c) {
  Search s = onnx_search_begin(c, &inputs, 1);
  Node *ended = NULL;
  for (int64_t i = s.begin; i < s.most; i++)
    append_token(&s, &ended, best_token(&c->b, onnx_search_filtered(&s, onnx_search_scores(&s))));
  onnx_set(c, 0, s.sequence);
}

/* ---- Sampling ---- */

enum { PRESENCE = 7, SEED = 8 };

typedef struct {
  double temperature, top_p, filtered, presence;
  int64_t least; /* tokens that are kept */
  bool custom;   /* the best are summed, and not the worst */
} Nucleus;

static Nucleus nucleus_of(OnnxCall *c) {
  Nucleus n = {.temperature = onnx_float(c, "temperature", 1),
               .top_p = onnx_float(c, "top_p", 0),
               .filtered = onnx_float(c, "filter_value", -1e20),
               .presence = onnx_float(c, "presence_penalty", 0),
               .least = onnx_int(c, "min_tokens_to_keep", 0),
               .custom = onnx_flag(c, "custom", false)};
  if (!(n.temperature > 0)) onnx_lack(c, "a temperature that is not positive");
  if (n.presence != 0 && !onnx_has(c, PRESENCE)) onnx_fail(c, E_ONNX_INPUT, PRESENCE + 1);
  return n;
}

/* Tokens beyond the share top_p of the best ones, in sorted order: which of them are filtered. */
static Node *filtered_places(Build *b, const Nucleus *n, Node *share, Node *sum) {
  Node *at = build_arange(b, share->type.shape[1]);
  Dim last = share->type.shape[1];
  if (n->custom) { /* what comes after those that have the share; never the first */
    Node *before = build_sub(b, sum, share);
    Node *over = build_with(b, OP_aten_gt_Scalar, before, arg_float((double)(float)n->top_p));
    return build_and(b, over, build_with(b, OP_aten_gt_Scalar, at, build_int(b, 0)));
  }
  float rest = 1.0f - (float)n->top_p;
  Node *under = build_with(b, OP_aten_le_Scalar, sum, arg_float((double)rest));
  last = dim_sub(b->in.g->dims, last, build_const(b, n->least));
  Node *some = build_with(b, OP_aten_lt_Scalar, at, arg_dim(last));
  Node *first = build_with(b, OP_aten_eq_Scalar, at, build_int(b, 0));
  return build_and(b, under, build_op2(b, OP_aten_logical_or_default, some, first));
}

static Node *nucleus(OnnxCall *c, const Nucleus *n, Node *scores) {
  Build *b = &c->b;
  Arg order[] = {arg_node(scores), build_int(b, 1), arg_bool(n->custom)};
  Node *list = build(b, OP_aten_sort_default, 3, order), *index = build_item(b, list, 1);
  Node *share = build_with(b, OP_aten_softmax_int, build_item(b, list, 0), build_int(b, 1));
  Node *sum = build_with(b, OP_aten_cumsum_default, share, build_int(b, 1));
  Node *out = filtered_places(b, n, share, sum);
  Node *none = build_full(b, 2, scores->type.shape, arg_bool(false), DT_I1);
  out = build(b, OP_aten_scatter_src,
              ARGS(arg_node(none), build_int(b, 1), arg_node(index), arg_node(out)));
  return build_where(b, out, arg_float(n->filtered), arg_node(scores));
}

/* The class whose score, plus a draw of Gumbel's distribution, is largest. */
static Node *drawn_token(OnnxCall *c, Node *scores, int64_t seed) {
  Build *b = &c->b;
  Arg how = {.kind = ARG_STRING, .name = pool_name(b->in.g->names, "uniform")};
  Node *u = build(b, OP_nereid_random_default,
                  ARGS(arg_dims(b->in.g, 2, scores->type.shape), build_int(b, seed), how));
  for (int i = 0; i < 2; i++)
    u = build_op1(b, OP_aten_neg_default, build_op1(b, OP_aten_log_default, u));
  return best_token(b, build_add(b, u, scores));
}

/* The seed of a run's first token; others follow it. */
static int64_t first_seed(OnnxCall *c) {
  return onnx_has(c, SEED) ? onnx_need_int(c, SEED) & INT32_MAX : 0;
}

void onnx_op_sampling(OnnxCall *c) {
  Build *b = &c->b;
  const Nucleus n = nucleus_of(c);
  Search s = onnx_search_begin(c, &inputs, 1);
  Node *ended = NULL;
  int64_t seed = first_seed(c);
  if (onnx_wants(c, 1)) onnx_lack(c, "the result filtered_logits, which ONNX Runtime leaves out");
  for (int64_t i = s.begin; i < s.most; i++) {
    Node *scores = onnx_search_filtered(&s, onnx_search_scores(&s));
    if (n.temperature != 1)
      scores = build_with(b, OP_aten_div_Tensor, scores, arg_float(n.temperature));
    if (n.presence != 0) {
      Node *mask = build_to(b, onnx_in(c, PRESENCE), DT_F32);
      mask = build_with(b, OP_aten_mul_Tensor, mask, arg_float(n.presence));
      scores = build_sub(b, scores, mask);
    }
    scores = nucleus(c, &n, scores);
    append_token(&s, &ended, drawn_token(c, scores, (seed + i) & INT32_MAX));
  }
  onnx_set(c, 0, s.sequence);
}
