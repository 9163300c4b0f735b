/* Operators on tokens of several requests, of any length each, after each other.
 *
 * An element of a request at a place before its first token is in a state of the call before.  A
 * table of all states' elements and after these all tokens has both, and each place a row of it. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { CAPTURED_MAX = 8, GRAMS_MAX = GRAPH_RANK_MAX };

typedef struct {
  OnnxCall *c;
  Dim tokens, requests, before; /* `before`: the elements of a state */
  Node *start, *length;         /* of each request, [requests] */
  Node *number, *request, *first; /* of each token, and the first one of its request, [tokens] */
} Ragged;

static Node *add_dim(Build *b, Node *x, Dim by) { return build_add_dim(b, x, by); }

static Node *with_int(Build *b, OpId op, Node *x, int64_t y) {
  return build_with(b, op, x, build_int(b, y));
}

static Node *chosen(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(b, 0), arg_node(index)));
}

/* The bounds are 0, ..., the number of tokens, and each request has a token. */
static void check_bounds(const Ragged *r, Node *bounds) {
  OnnxCall *c = r->c;
  Build *b = &c->b;
  Dim zero = build_const(b, 0);
  Node *none = with_int(b, OP_aten_le_Scalar, r->length, 0);
  build_check_data(b, none, "cumulative_sequence_length has a request without a token",
                   c->stand.name);
  Node *begin = build_select(b, bounds, 0, zero);
  Node *wrong = with_int(b, OP_aten_ne_Scalar, begin, 0);
  Node *end = build_select(b, bounds, 0, r->requests);
  wrong = build_op2(b, OP_aten_logical_or_default, wrong,
                    build_with(b, OP_aten_ne_Scalar, end, arg_dim(r->tokens)));
  build_check_data(b, wrong, "cumulative_sequence_length does not go from 0 to the tokens",
                   c->stand.name);
}

static Ragged ragged_of(OnnxCall *c, Dim tokens, Node *bounds, Dim before) {
  Build *b = &c->b;
  Dim one = build_const(b, 1), zero = build_const(b, 0);
  infer_rank(&b->in, &bounds->type, 1, 1);
  bounds = build_to(b, bounds, DT_I64);
  Dim n = bounds->type.shape[0];
  Ragged r = {.c = c, .tokens = tokens, .requests = dim_sub(onnx_dims(c), n, one)};
  r.before = before;
  Node *end = build_slice(b, bounds, 0, one, n, 1);
  r.start = build_slice(b, bounds, 0, zero, r.requests, 1);
  r.length = build_sub(b, end, r.start);
  check_bounds(&r, bounds);
  r.number = build_arange(b, tokens);
  Node *over = build_op2(b, OP_aten_le_Tensor, build_unsqueeze(b, end, 0),
                         build_unsqueeze(b, r.number, 1));
  r.request = build_sum(b, build_to(b, over, DT_I64), 1u << 1, false);
  r.first = chosen(b, r.start, r.request);
  return r;
}

/* States, [requests, before, ...], and tokens, [tokens, ...], as one table. */
static Node *table_of(const Ragged *r, Node *past, Node *tokens) {
  Build *b = &r->c->b;
  Dim shape[GRAPH_RANK_MAX] = {dim_mul(build_dims(b), r->requests, r->before)};
  uint32_t rank = rank_of(tokens);
  memcpy(shape + 1, tokens->type.shape + 1, (rank - 1) * sizeof *shape);
  return build_cat(b, 2, (Node *[]){build_view(b, past, rank, shape), tokens}, 0);
}

/* Rows of the table: places of requests, from their first token; below 0 they are in the state. */
static Node *row_of(const Ragged *r, Node *request, Node *first, Node *place) {
  Build *b = &r->c->b;
  Dim states = dim_mul(build_dims(b), r->requests, r->before);
  Node *token = add_dim(b, build_add(b, first, place), states);
  Node *old = build_mul_dim(b, add_dim(b, request, build_const(b, 1)), r->before);
  Node *is = with_int(b, OP_aten_ge_Scalar, place, 0);
  return build_where(b, is, arg_node(token), arg_node(build_add(b, old, place)));
}

/* The rows of the elements `by` before each token, [tokens]. */
static Node *rows_before(const Ragged *r, int64_t by) {
  Build *b = &r->c->b;
  Node *place = with_int(b, OP_aten_sub_Tensor, build_sub(b, r->number, r->first), by);
  return row_of(r, r->request, r->first, place);
}

/* Elements of the table, [requests, n, ...], that end before `end`, [requests, ...]: as many as a
 * state has. */
static Node *state_at(const Ragged *r, Node *table, Node *end) {
  Build *b = &r->c->b;
  uint32_t axes = rank_of(end), rank = rank_of(table) + axes;
  Dim shape[GRAPH_RANK_MAX];
  Node *at = build_sub(b, build_arange(b, r->before), build_full(b, 0, NULL, arg_dim(r->before),
                                                               DT_I64));
  Node *place = build_add(b, build_unsqueeze(b, end, axes), at);
  Node *request = build_along(b, build_arange(b, r->requests), 0, axes + 1);
  Node *row = row_of(r, request, build_along(b, r->start, 0, axes + 1), place);
  memcpy(shape, row->type.shape, (axes + 1) * sizeof *shape);
  memcpy(shape + axes + 1, table->type.shape + 1, (rank_of(table) - 1) * sizeof *shape);
  return build_view(b, chosen(b, table, build_flat(b, row)), rank, shape);
}

/* ---- what is captured of the first tokens ---- */

/* For each request the numbers 0, 1, ... of what may be captured, [requests, capacity], and where
 * that is done; NULL: nothing is. */
static Node *captured(const Ragged *r, uint32_t input, Node **is) {
  OnnxCall *c = r->c;
  Build *b = &c->b;
  int64_t capacity = onnx_int(c, "state_update_capacity", 0);
  if (capacity < 0 || capacity > CAPTURED_MAX)
    onnx_lack(c, "state_update_capacity %lld", (long long)capacity);
  if (!capacity != !onnx_has(c, input))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "state_update_capacity", "not what capture_count needs");
  if (!capacity) return NULL;
  Dim shape[] = {r->requests, build_const(b, capacity)};
  Node *count = build_to(b, onnx_in(c, input), DT_I64);
  count = build_op2(b, OP_aten_minimum_default, count, r->length);
  Node *at = build_expand(b, build_arange(b, shape[1]), 2, shape);
  *is = build_op2(b, OP_aten_lt_Tensor, at, build_unsqueeze(b, count, 1));
  return build_where(b, *is, arg_node(at), build_int(b, 0));
}

/* ---- VarlenCausalConvWithState ---- */

static Node *turned(Build *b, Node *x) { return build_transpose(b, x, 1, 2); }

static int64_t taps_of(OnnxCall *c, const Node *weight) {
  infer_rank(&c->b.in, &weight->type, 3, 3);
  Dim n = weight->type.shape[2];
  if (!dim_is_int(n)) onnx_want_input(c, 1);
  if (!dim_is_int(n) || n->value < 1) onnx_lack(c, "a kernel of open size, or of none");
  return n->value;
}

/* The sum over taps, in f32. */
static Node *convolved(const Ragged *r, Node *table, Node *weight, int64_t dilation) {
  OnnxCall *c = r->c;
  Build *b = &c->b;
  int64_t taps = taps_of(c, weight);
  Node *y = NULL;
  for (int64_t i = 0; i < taps; i++) {
    Node *x = build_widen(b, chosen(b, table, rows_before(r, (taps - 1 - i) * dilation)));
    Node *w = build_select(b, weight, 2, build_const(b, i));
    w = build_widen(b, build_select(b, w, 1, build_const(b, 0)));
    Node *part = build_mul(b, x, w);
    y = y ? build_add(b, y, part) : part;
  }
  return onnx_has(c, 3) ? build_add(b, y, build_widen(b, onnx_in(c, 3))) : y;
}

void onnx_op_varlen_causal_conv(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1);
  infer_rank(&b->in, &x->type, 2, 2);
  bool silu = onnx_is_silu(c);
  int64_t dilation = onnx_int(c, "dilation", 1), taps = taps_of(c, weight);
  if (dilation < 1) onnx_fail(c, E_ONNX_ATTR_VALUE, "dilation", "less than 1");
  if (onnx_has(c, 6) || onnx_has(c, 7))
    onnx_lack(c, "kernel_delta, which ONNX Runtime has for CUDA alone");
  onnx_ignore(c, "delta_offset");
  onnx_ignore(c, "group_size");
  Node *past = turned(b, onnx_in(c, 4)), *is = NULL;
  Ragged r = ragged_of(c, x->type.shape[0], onnx_in(c, 2), build_const(b, (taps - 1) * dilation));
  Node *table = table_of(&r, past, x);
  Node *y = convolved(&r, table, weight, dilation);
  if (silu) y = build_op1(b, OP_aten_silu_default, y);
  onnx_set(c, 0, build_to(b, y, x->type.dtype));
  onnx_set(c, 1, turned(b, state_at(&r, table, r.length)));
  Node *at = captured(&r, 5, &is);
  if (!at) return;
  Node *row = build_add(b, build_unsqueeze(b, r.start, 1), at);
  Dim shape[] = {at->type.shape[0], at->type.shape[1], x->type.shape[1]};
  Node *rows = build_view(b, chosen(b, x, build_flat(b, row)), 3, shape);
  onnx_set(c, 2, build_where(b, build_unsqueeze(b, is, 2), arg_node(rows), arg_float(0)));
}

/* ---- VarlenNGramHashMapping ---- */

enum { PAST = 4, OFFSETS, END, SEGMENTS, PAST_SEGMENTS, CAPTURES };

/* Tokens before the first, [requests, before]. */
static Node *past_tokens(const Ragged *r, const OnnxGrams *g, DType t) {
  Build *b = &r->c->b;
  Dim shape[] = {r->requests, r->before};
  if (onnx_has(r->c, PAST)) return onnx_in(r->c, PAST);
  if (g->end) return build_expand(b, g->end, 2, shape);
  return build_full(b, 2, shape, build_int(b, g->pad), t);
}

/* Their segments; without them nothing ends before the first token. */
static Node *past_segments(const Ragged *r, Node *segments) {
  Build *b = &r->c->b;
  Dim shape[] = {r->requests, r->before};
  if (onnx_has(r->c, PAST_SEGMENTS)) return onnx_in(r->c, PAST_SEGMENTS);
  return build_expand(b, build_unsqueeze(b, chosen(b, segments, r->start), 1), 2, shape);
}

void onnx_op_varlen_ngram_hashes(OnnxCall *c) {
  Build *b = &c->b;
  Node *ids = onnx_in(c, 0), *is = NULL, *shifted[GRAMS_MAX], *segments[GRAMS_MAX];
  infer_rank(&b->in, &ids->type, 1, 1);
  OnnxGrams g = onnx_grams(c, GRAMS_MAX, END, OFFSETS);
  Ragged r = ragged_of(c, ids->type.shape[0], onnx_in(c, 3), build_const(b, g.most - 1));
  Node *table = table_of(&r, past_tokens(&r, &g, ids->type.dtype), ids), *parts = NULL;
  if (onnx_has(c, SEGMENTS)) {
    Node *of = onnx_in(c, SEGMENTS);
    parts = table_of(&r, past_segments(&r, of), of);
  }
  for (int64_t i = 0; i < g.most; i++) {
    Node *rows = rows_before(&r, i);
    shifted[i] = chosen(b, table, rows);
    segments[i] = parts ? chosen(b, parts, rows) : NULL;
  }
  onnx_set(c, 0, onnx_gram_hashes(c, &g, shifted, parts ? segments : NULL));
  if (onnx_wants(c, 1)) onnx_set(c, 1, state_at(&r, table, r.length));
  if (onnx_wants(c, 2) && parts) onnx_set(c, 2, state_at(&r, parts, r.length));
  Node *at = captured(&r, CAPTURES, &is);
  if (!at || !onnx_wants(c, 3)) return;
  Node *states = state_at(&r, table, with_int(b, OP_aten_add_Tensor, at, 1));
  onnx_set(c, 3, build_where(b, build_unsqueeze(b, is, 2), arg_node(states), build_int(b, g.pad)));
}
