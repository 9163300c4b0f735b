/* Scores in kernels of attention: their tiles have the names of the template, and functions of them
 * take fewer instructions than their nodes. */
#include <math.h>

#include "lang/tile/small_tanh.h"
#include "planner/kernels/kernel_attention.h"

typedef struct {
  AttentionWriter *w;
  const Dim *at; /* the index of a score */
  bool *seen;    /* by node id */
  bool found;    /* a tile of the product */
} TileWalk;

/* The tiles that an expression is made of have the names of the template. */
static void remember_tiles(Node **node, void *ctx) {
  TileWalk *walk = ctx;
  Kernel *k = walk->w->k;
  Node *n = *node;
  if (n->type.kind != VALUE_TENSOR || kernel_loads(k, n) || walk->seen[n->id]) return;
  walk->seen[n->id] = true;
  if (prim_kind(n->op) != PRIM_TILE) {
    graph_each_use(n, remember_tiles, ctx);
    return;
  }
  walk->found = true;
  bool grad = graph_is(n, OP_nereid_attention_scores_grad_default);
  const char *text = grad ? "ds" : walk->w->raw ? "raw" : "scores";
  kernel_remember(k, n, walk->at, (Value){text, walk->w->x.wide});
}

/* x of x * by or x / by, of which `by` takes the factor; x itself has the factor 1. */
static Node *take_factor(Node *x, double *by) {
  bool divides = graph_is(x, OP_aten_div_Tensor);
  *by = 1;
  if ((!divides && !graph_is(x, OP_aten_mul_Tensor)) || x->args[0].kind != ARG_NODE) return x;
  const Arg *a = &x->args[1];
  bool number = a->kind == ARG_FLOAT || (a->kind == ARG_INT && dim_is_int(a->dim));
  double factor = !number ? 0 : a->kind == ARG_FLOAT ? a->number : (double)a->dim->value;
  if (factor == 0 || !isfinite(factor) || x->args[0].node->type.dtype != DT_F32) return x;
  *by = divides ? 1 / factor : factor;
  return x->args[0].node;
}

/* On GPUs a score of 16-bit operands has fewer bits than tanh.approx gives, 11. */
static bool approximates(const AttentionWriter *w) {
  return w->x.kind == ATTENTION_FORWARD && dtype_is_half(w->x.query->type.dtype) &&
         !w->k->graph->host;
}

static bool is_tile(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_TILE && n->type.kind == VALUE_TENSOR;
}

/* The largest factor of scores that stay far from overflow. */
static bool is_moderate(double x) {
  const double least = 1e-30, most = 1e30;
  return fabs(x) > least && fabs(x) < most;
}

/* Hyperbolic tangents, as caps of scores have (c * tanh(x / c)), are one instruction each. */
static void remember_tanh(Node **node, void *ctx) {
  const TileWalk *walk = ctx;
  Kernel *k = walk->w->k;
  Node *n = *node;
  double by;
  if (n->type.kind != VALUE_TENSOR || kernel_loads(k, n) || walk->seen[n->id]) return;
  walk->seen[n->id] = true;
  /* An operator of single elements alone reads its operands at the index of the score. */
  if (prim_kind(n->op) != PRIM_POINTWISE) return;
  graph_each_use(n, remember_tanh, ctx);
  if (!graph_is(n, OP_aten_tanh_default) || n->type.rank != 4) return;
  Node *x = take_factor(n->args[0].node, &by);
  if (x->type.rank != 4 || x->type.dtype != DT_F32 || !is_moderate(by)) return;
  Dim at[4], index[4];
  attention_mask_index(k->graph, x, walk->at, index);
  attention_mask_index(k->graph, n, walk->at, at);
  const char *name = kernel_fresh(k, "tanh"), *of = kernel_value(k, x, index).text;
  if (is_tile(x) && walk->w->later > 0) kernel_line(k, "%s = libdevice.fast_tanhf(%s)", name, of);
  else kernel_line(k, "%s = libdevice.fast_tanhf(%s * %.17g)", name, of, by);
  kernel_remember(k, n, at, (Value){name, DT_F32});
}

/* A product's factor goes into the scale.  A cap's factor goes into the exponential's argument,
 * and the factor of tanh's operand into the scale. */
void attention_fold_factors(AttentionWriter *w) {
  double by, cap;
  Node *x = w->x.scores ? take_factor(w->x.scores, &by) : NULL;
  if (!x || w->raw || w->x.kind != ATTENTION_FORWARD) return;
  if (is_tile(x) && x != w->x.scores && is_moderate(by * w->x.scale)) {
    w->x.scale *= by;
    w->x.scores = NULL;
    return;
  }
  cap = by;
  if (!approximates(w) || !graph_is(x, OP_aten_tanh_default) || !(cap > 0 && is_moderate(cap)) ||
      (w->x.mask && w->x.mask->type.dtype != DT_I1))
    return;
  Node *of = take_factor(x->args[0].node, &by);
  if (!is_tile(of) || !is_moderate(by * w->x.scale)) return;
  w->x.scale *= by;
  w->x.scores = x;
  w->later = cap * M_LOG2E;
}

/* Scores of a cap lie within it, and exponents of bf16 are those of f32: sums of shares that are
 * relative to a number overflow no earlier than those relative to a maximum where the cap is below
 * 38, and with values of 2^67 at 50.  The smallest row keeps shares of 2^-22 of its largest. */
static bool find_exponents(AttentionWriter *w) {
  enum { LEAST = -104, USUAL = 8, MOST = 41 };
  double highest = 2 * w->later + LEAST;
  if (highest < USUAL) highest = USUAL;
  w->below = w->later > highest ? w->later - highest : 0;
  return highest <= MOST;
}

/* A power of two makes the scores' factor one by which all numbers below SMALL_TANH_BELOW have
 * tangents of the shortest polynomial. */
static void shrink_query(AttentionWriter *w) {
  enum { MOST = 30 };
  int by = (int)floor(log2(NEAR_TANH / (SMALL_TANH_BELOW * w->x.scale)));
  if (by < 1 || by > MOST) return;
  w->shrunk = by;
  w->x.scale = ldexp(w->x.scale, by);
}

void attention_bound_scores(AttentionWriter *w, bool needs_most) {
  bool fits = w->later > 0 && w->x.scale > 0 && w->x.query->type.dtype == DT_BF16;
  if (!fits || needs_most) return;
  w->bounded = find_exponents(w);
  if (w->bounded) shrink_query(w);
}

typedef struct {
  const Kernel *k;
  bool found;
  int steps; /* so far: long functions count as ones that read */
} KeyReads;

static void find_key_reads(Node **node, void *ctx) {
  enum { STEPS_MAX = 500 };
  KeyReads *reads = ctx;
  const Node *n = *node;
  const ValueType *t = &n->type;
  if (t->kind != VALUE_TENSOR || reads->found) return;
  if (!t->rank || dim_is(t->shape[t->rank - 1], 1)) return; /* one for all keys */
  reads->found = ++reads->steps > STEPS_MAX;
  bool loads = kernel_loads(reads->k, n);
  bool gathers = !loads && n->kind == NODE_CALL && prim_kind(n->op) == PRIM_GATHER;
  if (loads || gathers) reads->found = true;
  else if (!is_tile(n)) graph_each_use(*node, find_key_reads, ctx);
}

const char *attention_share_of(const AttentionWriter *w, const char *exp, const char *score) {
  Arena *a = w->k->arena;
  if (!w->added || !w->k->graph->host || w->x.wide != DT_F32)
    return arena_printf(a, "%s(%s)", exp, score);
  return arena_printf(a, "%s(tl.where(%s < -87.0, float(\"-inf\"), %s))", exp, score, score);
}

const char *attention_power_function(const AttentionWriter *w) {
  Text t = text_new(w->k->arena);
  const Slot name = {"name", KERNEL_NAME};
  template_fill(&t, "attention_power.py", &name, 1);
  return t.data;
}

/* The shares of even keys and of those after them. */
static const char *shares_of_words(const AttentionWriter *w, const char *factor, const char *exp) {
  const char *rows = attention_of_rows(w), *name = KERNEL_NAME;
  if (w->bounded)
    return arena_printf(w->k->arena,
                        "        lower = %s_power(lower)\n"
                        "        upper = %s_power(upper)\n",
                        name, name);
  const char *units = w->added ? arena_printf(w->k->arena, " * %.17g", M_LOG2E) : "";
  const char *form = w->added ? "(%s%s - shift%s)%s" : "%s%s - shift%s%s";
  const char *lower = arena_printf(w->k->arena, form, "lower", factor, rows, units);
  const char *upper = arena_printf(w->k->arena, form, "upper", factor, rows, units);
  return arena_printf(w->k->arena,
                      "        lower = %s_power(%s)\n"
                      "        upper = %s_power(%s)\n"
                      "        older = %s(most - shift)\n",
                      name, lower, name, upper, exp);
}

/* Units of log 2 take an instruction fewer a score, and a few registers, which pays where none are
 * loaded, or heads are narrow: on an H200 128 columns take 0.525 ms with slopes of distances, not
 * 0.565, and with a table 0.557, not 0.535; 64 columns with one 0.754, not 0.769.  Rows of the
 * least numbers that f32 has keep their units. */
const char *attention_shares(const AttentionWriter *w, const char *factor, const char *exp) {
  enum { NARROW = 64 };
  if (w->shape->words) return shares_of_words(w, factor, exp);
  KeyReads reads = {.k = w->k, .found = w->x.mask && w->x.mask->type.dtype != DT_I1};
  if (w->bounded) return "        p = tl.exp2(scores)\n";
  Node *scores = w->x.scores;
  bool narrow = w->shape->bd <= NARROW && w->shape->be <= NARROW;
  if (w->added && scores) find_key_reads(&scores, &reads);
  reads.found &= !narrow;
  if (w->added && approximates(w) && !reads.found)
    return "        factor = tl.where(tl.abs(shift) > 1e36, 1.0, 1.4426950408889634)\n"
           "        base = shift * factor\n"
           "        p = tl.exp2(scores * factor[:, None] - base[:, None])\n"
           "        older = tl.exp2(most * factor - base)\n";
  const char *score =
      arena_printf(w->k->arena, "scores%s - shift%s", factor, attention_of_rows(w));
  return arena_printf(w->k->arena,
                      "        p = %s\n"
                      "        older = %s(most - shift)\n",
                      attention_share_of(w, exp, score), exp);
}

/* `whole`: it is of the product, and so of each row and key. */
static Value value_of_scores(AttentionWriter *w, Node *n, bool *whole) {
  Graph *g = w->k->graph;
  Dim at[4], index[4];
  attention_query_index(g, &w->x, w->k->group->index[0], w->head, w->row, w->key, at);
  attention_mask_index(g, n, at, index);
  TileWalk walk = {.w = w, .at = at, .seen = ARENA_ARRAY(w->k->arena, bool, g->nids)};
  remember_tiles(&n, &walk);
  *whole = walk.found;
  w->k->narrows = true;
  if (approximates(w)) {
    walk.seen = ARENA_ARRAY(w->k->arena, bool, g->nids);
    remember_tanh(&n, &walk);
  }
  Value v = kernel_value(w->k, n, index);
  w->k->narrows = false;
  return v;
}

const char *attention_text_of_scores(AttentionWriter *w, Node *n) {
  bool whole;
  Value v = value_of_scores(w, n, &whole);
  const char *text = kernel_cast(w->k, v, w->x.wide);
  return whole ? text : arena_printf(w->k->arena, "tl.broadcast_to(%s, scores.shape)", text);
}

Value attention_value_of_scores(AttentionWriter *w, Node *n) {
  bool whole;
  return value_of_scores(w, n, &whole);
}

/* ---- the order of keys ---- */

typedef struct {
  const Kernel *k;
  bool *seen; /* by node id */
  unsigned least; /* bytes of an element */
  bool found;
  bool apart; /* batches have tables of their own */
} TableWalk;

/* A tensor of rows and keys that is loaded for each score. */
static void find_table(Node **node, void *ctx) {
  enum { MOST = 4, ALL_AXES = 4 };
  TableWalk *walk = ctx;
  const Node *n = *node;
  const ValueType *t = &n->type;
  if (t->kind != VALUE_TENSOR || walk->found || walk->seen[n->id]) return;
  walk->seen[n->id] = true;
  if (kernel_loads(walk->k, n)) {
    unsigned bytes = dtype_bytes(t->dtype);
    walk->found = t->rank >= 2 && bytes >= walk->least && bytes <= MOST &&
                  !dim_is(t->shape[t->rank - 1], 1) && !dim_is(t->shape[t->rank - 2], 1);
    walk->apart |= walk->found && t->rank == ALL_AXES && !dim_is(t->shape[0], 1);
    return;
  }
  bool gathers = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_GATHER;
  if (!gathers && !is_tile(n)) graph_each_use(*node, find_table, ctx);
}

enum { LEAST_OF_GPU = 2 };

static TableWalk table_walk_new(const AttentionWriter *w, unsigned least) {
  bool *seen = ARENA_ARRAY(w->k->arena, bool, w->k->graph->nids);
  return (TableWalk){.k = w->k, .seen = seen, .least = least};
}

bool attention_loads_table(const AttentionWriter *w, Node *n) {
  TableWalk walk = table_walk_new(w, 1);
  find_table(&n, &walk);
  return walk.found;
}

/* A thread has two neighbors of eight scores of a row.  Where scores are added to a table's
 * numbers, keys of 32 are in the order in which a thread's scores are eight neighbors in the table,
 * so that it loads vectors; copies of keys and values as boxes have them in that order, too. */
static bool orders_keys(const AttentionWriter *w) {
  enum { ORDERED = 32, LEAST_ROWS = 64 };
  const Attention *x = &w->x;
  TableWalk walk = table_walk_new(w, LEAST_OF_GPU);
  Node *scores = x->scores, *mask = x->mask;
  bool fits = x->kind == ATTENTION_FORWARD && !w->k->graph->host && !w->ragged && !x->block_rows;
  if (!fits) return false;
  if (w->shape->bn % ORDERED || w->shape->bn & (w->shape->bn - 1) || w->shape->bm < LEAST_ROWS)
    return false;
  if (!dtype_is_half(x->query->type.dtype)) return false;
  if (scores) find_table(&scores, &walk);
  if (mask) find_table(&mask, &walk);
  return walk.found;
}

/* Programs of the same rows of all batches run together, so that memory gives the table once. */
int64_t attention_table_batches(const AttentionWriter *w) {
  const Attention *x = &w->x;
  TableWalk walk = table_walk_new(w, LEAST_OF_GPU);
  Node *scores = x->scores, *mask = x->mask;
  bool fits = x->kind == ATTENTION_FORWARD && !w->k->graph->host && w->shape->turns == 1;
  if (!fits || x->splits > 1 || !dim_is_int(x->batches) || !dim_is_int(x->own_heads)) return 1;
  if (scores) find_table(&scores, &walk);
  if (mask) find_table(&mask, &walk);
  return walk.found && !walk.apart ? x->batches->value / x->own_heads->value : 1;
}

const char *attention_keys(AttentionWriter *w) {
  if (orders_keys(w))
    return "        order = tl.arange(0, BN)\n"
           "        order = order // 32 * 32 + order % 8 // 2 * 8 + "
           "order // 8 % 4 * 2 + order % 2\n"
           "        n = start + order[None, :]\n"
           "        s = start + order[:, None]\n";
  return arena_printf(w->k->arena,
                      "        n = start + tl.arange(0, BN)%s\n"
                      "        s = start + tl.arange(0, BN)[:, None]\n",
                      w->shape->turned ? "[:, None]" : "[None, :]");
}
