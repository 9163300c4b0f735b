/* Attention as softmax(scale * q k^T + mask) v.  16-bit floats are computed in f32 and rounded
 * once, as in PyTorch's own definition. */
#include <math.h>
#include <string.h>

#include "graph/decompose/decompose.h"
#include "graph/messages.h"

static Dim size_at(const Node *x, int back) { return x->type.shape[rank_of(x) - (uint32_t)back]; }

/* Each head of k and v serves several of q: [.., h, s, e] to [.., h*times, s, e]. */
static Node *repeat_heads(Build *b, Node *x, Dim times) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = rank_of(x) - 2;
  if (dim_is(times, 1)) return x;
  x = build_unsqueeze(b, x, n);
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  shape[n] = times;
  x = build_expand(b, x, rank_of(x), shape);
  shape[n - 1] = dim_mul(b->in.g->dims, shape[n - 1], times);
  memmove(shape + n, shape + n + 1, 2 * sizeof *shape);
  return build_view(b, x, rank_of(x) - 1, shape);
}

static Node *with_all_heads(Build *b, Node *x, const Node *query) {
  if (!infer_bool(&b->in, "enable_gqa") || rank_of(x) < 3) return x;
  Dim heads = size_at(query, 3), own = size_at(x, 3);
  return heads == own ? x : repeat_heads(b, x, dim_floordiv(b->in.g->dims, heads, own));
}

/* Row i sees the columns up to i. */
static Node *causal_mask(Build *b, const Node *scores) {
  Node *row = build_unsqueeze(b, build_arange(b, size_at(scores, 2)), 1);
  Node *column = build_arange(b, size_at(scores, 1));
  return build_op2(b, OP_aten_le_Tensor, column, row);
}

/* A mask of booleans says what is seen; one of floats is added. */
static Node *masked(Build *b, Node *scores, Node *mask) {
  if (mask->type.dtype == DT_I1)
    return build_where(b, mask, arg_node(scores), arg_float(-INFINITY));
  return build_add(b, scores, build_to(b, mask, scores->type.dtype));
}

static Node *mask_of(Build *b) {
  if (infer_takes(&b->in, "attn_mask")) return build_input(b, "attn_mask");
  return infer_takes(&b->in, "attn_bias") ? build_input(b, "attn_bias") : NULL;
}

static Node *masked_scores(Build *b, Node *scores) {
  Node *mask = mask_of(b);
  if (infer_bool(&b->in, "is_causal")) scores = masked(b, scores, causal_mask(b, scores));
  return mask ? masked(b, scores, mask) : scores;
}

static Arg scale_of(Build *b, const Node *query) {
  if (infer_has(&b->in, "scale")) return build_arg(b, "scale");
  Dim width = size_at(query, 1);
  if (!dim_is_int(width))
    infer_fail(&b->in, E_GRAPH_FIXED, rank_of(query) - 1, infer_type_text(&b->in, &query->type));
  return arg_float(1 / sqrt((double)width->value));
}

/* Softmax in which a row that sees nothing is 0, as PyTorch has it. */
static Node *weights(Build *b, Node *scores) {
  uint32_t axis = rank_of(scores) - 1;
  bool may_be_empty = mask_of(b) != NULL;
  if (!may_be_empty) return decompose_softmax_of(b, scores, axis);
  Arg args[] = {arg_node(scores), build_int(b, axis)};
  return build(b, OP_aten__safe_softmax_default, 2, args);
}

static Node *scores_of(Build *b, Node *q, Node *k, Arg scale) {
  q = build_widen(b, q);
  k = build_widen(b, k);
  k = build_transpose(b, k, rank_of(k) - 2, rank_of(k) - 1);
  Node *scores = build_with(b, OP_aten_mul_Tensor, decompose_matmul_of(b, q, k), scale);
  return masked_scores(b, scores);
}

/* In many ops, for what the kernel of attention does not compute. */
static Node *spelled_out(Build *b, Node *q, Node *k, Node *v, Arg scale) {
  Node *w = weights(b, scores_of(b, q, k, scale));
  return build_to(b, decompose_matmul_of(b, w, build_widen(b, v)), b->in.n->type.dtype);
}

Node *decompose_attention(Build *b) {
  Node *q = build_input(b, "query");
  Node *k = with_all_heads(b, build_input(b, "key"), q);
  Node *v = with_all_heads(b, build_input(b, "value"), q);
  if (infer_number(&b->in, "dropout_p") != 0) infer_fail(&b->in, E_GRAPH_DROPOUT);
  Arg scale = scale_of(b, q);
  Node *fused = NULL;
  if (scale.kind == ARG_FLOAT) fused = decompose_fused_attention(b, q, k, v, scale.number);
  return fused ? fused : spelled_out(b, q, k, v, scale);
}

/* ---- what PyTorch chooses for a device: several results, of which few are used ---- */

static Node *result_of_parts(Build *b, Arg scale) {
  Node *mask = mask_of(b);
  Arg args[] = {arg_node(build_input(b, "query")), arg_node(build_input(b, "key")),
                arg_node(build_input(b, "value")), mask ? arg_node(mask) : arg_none(),
                build_arg(b, "dropout_p"),         arg_bool(infer_bool(&b->in, "is_causal"))};
  return build_with_named(b, OP_aten_scaled_dot_product_attention_default, 6, args, "scale", scale);
}

/* What nobody asks for goes again. */
static Node *sums_of_parts(Build *b, Arg scale, const ValueType *t) {
  Node *q = build_input(b, "query");
  if (dim_is(t->shape[t->rank - 1], 0))
    return build_full(b, t->rank, t->shape, arg_float(0), DT_F32);
  Node *scores = build_to(b, scores_of(b, q, build_input(b, "key"), scale), DT_F32);
  Arg last = arg_list(b->in.g, 1);
  last.items[0] = build_int(b, rank_of(scores) - 1);
  return build_with(b, OP_aten_logsumexp_default, scores, last);
}

Node *decompose_attention_parts(Build *b) {
  const ValueType *t = b->in.n->type.items;
  Node *q = build_input(b, "query");
  Arg scale = scale_of(b, q);
  b->nitems = b->in.n->type.nitems;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  b->items[0] = result_of_parts(b, scale);
  b->items[1] = sums_of_parts(b, scale, &t[1]);
  for (uint32_t i = 2; i < b->nitems; i++) {
    Arg of[] = {arg_node(i == 4 ? q : build_input(b, "key")), build_int(b, rank_of(q) - 2)};
    bool size = t[i].kind == VALUE_INT;
    b->items[i] = size ? build(b, OP_aten_sym_size_int, 2, of)
                       : build_full(b, t[i].rank, t[i].shape, build_int(b, 0), t[i].dtype);
  }
  return NULL;
}
