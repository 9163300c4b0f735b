/* Attention as softmax(scale * q k^T + mask) v.  16-bit floats are computed in f32 and rounded
 * once, as in PyTorch's own definition. */
#include <math.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/messages.h"
#include "graph/analysis/attention.h"
#include "graph/analysis/attention_mask.h"
#include "graph/messages.h"
#include "graph/ops/attention_blocks.h"
#include "runtime/device/peaks.h"

/* ---- scaled_dot_product_attention as nereid.attention, which has a kernel of its own ---- */

enum {
  RANK = 4,
  ROWS_FEW = 64,    /* rows for which programs share the keys */
  KEYS_LEAST = 128, /* of a share, */
  KEYS_LEAST_OF_CPU = 512,
  PROGRAMS_OF_CPU = 64, /* that threads share evenly, whatever machine compiles */
  SPLITS_MAX = 64,
  HEADS_MAX = 256,
  KEPT_MOST = 1 << 30, /* bytes of kept gradients of scores */
  KEPT_MOST_OF_CPU = 1 << 26
};

/* The type of the result, the first of several. */
static const ValueType *result_type(Build *b) {
  const ValueType *t = &b->in.n->type;
  return t->kind == VALUE_LIST ? t->items : t;
}

/* The leading axes B and H.  Three axes are batches of one head, so that the result's layout is
 * the one of the call that is replaced. */
static void leading_axes(Build *b, Dim *leading) {
  const ValueType *t = result_type(b);
  leading[0] = t->rank > 2 ? t->shape[0] : build_const(b, 1);
  leading[1] = t->rank > 3 ? t->shape[1] : build_const(b, 1);
}

/* x, which broadcasts to the leading axes of the call, with four axes. */
static Node *four_axes(Build *b, Node *x) {
  if (rank_of(x) == 3 && result_type(b)->rank == 3) return build_unsqueeze(b, x, 1);
  return build_lead(b, x, RANK);
}

static Node *four_axes_operand(Build *b, Node *x, const Dim *leading) {
  Dim shape[RANK];
  x = four_axes(b, x);
  memcpy(shape, leading, 2 * sizeof *shape);
  memcpy(shape + 2, x->type.shape + 2, 2 * sizeof *shape);
  return build_expand(b, x, RANK, shape);
}

/* Is a result of the Build's node taken out of the list? */
static bool result_is_used(const Build *b, int64_t i) {
  for (const Node *n = b->in.n->next; n; n = n->next)
    if (n->kind == NODE_GETITEM && n->args[0].node == b->in.n && n->args[1].dim->value == i)
      return true;
  return false;
}

/* ---- keys in shares ---- */

static int64_t known_or_one(Dim x) { return dim_is_int(x) && x->value > 0 ? x->value : 1; }

/* How many programs share the keys of few rows: `k` has the heads whose rows are packed.  Where
 * results alone have a program for nearly each multiprocessor, they need no sum of shares. */
static int64_t splits_of(Build *b, const Node *q, const Node *k) {
  enum { TENTHS = 9 };
  const Dim *shape = q->type.shape, *of_keys = k->type.shape;
  DimRange keys = dim_range(b->in.g->dims, of_keys[2]);
  if (!dim_is_int(shape[2]) || shape[2]->value > ROWS_FEW) return 1;
  bool host = b->in.g->host;
  int64_t wanted = host ? PROGRAMS_OF_CPU : 2 * b->in.g->gpu->processors;
  int64_t most = keys.hi / (host ? KEYS_LEAST_OF_CPU : KEYS_LEAST);
  int64_t rows = shape[2]->value * (known_or_one(shape[1]) / known_or_one(of_keys[1]));
  int64_t counts[] = {known_or_one(shape[0]), known_or_one(of_keys[1]),
                      (rows + ROWS_FEW - 1) / ROWS_FEW};
  int64_t batches = 1;
  for (int i = 0; i < 3; i++) batches = counts[i] > wanted ? wanted : batches * counts[i];
  if (20 * batches >= TENTHS * wanted) return 1;
  int64_t splits = wanted / (batches > 0 ? batches : 1);
  if (splits > SPLITS_MAX) splits = SPLITS_MAX;
  if (splits > most) splits = most;
  return splits > 1 ? splits : 1;
}

/* Shares, [P, .., E + 4], as sums weighed by those of their exponentials. */
typedef struct {
  Node *sum, *total; /* [.., E] */
  Node *most;        /* [1, .., E]: the logarithm of what they are relative to; 0 without keys */
} Shares;

static Shares sum_shares(Build *b, Node *shares) {
  uint32_t last = RANK;
  Shares x;
  Dims *d = b->in.g->dims;
  Dim more = build_const(b, ATTENTION_SHARE_COLUMNS), zero = build_const(b, 0);
  Dim width = dim_sub(d, shares->type.shape[last], more);
  Node *part = build_slice(b, shares, last, zero, width, 1);
  Node *log = build_slice(b, shares, last, width, dim_add(d, width, build_const(b, 1)), 1);
  log = build_expand(b, log, rank_of(part), part->type.shape);
  Node *most = build_reduce(b, OP_aten_amax_default, log, 1, true);
  Node *none = build_with(b, OP_aten_eq_Tensor, most, arg_float(-INFINITY));
  x.most = build_where(b, none, arg_float(0), arg_node(most));
  Node *weight = build_op1(b, OP_aten_exp_default, build_sub(b, log, x.most));
  x.sum = build_sum(b, build_mul(b, weight, part), 1, false);
  x.total = build_sum(b, weight, 1, false);
  return x;
}

static Node *join_shares(Build *b, const Shares *x, DType t) {
  Node *empty = build_with(b, OP_aten_eq_Tensor, x->total, arg_float(0));
  Node *total = build_where(b, empty, arg_float(1), arg_node(x->total));
  return build_to(b, build_div(b, x->sum, total), t);
}

/* ---- the call ---- */

typedef struct {
  Node *q, *k, *v, *mask, *seed;
  Node *scores, *chain; /* functions of scores, and of their gradient */
  Node *tables[4];      /* of blocks: counts, indices, full_counts, full_indices */
  int64_t block_rows, block_keys;
  Node *kept;       /* gradients of scores, of that of queries; NULL: none */
  bool heads_first; /* in the result */
  bool widened;     /* gradients are rounded to dtype `given` where kernels leave them */
  DType given;
  double scale, dropout;
  Dim low, high;
} Operands;

static NamedArg named_arg(Build *b, const char *name, Arg value) {
  return (NamedArg){pool_name(b->in.g->names, name), value};
}

enum { NAMED_MAX = 15 };

static const char *const table_names[] = {"counts", "indices", "full_counts", "full_indices"};

static Arg node_or_none(Node *n) { return n ? arg_node(n) : arg_none(); }

static uint32_t named_arguments(Build *b, const Operands *x, int64_t splits, NamedArg *out) {
  uint32_t n = 0;
  out[n++] = named_arg(b, "scale", arg_float(x->scale));
  if (x->low) out[n++] = named_arg(b, "low", arg_dim(x->low));
  if (x->high) out[n++] = named_arg(b, "high", arg_dim(x->high));
  if (splits > 1) out[n++] = named_arg(b, "splits", build_int(b, splits));
  if (x->seed) out[n++] = named_arg(b, "dropout", arg_float(x->dropout));
  if (x->scores) out[n++] = named_arg(b, "scores", arg_node(x->scores));
  if (x->chain) out[n++] = named_arg(b, "chain", arg_node(x->chain));
  if (x->kept) out[n++] = named_arg(b, "kept", arg_node(x->kept));
  for (int i = 0; i < 4; i++)
    if (x->tables[i]) out[n++] = named_arg(b, table_names[i], arg_node(x->tables[i]));
  if (x->heads_first) out[n++] = named_arg(b, "heads_first", arg_bool(true));
  if (!x->block_rows) return n;
  out[n++] = named_arg(b, "block_rows", build_int(b, x->block_rows));
  out[n++] = named_arg(b, "block_keys", build_int(b, x->block_keys));
  return n;
}

static Node *build_attention_call(Build *b, const Operands *x, int64_t splits) {
  Arg args[] = {arg_node(x->q), arg_node(x->k), arg_node(x->v), node_or_none(x->mask),
                node_or_none(x->seed)};
  NamedArg more[NAMED_MAX];
  uint32_t n = named_arguments(b, x, splits, more), nargs = x->seed ? 5 : x->mask ? 4 : 3;
  return build_with_all(b, OP_nereid_attention_default, nargs, args, n, more);
}

/* The seed of dropout that the call is given, else a constant of the node. */
static Node *build_seed(Build *b) {
  if (infer_takes(&b->in, "seed") && infer_has(&b->in, "seed")) return build_input(b, "seed");
  return build_full(b, 0, NULL, build_int(b, b->in.n->id), DT_I64);
}

/* ---- few rows of heads that share their keys ---- */

/* Are each `times` heads of x, [B, H, S, D], the same place in memory? */
static bool repeats(Build *b, Node *x, int64_t times) {
  Graph *g = b->in.g;
  Dim heads = x->type.shape[1], size = dim_int(g->dims, times);
  Dim one = dim_index(g->dims, "one", size);
  Dim all = dim_index(g->dims, "all", dim_floordiv(g->dims, heads, size));
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < RANK; i++) at[i] = dim_index(g->dims, "i", x->type.shape[i]);
  at[1] = dim_add(g->dims, dim_mul(g->dims, all, size), one);
  while (x->kind == NODE_CALL && prim_kind(x->op) == PRIM_VIEW) {
    view_index(g, x, at, from);
    x = view_operand(x);
    memcpy(at, from, x->type.rank * sizeof *at);
  }
  for (uint32_t i = 0; i < x->type.rank; i++)
    if (dim_mentions(at[i], one)) return false;
  return true;
}

/* How many heads share their keys and values. */
static int64_t heads_sharing(Build *b, const Operands *x) {
  Dim heads = x->q->type.shape[1], rows = x->q->type.shape[2];
  bool few = dim_is_int(rows) && rows->value >= 1 && rows->value < ROWS_FEW;
  if (!few || !dim_is_int(heads) || heads->value > HEADS_MAX) return 1;
  for (int64_t n = heads->value; n > 1; n--)
    if (heads->value % n == 0 && repeats(b, x->k, n) && repeats(b, x->v, n)) return n;
  return 1;
}

static Node *first_of_each(Build *b, Node *x, int64_t times) {
  return build_slice(b, x, 1, build_const(b, 0), x->type.shape[1], times);
}

/* The rows of such heads share a tile, which reads their keys once.  A tile has a table of blocks,
 * that of all heads and rows.  Dropout takes more registers with indices of packed rows. */
static void share_keys(Build *b, Operands *x) {
  int64_t times = x->seed ? 1 : heads_sharing(b, x);
  if (times == 1) return;
  for (int i = 0; i < 4; i++) {
    const ValueType *t = x->tables[i] ? &x->tables[i]->type : NULL;
    if (t && !(dim_is(t->shape[1], 1) && dim_is(t->shape[2], 1))) return;
  }
  x->k = first_of_each(b, x->k, times);
  x->v = first_of_each(b, x->v, times);
}

/* The part of the mask that depends on indices alone becomes limits. */
static void see(Build *b, Operands *x) {
  SeenKeys seen = attention_seen(b, x->mask, x->q->type.shape[2], x->k->type.shape[2]);
  x->mask = seen.mask ? four_axes(b, seen.mask) : NULL;
  x->low = seen.low;
  x->high = seen.high;
}

/* Is the call a result of the graph, or its copy?  On a CPU that has its heads one after the
 * other. */
static bool is_result_of_cpu(const Build *b) {
  const Arg *list = &b->in.g->last->args[0];
  for (uint32_t i = 0; b->in.g->host && list->kind == ARG_LIST && i < list->n; i++) {
    const Node *n = list->items[i].kind == ARG_NODE ? list->items[i].node : NULL;
    if (n && graph_is(n, OP_aten_clone_default)) n = n->args[0].node;
    bool first = n && n->kind == NODE_GETITEM && dim_is(n->args[1].dim, 0);
    if (n && (first ? n->args[0].node : n) == b->in.n) return true;
  }
  return false;
}

/* scaled_dot_product_attention as one op with a kernel of its own; NULL: that cannot compute it. */
static Node *decompose_fused_attention(Build *b, Node *q, Node *k, Node *v, double scale) {
  Dim leading[2];
  Operands x = {.scale = scale, .mask = build_input(b, "attn_mask")};
  x.dropout = infer_number(&b->in, "dropout_p");
  bool fits = x.dropout != 0 ? attention_fits(q, v) : attention_fits_forward(b->in.g, q, v);
  if (b->in.n->type.rank > RANK || !fits) return NULL;
  leading_axes(b, leading);
  if (x.dropout != 0) x.seed = build_seed(b);
  x.q = four_axes_operand(b, q, leading);
  x.k = four_axes_operand(b, k, leading);
  x.v = four_axes_operand(b, v, leading);
  if (x.mask) see(b, &x);
  if (infer_bool(&b->in, "is_causal")) x.high = build_const(b, 0);
  share_keys(b, &x);
  int64_t splits = x.seed ? 1 : splits_of(b, x.q, x.k);
  x.heads_first = splits == 1 && is_result_of_cpu(b);
  Node *y = build_attention_call(b, &x, splits);
  if (splits > 1) {
    Shares shares = sum_shares(b, y);
    y = join_shares(b, &shares, q->type.dtype);
  }
  if (!x.heads_first) y = build_transpose(b, y, 1, 2);
  return build_view(b, y, b->in.n->type.rank, b->in.n->type.shape);
}

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
  bool groups = infer_bool(&b->in, "enable_gqa") || !infer_takes(&b->in, "enable_gqa");
  if (!groups || rank_of(x) < 3) return x;
  Dim heads = size_from_end(query, 3), own = size_from_end(x, 3);
  return heads == own ? x : repeat_heads(b, x, dim_floordiv(b->in.g->dims, heads, own));
}

/* Row i sees the columns up to i. */
static Node *causal_mask(Build *b, const Node *scores) {
  Node *row = build_unsqueeze(b, build_arange(b, size_from_end(scores, 2)), 1);
  Node *column = build_arange(b, size_from_end(scores, 1));
  return build_op2(b, OP_aten_le_Tensor, column, row);
}

/* A mask of booleans says what is seen; one of floats is added. */
static Node *add_mask(Build *b, Node *scores, Node *mask) {
  if (mask->type.dtype == DT_I1)
    return build_where(b, mask, arg_node(scores), arg_float(-INFINITY));
  return build_add(b, scores, build_to(b, mask, scores->type.dtype));
}

static Node *build_mask(Build *b) {
  if (infer_takes(&b->in, "attn_mask")) return build_input(b, "attn_mask");
  return infer_takes(&b->in, "attn_bias") ? build_input(b, "attn_bias") : NULL;
}

static Node *masked_scores(Build *b, Node *scores) {
  Node *mask = build_mask(b);
  if (infer_bool(&b->in, "is_causal")) scores = add_mask(b, scores, causal_mask(b, scores));
  return mask ? add_mask(b, scores, mask) : scores;
}

static Arg attention_scale(Build *b, const Node *query) {
  if (infer_has(&b->in, "scale")) return build_arg(b, "scale");
  Dim width = size_from_end(query, 1);
  if (!dim_is_int(width))
    infer_fail(&b->in, E_GRAPH_FIXED, rank_of(query) - 1, infer_type_text(&b->in, &query->type));
  return arg_float(1 / sqrt((double)width->value));
}

/* Softmax in which a row that sees nothing is 0, as PyTorch has it. */
static Node *weights(Build *b, Node *scores) {
  uint32_t axis = rank_of(scores) - 1;
  bool may_be_empty = build_mask(b) != NULL;
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

/* Decomposes into many ops the forms that the kernel of attention does not compute. */
static Node *spelled_out(Build *b, Node *q, Node *k, Node *v, Arg scale) {
  Node *w = weights(b, scores_of(b, q, k, scale));
  return build_to(b, decompose_matmul_of(b, w, build_widen(b, v)), q->type.dtype);
}

Node *decompose_attention(Build *b) {
  Node *q = build_input(b, "query");
  Node *k = with_all_heads(b, build_input(b, "key"), q);
  Node *v = with_all_heads(b, build_input(b, "value"), q);
  Arg scale = attention_scale(b, q);
  Node *fused = NULL;
  if (scale.kind == ARG_FLOAT) fused = decompose_fused_attention(b, q, k, v, scale.number);
  if (!fused && infer_number(&b->in, "dropout_p") != 0) infer_fail(&b->in, E_GRAPH_DROPOUT);
  return fused ? fused : spelled_out(b, q, k, v, scale);
}

/* A second result has the shares after dropout, by random numbers or by a mask. */
Node *decompose_attention_math(Build *b) {
  Node *q = build_input(b, "query"), *mask = build_input(b, "dropout_mask");
  Node *k = with_all_heads(b, build_input(b, "key"), q);
  Node *v = build_widen(b, with_all_heads(b, build_input(b, "value"), q));
  double p = infer_number(&b->in, "dropout_p");
  Node *w = weights(b, scores_of(b, q, k, attention_scale(b, q)));
  if (p != 0 && mask) {
    w = build_where(b, mask, arg_node(w), arg_float(0));
    v = build_with(b, OP_aten_mul_Tensor, v, arg_float(1 / (1 - p)));
  } else if (p != 0) {
    w = build(b, OP_aten_dropout_default, ARGS(arg_node(w), arg_float(p), arg_bool(true)));
  }
  Node *y = decompose_matmul_of(b, w, v);
  return build_pair(b, build_to(b, y, q->type.dtype), build_to(b, w, q->type.dtype));
}

/* ---- what PyTorch chooses for a device: several results, of which few are used ---- */

static Node *result_of_parts(Build *b, Arg scale) {
  Node *mask = build_mask(b), *q = build_input(b, "query"), *k = build_input(b, "key");
  Arg args[] = {arg_node(q),
                arg_node(k),
                arg_node(build_input(b, "value")),
                node_or_none(mask),
                build_arg(b, "dropout_p"),
                arg_bool(infer_bool(&b->in, "is_causal"))};
  NamedArg more[] = {named_arg(b, "scale", scale), named_arg(b, "enable_gqa", arg_bool(true))};
  bool groups = q->type.shape[1] != k->type.shape[1];
  return build_with_all(b, OP_aten_scaled_dot_product_attention_default, 6, args, groups ? 2 : 1,
                        more);
}

/* ---- for training: with the sums of the rows, or with dropout ---- */

/* The operands of the Build's node, and of its gradient, as nereid.attention has them. */
static Operands training_operands(Build *b, double scale, bool see_mask) {
  Operands x = {.scale = scale, .mask = build_mask(b), .q = build_input(b, "query")};
  x.k = build_input(b, "key");
  x.v = build_input(b, "value");
  x.dropout = infer_number(&b->in, "dropout_p");
  if (x.mask && see_mask) see(b, &x);
  else if (x.mask) x.mask = four_axes(b, x.mask);
  if (infer_bool(&b->in, "is_causal")) {
    Dim zero = build_const(b, 0);
    x.high = x.high ? dim_min(b->in.g->dims, x.high, zero) : zero;
  }
  return x;
}

/* Sums of rows in the shape of the Build's result.  A row that sees nothing has 0 there on a CPU,
 * elsewhere infinity, as rows have that are there for alignment alone. */
static Node *padded_sums(Build *b, Node *sums) {
  const ValueType *t = &b->in.n->type.items[1];
  bool cpu = b->in.n->op->id == OP_aten__scaled_dot_product_flash_attention_for_cpu_default;
  Dim rows = size_from_end(sums, 1);
  if (cpu && build_mask(b)) {
    Node *none = build_with(b, OP_aten_eq_Scalar, sums, arg_float(INFINITY));
    sums = build_where(b, none, arg_float(0), arg_node(sums));
  }
  if (t->rank == RANK) return build_unsqueeze(b, sums, RANK - 1);
  if (t->shape[t->rank - 1] == rows) return sums;
  Arg pad = arg_list(b->in.g, 2);
  pad.items[0] = build_int(b, 0);
  pad.items[1] = arg_dim(dim_sub(b->in.g->dims, t->shape[t->rank - 1], rows));
  return build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(sums), pad, arg_float(INFINITY)));
}

/* Sets the items of the Build's node; false: it has no kernel. */
static bool training_parts(Build *b, Arg scale) {
  Node *q = build_input(b, "query"), *v = build_input(b, "value");
  if (scale.kind != ARG_FLOAT || !attention_fits(q, v)) return false;
  Operands x = training_operands(b, scale.number, true);
  if (x.dropout != 0) x.seed = build_seed(b);
  x.k = with_all_heads(b, x.k, q);
  x.v = with_all_heads(b, x.v, q);
  Node *y = build_attention_call(b, &x, 1);
  b->items[0] = build_transpose(b, y, 1, 2);
  b->items[1] = padded_sums(b, build_op1(b, OP_nereid_attention_sums_default, y));
  return true;
}

/* Results without users are removed again. */
static Node *sums_of_parts(Build *b, Arg scale, const ValueType *t) {
  Node *q = build_input(b, "query");
  if (!result_is_used(b, 1) || dim_is(t->shape[2], 0))
    return build_full(b, t->rank, t->shape, arg_float(0), t->dtype);
  Node *k = with_all_heads(b, build_input(b, "key"), q);
  Node *scores = build_to(b, scores_of(b, q, k, scale), t->dtype);
  Arg last = arg_list(b->in.g, 1);
  last.items[0] = build_int(b, rank_of(scores) - 1);
  Node *sums = build_with(b, OP_aten_logsumexp_default, scores, last);
  Node *none = build_with(b, OP_aten_eq_Scalar, sums, arg_float(-INFINITY));
  return padded_sums(b, build_where(b, none, arg_float(INFINITY), arg_node(sums)));
}

/* The results from which the gradient draws the same numbers. */
static Node *seed_part(Build *b, uint32_t i, const ValueType *t) {
  bool draws = infer_number(&b->in, "dropout_p") != 0, seed = i == (b->nitems == 4 ? 2 : 6);
  if (!draws || !seed) return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
  Node *x = build_to(b, build_view(b, build_seed(b), 0, NULL), t->dtype);
  return build_expand(b, x, t->rank, t->shape);
}

Node *decompose_attention_parts(Build *b) {
  const ValueType *t = b->in.n->type.items;
  Node *q = build_input(b, "query");
  Arg scale = attention_scale(b, q);
  bool draws = infer_number(&b->in, "dropout_p") != 0;
  bool trains = draws || (result_is_used(b, 1) && !dim_is(t[1].shape[2], 0));
  b->nitems = b->in.n->type.nitems;
  Node **items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  b->items = items;
  if (!trains || !training_parts(b, scale)) {
    if (draws) infer_fail(&b->in, E_GRAPH_DROPOUT);
    items[0] = result_of_parts(b, scale);
    items[1] = sums_of_parts(b, scale, &t[1]);
  }
  for (uint32_t i = 2; i < b->nitems; i++) {
    Arg of[] = {arg_node(i == 4 ? q : build_input(b, "key")), build_int(b, rank_of(q) - 2)};
    bool size = t[i].kind == VALUE_INT;
    items[i] = size ? build(b, OP_aten_sym_size_int, 2, of) : seed_part(b, i, &t[i]);
  }
  return NULL;
}

/* ---- gradients ---- */

typedef struct {
  Node *grad, *sums, *delta;
} Backward;

/* PyTorch's decomposition of attention on CPUs gives the shares of keys where the kernel has the
 * logarithms of sums, and graphs of both passes have these. */
static Node *given_shares(Build *b) {
  bool on_cpu =
      graph_is(b->in.n, OP_aten__scaled_dot_product_flash_attention_for_cpu_backward_default);
  Node *sums = build_input(b, "logsumexp");
  return on_cpu && rank_of(sums) == RANK ? sums : NULL;
}

static Node *given_gradient(Build *b) {
  return build_input(b, infer_takes(&b->in, "grad_out") ? "grad_out" : "grad_out_");
}

/* The sum along the columns of the result times its gradient. */
static Backward backward_of(Build *b) {
  Node *out = build_widen(b, build_input(b, "out"));
  Backward x = {.grad = given_gradient(b), .sums = build_input(b, "logsumexp")};
  Node *product = build_mul(b, out, build_widen(b, x.grad));
  x.delta = build_sum(b, product, 1u << (RANK - 1), false);
  if (given_shares(b)) return x;
  if (rank_of(x.sums) == RANK) x.sums = build_squeeze(b, x.sums, 1u << (RANK - 1));
  x.sums = build_slice(b, x.sums, 2, build_const(b, 0), out->type.shape[2], 1);
  return x;
}

/* A tensor of one integer, or two of which the first is the seed. */
static Node *backward_seed(Build *b, double dropout) {
  Node *seed = build_input(b, "philox_seed");
  if (!seed) infer_fail(&b->in, E_GRAPH_SEED, dropout);
  return rank_of(seed) ? build_select(b, seed, 0, build_const(b, 0)) : seed;
}

static Node *gradient_call(Build *b, OpId op, const Operands *x, const Backward *y) {
  Arg args[] = {arg_node(y->grad),     arg_node(x->q),       arg_node(x->k),
                arg_node(x->v),        arg_node(y->sums),    arg_node(y->delta),
                node_or_none(x->mask), node_or_none(x->seed)};
  NamedArg more[NAMED_MAX];
  uint32_t n = named_arguments(b, x, 1, more), nargs = x->seed ? 8 : x->mask ? 7 : 6;
  return build_with_all(b, op, nargs, args, n, more);
}

/* The gradient of keys that serve several heads each: the sum of theirs. */
static Node *sum_heads(Build *b, Node *x, const Node *like) {
  Dim shape[RANK + 1];
  if (x->type.shape[1] == like->type.shape[1]) return x;
  shape[0] = x->type.shape[0];
  shape[1] = like->type.shape[1];
  shape[2] = dim_floordiv(b->in.g->dims, x->type.shape[1], shape[1]);
  memcpy(shape + 3, x->type.shape + 2, 2 * sizeof *shape);
  return build_sum(b, build_view(b, x, RANK + 1, shape), 1u << 2, false);
}

/* Have programs of keys that serve several heads much to do, while multiprocessors have nothing?
 * The sums of heads are kernels then: 32 heads of 4,096 tokens with 8 of keys of 128 columns,
 * causal, took 1,007 us on an H200, and 696 together. */
static bool heads_apart(Build *b, const Operands *x) {
  enum { MUCH = 4096, KEYS = 64, PROGRAMS = 3 };
  const Dim *q = x->q->type.shape, *k = x->k->type.shape;
  for (int i = 0; i < RANK - 1; i++)
    if (!dim_is_int(q[i]) || !dim_is_int(k[i])) return false;
  if (q[1] == k[1] || k[1]->value <= 0) return false;
  int64_t rows = 0, batches = 0, programs = 0, blocks = (k[2]->value + KEYS - 1) / KEYS;
  bool huge = __builtin_mul_overflow(q[1]->value / k[1]->value, q[2]->value, &rows) ||
              __builtin_mul_overflow(k[0]->value, k[1]->value, &batches) ||
              __builtin_mul_overflow(batches, blocks, &programs);
  return !huge && rows > MUCH && programs < PROGRAMS * (int64_t)b->in.g->gpu->processors;
}

/* Do rows see a part of the keys that tiles of both gradients' kernels have alike: all, those up
 * to the row's own number, or blocks of tables? */
static bool sees_alike(const Operands *x) {
  if (x->block_rows)
    return attention_block_unit(x->block_rows) >= ATTENTION_KEPT_ROWS &&
           attention_tiles_divide(x->block_keys);
  return !x->low && (!x->high || dim_is(x->high, 0));
}

/* Does the kernel of keys keep gradients of scores, which that of queries reads?  It saves two of
 * seven products, where warpgroups multiply and memory holds them.  Narrow heads multiply less than
 * they would store: of 64 columns on an H200 1.34 ms, and 1.10 without.  A CPU does so in f32 where
 * rows see all keys. */
static bool keeps_scores(Build *b, const Operands *x) {
  enum { HALF = 2, ROWS_LEAST = 256, NARROW = 64 };
  const Graph *g = b->in.g;
  const ValueType *q = &x->q->type, *k = &x->k->type;
  for (int i = 0; i < RANK - 1; i++)
    if (!dim_is_int(q->shape[i]) || !dim_is_int(k->shape[i])) return false;
  if (g->host) return q->dtype == DT_F32 && !x->low && !x->high && !x->block_rows && !x->scores;
  if (!g->gpu || !device_has_warpgroups(g->gpu) || !sees_alike(x)) return false;
  if (q->shape[3]->value <= NARROW && x->v->type.shape[3]->value <= NARROW) return false;
  return dtype_bytes(q->dtype) == HALF && q->shape[2]->value >= ROWS_LEAST &&
         k->shape[2]->value >= ROWS_LEAST;
}

/* Batches and heads whose gradients are computed at a time. */
typedef struct {
  int64_t batches, heads;
} KeptPart;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Parts are as equal as the most of them that fit need.  No batches: one head is too much, or
 * parts, each of which has kernels of its own, are many. */
static KeptPart kept_part(const Operands *x) {
  enum { PARTS = 16 };
  int64_t each = dtype_bytes(x->q->type.dtype), most = each == 2 ? KEPT_MOST : KEPT_MOST_OF_CPU;
  const Dim *q = x->q->type.shape, *k = x->k->type.shape;
  int64_t batches = q[0]->value, groups = k[1]->value, of_group;
  int64_t sharing = groups ? q[1]->value / groups : 0;
  KeptPart none = {0, 0};
  if (!batches || !sharing) return none;
  if (__builtin_mul_overflow(each * q[2]->value, k[2]->value, &of_group) ||
      __builtin_mul_overflow(of_group, sharing, &of_group) || !of_group || of_group > most)
    return none;
  int64_t fit = most / of_group, of_batches = fit / groups;
  int64_t cuts = of_batches ? ceil_div(batches, of_batches) : batches;
  int64_t pieces = of_batches ? 1 : ceil_div(groups, fit);
  if (cuts > PARTS / pieces) return none;
  return (KeptPart){ceil_div(batches, cuts), ceil_div(groups, pieces) * sharing};
}

static bool keeps_at_once(const Operands *x) {
  KeptPart part = kept_part(x);
  return part.batches == x->q->type.shape[0]->value && part.heads == x->q->type.shape[1]->value;
}

/* Is the gradient of the query added up by the kernel of keys, with five products for each tile of
 * scores where two kernels do seven?  Of narrow heads, of which gradients of scores are not kept,
 * and of whole tiles of rows.  Sums have no order then. */
static bool adds_query(Build *b, const Operands *x) {
  enum { HALF = 2, COLUMNS = 64, TILE = 128, ROWS_LEAST = 2048 };
  const Graph *g = b->in.g;
  const Dim *q = x->q->type.shape;
  if (g->host || !g->gpu || !device_has_warpgroups(g->gpu) || g->deterministic) return false;
  if (x->seed || x->scores || x->block_rows || dtype_bytes(x->q->type.dtype) != HALF) return false;
  for (int i = 0; i < RANK; i++)
    if (!dim_is_int(q[i])) return false;
  return q[3]->value == COLUMNS && dim_is(x->v->type.shape[3], COLUMNS) &&
         q[2]->value % TILE == 0 && q[2]->value >= ROWS_LEAST;
}

/* What the kernel adds up, in the order of rows and columns: 16 rows and eight columns are in that
 * of a warp's lanes, of which each has two neighbors of two rows. */
static Node *added_in_order(Build *b, Node *sum) {
  enum { ROWS = 16, COLUMNS = 8, ORDERED = 6 };
  const Dim *t = sum->type.shape;
  Dims *d = b->in.g->dims;
  static const uint32_t order[ORDERED] = {0, 4, 2, 1, 3, 5};
  Dim rows = dim_mul(d, dim_mul(d, t[0], t[1]), t[2]);
  Dim shape[ORDERED] = {dim_floordiv(d, rows, build_const(b, ROWS)),
                        dim_floordiv(d, t[3], build_const(b, COLUMNS)), build_const(b, 8),
                        build_const(b, 4), build_const(b, 2), build_const(b, 2)};
  Node *x = build_permute(b, build_view(b, sum, ORDERED, shape), order);
  return build_view(b, x, RANK, t);
}

/* The gradient of the query, of the kernel of which `of_value` is. */
static Node *added_query(Build *b, const Operands *x, Node *zeros, Node *of_value) {
  const ValueType *t = &x->q->type;
  Arg args[] = {arg_node(zeros), arg_node(of_value)};
  Node *sum = build(b, OP_nereid_attention_grad_added_default, 2, args);
  sum = build_transpose(b, added_in_order(b, sum), 1, 2);
  sum = build_to(b, build_with(b, OP_aten_mul_Tensor, sum, arg_float(x->scale)), t->dtype);
  return build_transpose(b, sum, 1, 2);
}

static Node *rounded(Build *b, const Operands *x, Node *gradient) {
  return x->widened ? build_to(b, gradient, x->given) : gradient;
}

/* Gradients of keys and of values, and of the query if this kernel adds it up: the node of the
 * kernel. */
static Node *gradients_of_keys(Build *b, Operands x, const Backward *y, bool adds) {
  Node *key = x.k;
  if (heads_apart(b, &x)) {
    x.k = with_all_heads(b, x.k, x.q);
    x.v = with_all_heads(b, x.v, x.q);
  }
  const ValueType *t_q = &x.q->type; /* what the kernel adds to is there before it */
  Node *zeros = adds ? build_full(b, RANK, t_q->shape, build_int(b, 0), attention_wide(t_q->dtype))
                     : NULL;
  Node *of_value = gradient_call(b, OP_nereid_attention_grad_value_default, &x, y);
  if (adds) b->items[0] = added_query(b, &x, zeros, of_value);
  Node *of_key = build_op1(b, OP_nereid_attention_grad_key_default, of_value);
  DType t = x.widened ? x.given : key->type.dtype;
  of_key = rounded(b, &x, of_key);
  if (!x.heads_first) of_key = build_transpose(b, of_key, 1, 2);
  b->items[1] = build_to(b, sum_heads(b, of_key, key), t);
  Node *kernel = of_value;
  of_value = rounded(b, &x, of_value);
  if (!x.heads_first) of_value = build_transpose(b, of_value, 1, 2);
  b->items[2] = build_to(b, sum_heads(b, of_value, key), t);
  return kernel;
}

/* Programs of a CPU make all gradients in so many parts of the keys. */
static int64_t parts_of_keys(const Operands *x) {
  enum { KEYS = 256 };
  const Dim *q = x->q->type.shape, *k = x->k->type.shape;
  int64_t programs = known_or_one(q[0]) * known_or_one(k[1]);
  int64_t parts = PROGRAMS_OF_CPU / (programs < PROGRAMS_OF_CPU ? programs : PROGRAMS_OF_CPU);
  int64_t keys = known_or_one(k[2]), most = keys / KEYS;
  if (parts > most) parts = most;
  if (parts <= 1) return 1;
  bool words = x->q->type.dtype == DT_BF16;
  int64_t tile = words ? ATTENTION_PART_WORDS : ATTENTION_PART_KEYS;
  int64_t tiles = ceil_div(keys, parts * tile);
  return ceil_div(keys, tiles * tile);
}

/* Do keys fill no vectors of the one tile that they are, of which they are lanes?  Kernels of keys
 * and of queries have them as rows (861): windows of 49 tokens take 0.87 of the time of one. */
static bool leaves_lanes(Build *b, const Operands *x) {
  enum { TILE = 64, LANES = 16 };
  Dim keys = x->k->type.shape[2];
  bool few = dim_is_int(keys) && keys->value < TILE && keys->value % LANES;
  return few && keeps_scores(b, x) && kept_part(x).batches;
}

/* Does the kernel of all gradients multiply words of bf16, rounding shares and gradients of scores?
 * Dropout draws for tiles that are not in halves. */
static bool multiplies_words(Build *b, const Operands *x, Node *grad) {
  Node *const operands[] = {x->q, x->k, x->v, grad};
  return !x->seed && attention_grads_in_words(b->in.g, operands);
}

/* On a CPU one kernel makes all gradients: five products for each tile of scores, where two kernels
 * do seven.  Its programs of several parts of the keys have gradients of the query of their own. */
static bool gradients_by_parts(Build *b, const Operands *x, const Backward *y, bool of_mask) {
  bool suits = x->q->type.dtype == DT_F32 || multiplies_words(b, x, y->grad);
  if (!b->in.g->host || of_mask || !suits || x->block_rows) return false;
  if (leaves_lanes(b, x)) return false;
  Node *of_value = gradients_of_keys(b, *x, y, false);
  Arg args[] = {arg_node(of_value), build_int(b, parts_of_keys(x))};
  Node *parts = build(b, OP_nereid_attention_grad_parts_default, 2, args);
  bool one = dim_is(parts->type.shape[0], 1);
  DType t = x->widened ? x->given : x->q->type.dtype;
  Node *query = build_to(b, one ? parts : build_sum(b, parts, 1, false), t);
  if (one) query = build_view(b, query, RANK, parts->type.shape + 1);
  b->items[0] = x->heads_first ? query : build_transpose(b, query, 1, 2);
  return true;
}

/* Gradients of scores are kept: those of keys first. */
static void gradients_by_kept(Build *b, Operands *x, const Backward *y) {
  Node *of_keys = gradients_of_keys(b, *x, y, false);
  x->kept = build_op1(b, OP_nereid_attention_grad_kept_default, of_keys);
  Node *query = gradient_call(b, OP_nereid_attention_grad_query_default, x, y);
  b->items[0] = build_transpose(b, rounded(b, x, query), 1, 2);
}

/* `n` batches or heads of x from `from` on; one of all of them is each one's. */
static Node *part_of(Build *b, Node *x, uint32_t axis, int64_t from, int64_t n) {
  if (!x || dim_is(x->type.shape[axis], 1)) return x;
  return build_slice(b, x, axis, build_const(b, from), build_const(b, from + n), 1);
}

/* The part of operands that have the query's batches or heads. */
static void take_part(Build *b, Operands *x, Backward *y, uint32_t axis, int64_t from, int64_t n) {
  Node **of_query[] = {&x->q, &x->mask, &y->grad, &y->sums, &y->delta};
  int64_t sharing = axis ? x->q->type.shape[1]->value / x->k->type.shape[1]->value : 1;
  x->k = part_of(b, x->k, axis, from / sharing, n / sharing);
  x->v = part_of(b, x->v, axis, from / sharing, n / sharing);
  for (size_t i = 0; i < sizeof of_query / sizeof *of_query; i++)
    *of_query[i] = part_of(b, *of_query[i], axis, from, n);
}

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

/* Gradients by kept ones of scores, of parts of batches or of heads along the axis that follow each
 * other: one memory serves all. */
static void gradients_in_parts(Build *b, const Operands *x, const Backward *y, uint32_t axis,
                               KeptPart part) {
  enum { RESULTS = 3 };
  int64_t all = x->q->type.shape[axis]->value, each = axis ? part.heads : part.batches;
  uint32_t n = 0;
  Node **parts[RESULTS];
  for (int i = 0; i < RESULTS; i++)
    parts[i] = ARENA_ARRAY(b->in.g->arena, Node *, (size_t)((all + each - 1) / each));
  for (int64_t from = 0; from < all; from += each, n++) {
    Operands of_part = *x;
    Backward back = *y;
    if (each < all) take_part(b, &of_part, &back, axis, from, at_most(each, all - from));
    if (axis) gradients_by_kept(b, &of_part, &back);
    else gradients_in_parts(b, &of_part, &back, 1, part);
    for (int i = 0; i < RESULTS; i++) parts[i][n] = b->items[i];
  }
  for (int i = 0; i < RESULTS && n > 1; i++) b->items[i] = build_cat(b, n, parts[i], axis);
}

/* The gradient of a mask, [B, H, S, T], of kept ones of scores, which are in blocks of rows. */
static Node *scores_of_kept(Build *b, const Operands *x) {
  Dims *d = b->in.g->dims;
  const Dim *of = x->kept->type.shape, block = dim_int(d, ATTENTION_KEPT_ROWS);
  Dim keys = x->k->type.shape[2], parts[] = {of[0], of[1], of[2], keys, block};
  Dim whole[] = {of[0], of[1], dim_mul(d, of[2], block), keys};
  Node *kept = build_transpose(b, build_view(b, x->kept, RANK + 1, parts), 3, 4);
  kept = build_view(b, kept, RANK, whole);
  kept = build_slice(b, kept, 2, build_const(b, 0), x->q->type.shape[2], 1);
  return build_to(b, kept, x->mask->type.dtype);
}

/* Gradients of scores are in the order of rows on CPUs alone. */
static bool gradients_are_kept(Build *b, Operands *x, const Backward *y, bool of_mask) {
  if (!keeps_scores(b, x) || (of_mask && !b->in.g->host)) return false;
  KeptPart part = kept_part(x);
  bool at_once = x->seed || of_mask;
  if (!part.batches || (at_once && !keeps_at_once(x))) return false;
  if (at_once) gradients_by_kept(b, x, y);
  else gradients_in_parts(b, x, y, 0, part);
  if (of_mask) b->items[3] = scores_of_kept(b, x);
  return true;
}

/* On a CPU products of 16-bit floats would widen their operands for each block: they are widened
 * once, and gradients rounded where kernels leave them. */
static void widen_operands(Build *b, Operands *x) {
  if (!b->in.g->host || !dtype_is_half(x->q->type.dtype)) return;
  x->widened = true;
  x->given = x->q->type.dtype;
  x->q = build_widen(b, x->q);
  x->k = build_widen(b, x->k);
  x->v = build_widen(b, x->v);
}

static void fused_gradients(Build *b, double scale, bool of_mask) {
  Operands x = training_operands(b, scale, !of_mask);
  if (x.dropout != 0) x.seed = backward_seed(b, x.dropout);
  if (of_mask || !multiplies_words(b, &x, given_gradient(b))) widen_operands(b, &x);
  Backward y = backward_of(b);
  y.grad = build_to(b, y.grad, x.q->type.dtype);
  if (gradients_by_parts(b, &x, &y, of_mask)) return;
  if (gradients_are_kept(b, &x, &y, of_mask)) return;
  bool adds = !of_mask && adds_query(b, &x);
  Node *query = adds ? NULL : gradient_call(b, OP_nereid_attention_grad_query_default, &x, &y);
  if (query) b->items[0] = build_transpose(b, rounded(b, &x, query), 1, 2);
  gradients_of_keys(b, x, &y, adds);
  if (!of_mask) return;
  Node *scores = build_op1(b, OP_nereid_attention_grad_scores_default, query);
  b->items[3] = build_to(b, scores, x.mask->type.dtype);
}

static Node *shares_of(Build *b, Node *query, Node *key, Arg scale, const Backward *y) {
  Node *given = given_shares(b);
  if (given) return build_widen(b, given);
  Node *scores = scores_of(b, query, key, scale);
  Node *sums = build_to(b, build_unsqueeze(b, y->sums, RANK - 1), scores->type.dtype);
  return build_op1(b, OP_aten_exp_default, build_sub(b, scores, sums));
}

/* Decomposes gradients into many ops. */
static void gradients_spelled_out(Build *b, Arg scale, bool of_mask) {
  Node *query = build_input(b, "query"), *key = build_input(b, "key");
  Node *value = build_input(b, "value"), *q = build_widen(b, query);
  Node *k = build_widen(b, with_all_heads(b, key, query));
  Node *v = build_widen(b, with_all_heads(b, value, query));
  DType t = query->type.dtype;
  Backward y = backward_of(b);
  Node *grad = build_widen(b, y.grad);
  Node *share = shares_of(b, query, with_all_heads(b, key, query), scale, &y);
  Node *dp = decompose_matmul_of(b, grad, build_transpose(b, v, 2, 3));
  Node *ds = build_mul(b, share, build_sub(b, dp, build_unsqueeze(b, y.delta, RANK - 1)));
  Node *scaled = build_with(b, OP_aten_mul_Tensor, ds, scale);
  Node *dk = decompose_matmul_of(b, build_transpose(b, scaled, 2, 3), q);
  Node *dv = decompose_matmul_of(b, build_transpose(b, share, 2, 3), grad);
  b->items[0] = build_to(b, decompose_matmul_of(b, scaled, k), t);
  b->items[1] = build_to(b, sum_heads(b, dk, key), t);
  b->items[2] = build_to(b, sum_heads(b, dv, value), t);
  if (of_mask) b->items[3] = build_to(b, ds, build_mask(b)->type.dtype);
}

Node *decompose_attention_backward(Build *b) {
  const ValueType *t = b->in.n->type.items;
  Node *q = build_input(b, "query"), *v = build_input(b, "value");
  Arg scale = attention_scale(b, q);
  b->nitems = b->in.n->type.nitems;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  bool of_mask = b->nitems == 4 && t[3].kind == VALUE_TENSOR;
  bool fits = scale.kind == ARG_FLOAT && attention_fits(q, v) && !given_shares(b);
  if (fits) fused_gradients(b, scale.number, of_mask);
  else if (infer_number(&b->in, "dropout_p") != 0) infer_fail(&b->in, E_GRAPH_DROPOUT);
  else gradients_spelled_out(b, scale, of_mask);
  if (b->nitems == 4 && !of_mask) b->items[3] = b->items[0];
  return NULL;
}

/* ---- functions of scores, and masks in blocks ---- */

/* A key or value that all batches of the query share is each one's. */
static Node *of_all_batches(Build *b, Node *x, const Node *query) {
  Dim shape[RANK];
  if (x->type.shape[0] == query->type.shape[0]) return x;
  memcpy(shape, x->type.shape, sizeof shape);
  shape[0] = query->type.shape[0];
  return build_expand(b, x, RANK, shape);
}

/* The operands of the Build's node. */
static Operands flex_operands(Build *b) {
  Operands x = {.scale = infer_number(&b->in, "scale")};
  x.q = build_input(b, "query");
  x.k = of_all_batches(b, build_input(b, "key"), x.q);
  x.v = of_all_batches(b, build_input(b, "value"), x.q);
  x.scores = build_input(b, "scores");
  x.mask = build_input(b, "mask");
  x.heads_first = infer_bool(&b->in, "heads_first");
  for (int i = 0; i < 4; i++) x.tables[i] = build_input(b, table_names[i]);
  if (!x.tables[0] && !x.tables[2]) return x;
  x.block_rows = infer_int(&b->in, "block_rows");
  x.block_keys = infer_int(&b->in, "block_keys");
  return x;
}

static Node *times(Build *b, Node *x, double factor) {
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(factor));
}

/* Sums are in units of log 2, and minus infinity where a row sees nothing. */
static Node *sums_of_flex(Build *b, Node *sums) {
  Node *none = build_with(b, OP_aten_eq_Scalar, sums, arg_float(INFINITY));
  return build_where(b, none, arg_float(-INFINITY), arg_node(times(b, sums, M_LOG2E)));
}

/* The results, of keys in shares: of rows [B, H, T]. */
static Node *join_flex_shares(Build *b, Node *shares, const ValueType *t) {
  Shares x = sum_shares(b, shares);
  Node *of_rows = build_add(b, build_op1(b, OP_aten_log_default, x.total), x.most);
  of_rows = build_select(b, times(b, of_rows, M_LOG2E), rank_of(of_rows) - 1, build_const(b, 0));
  b->items[0] = build_view(b, join_shares(b, &x, t->dtype), t->rank, t->shape);
  b->items[1] = b->items[2] = build_view(b, of_rows, t[1].rank, t[1].shape);
  return NULL;
}

Node *decompose_flex_attention(Build *b) {
  const ValueType *t = b->in.n->type.items;
  Operands x = flex_operands(b);
  x.k = repeat_heads(b, x.k, dim_floordiv(b->in.g->dims, x.q->type.shape[1], x.k->type.shape[1]));
  x.v = repeat_heads(b, x.v, dim_floordiv(b->in.g->dims, x.q->type.shape[1], x.v->type.shape[1]));
  share_keys(b, &x);
  b->nitems = b->in.n->type.nitems;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  bool of_most = result_is_used(b, 2); /* shares keep sums alone */
  int64_t splits = of_most ? 1 : splits_of(b, x.q, x.k);
  x.heads_first |= splits > 1;
  Node *y = build_attention_call(b, &x, splits);
  if (splits > 1) return join_flex_shares(b, y, t);
  Node *sums = sums_of_flex(b, build_op1(b, OP_nereid_attention_sums_default, y));
  b->items[1] = b->items[2] = sums;
  if (of_most)
    b->items[2] = times(b, build_op1(b, OP_nereid_attention_most_default, y), M_LOG2E);
  if (!x.heads_first) y = build_transpose(b, y, 1, 2);
  b->items[0] = y;
  return NULL;
}

static Backward backward_of_flex(Build *b) {
  Node *out = build_widen(b, build_input(b, "out")), *of_sums = build_input(b, "grad_sums");
  Backward y = {.grad = build_input(b, "grad_out"), .sums = build_input(b, "sums")};
  y.delta = build_sum(b, build_mul(b, out, build_widen(b, y.grad)), 1u << (RANK - 1), false);
  if (of_sums) y.delta = build_sub(b, y.delta, times(b, of_sums, M_LOG2E));
  Node *none = build_with(b, OP_aten_eq_Scalar, y.sums, arg_float(-INFINITY));
  y.sums = build_where(b, none, arg_float(INFINITY), arg_node(times(b, y.sums, 1 / M_LOG2E)));
  return y;
}

/* Memory for sums, which is there before the kernel that adds to it. */
static Node **zeros_for(Build *b, uint32_t n, Node **like, DType t) {
  Node **zeros = ARENA_ARRAY(b->in.g->arena, Node *, n);
  for (uint32_t i = 0; i < n; i++) {
    Dim elements = value_numel(b->in.g, &like[i]->type);
    zeros[i] = build_full(b, 1, &elements, build_int(b, 0), t);
  }
  return zeros;
}

/* The gradients of what functions of scores read. */
static void gradients_of_read(Build *b, Node *query, uint32_t n, Node **read, Node **sums) {
  uint32_t same;
  Node **at = build_inputs(b, "read_at", &same), **grads = build_inputs(b, "read_grad", &same);
  for (uint32_t i = 0; i < n; i++) {
    const ValueType *t = &read[i]->type;
    Arg args[] = {arg_node(sums[i]), arg_node(query), arg_node(at[i]), arg_node(grads[i])};
    Node *sum = build(b, OP_nereid_attention_grad_read_default, 4, args);
    b->items[i + 3] = build_view(b, build_to(b, sum, t->dtype), t->rank, t->shape);
  }
}

/* How often a table [B, H, n, ..] names each of m blocks for each of its own: i32 [B, H, n, m]; 0
 * where there is no table. */
static Node *times_named(Build *b, Node *const *table, Dim m) {
  enum { ENTRIES = 3, BLOCKS = 4 };
  Node *counts = table[0], *indices = table[1];
  if (!counts) return build_full(b, 0, NULL, build_int(b, 0), DT_I32);
  Node *place = build_along(b, build_arange(b, indices->type.shape[ENTRIES]), ENTRIES, RANK);
  Node *used = build_op2(b, OP_aten_lt_Tensor, place, build_unsqueeze(b, counts, ENTRIES));
  Node *block = build_along(b, build_arange(b, m), BLOCKS, RANK + 1);
  Node *names = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, indices, BLOCKS), block);
  Node *both = build_and(b, names, build_unsqueeze(b, used, BLOCKS));
  return build_to(b, build_sum(b, build_to(b, both, DT_I32), 1u << ENTRIES, false), DT_I32);
}

static Dim blocks_of(const Operands *x) { return x->tables[x->tables[0] ? 0 : 2]->type.shape[2]; }

/* Gradients of scores are kept once for a block: the tables of rows and of keys, which may be made
 * by hand, have to name the same blocks, each once. */
static void check_tables(Build *b, const Operands *x, const Operands *keys) {
  enum { KINDS = 2 };
  Node *by_rows[KINDS], *differs[KINDS];
  if (!x->block_rows) return;
  for (int i = 0; i < KINDS; i++) {
    by_rows[i] = times_named(b, x->tables + 2 * i, blocks_of(keys));
    Node *by_keys = times_named(b, keys->tables + 2 * i, blocks_of(x));
    if (rank_of(by_keys) == RANK) by_keys = build_transpose(b, by_keys, 2, 3);
    differs[i] = build_op2(b, OP_aten_ne_Tensor, by_rows[i], by_keys);
  }
  Node *sum = build_add(b, by_rows[0], by_rows[1]);
  Node *twice = build_with(b, OP_aten_gt_Scalar, sum, build_int(b, 1));
  Node *bad = build_op2(b, OP_aten_logical_or_default, differs[0], differs[1]);
  build_check_data(b, build_op2(b, OP_aten_logical_or_default, bad, twice), M_GRAPH_TABLES,
                   b->in.n->name);
}

/* The gradients in b->items become those of the operands, of which batches may share one. */
static Node *sum_batches(Build *b) {
  for (uint32_t i = 1; i < 3; i++)
    if (b->items[i]->type.shape[0] != b->in.n->type.items[i].shape[0])
      b->items[i] = build_sum(b, b->items[i], 1, true);
  return NULL;
}

Node *decompose_flex_attention_backward(Build *b) {
  static const char *const of_keys[] = {"row_counts", "row_indices", "full_row_counts",
                                        "full_row_indices"};
  Operands x = flex_operands(b);
  Backward y = backward_of_flex(b);
  y.grad = build_to(b, y.grad, x.q->type.dtype);
  x.chain = build_input(b, "chain");
  b->nitems = b->in.n->type.nitems;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  uint32_t nread;
  Node **read = build_inputs(b, "read", &nread), **sums;
  sums = zeros_for(b, nread, read, attention_wide(x.q->type.dtype));
  Operands keys = x;
  for (int i = 0; i < 4; i++) keys.tables[i] = build_input(b, of_keys[i]);
  keys.heads_first = infer_bool(&b->in, "keys_heads_first");
  if (!nread && gradients_by_parts(b, &keys, &y, false)) return sum_batches(b);
  bool keeps = !nread && keeps_scores(b, &x) && keeps_at_once(&x);
  if (keeps) check_tables(b, &x, &keys);
  Node *first = keeps ? gradients_of_keys(b, keys, &y, false) : NULL;
  if (keeps) x.kept = build_op1(b, OP_nereid_attention_grad_kept_default, first);
  Node *query = gradient_call(b, OP_nereid_attention_grad_query_default, &x, &y);
  b->items[0] = x.heads_first ? query : build_transpose(b, query, 1, 2);
  gradients_of_read(b, query, nread, read, sums);
  if (!keeps) gradients_of_keys(b, keys, &y, false);
  return sum_batches(b);
}
