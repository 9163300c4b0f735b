/* Scores in kernels of attention: their tiles have the names of the template, and caps of scores
 * take fewer instructions than their nodes. */
#include <math.h>

#include "planner/kernels/kernel_attention.h"

typedef struct {
  AttentionWriter *w;
  const Dim *at; /* the index of a score */
  bool *seen;    /* by node id */
} TileWalk;

/* The tiles that an expression is made of have the names of the template. */
static void remember_tiles(Node **node, void *ctx) {
  const TileWalk *walk = ctx;
  Kernel *k = walk->w->k;
  Node *n = *node;
  if (n->type.kind != VALUE_TENSOR || kernel_loads(k, n) || walk->seen[n->id]) return;
  walk->seen[n->id] = true;
  if (prim_kind(n->op) != PRIM_TILE) {
    graph_each_use(n, remember_tiles, ctx);
    return;
  }
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

/* A cap of scores, c * tanh(y * a), as c - 2 c / (1 + exp(2 y a)): five instructions, where tanh
 * and the division take 24 for the last bits of small results.  The error, c * 2^-22, is little for
 * scores of which shares of 16 bits are made. */
static void remember_cap(Node **node, void *ctx) {
  enum { CAP_MOST = 256 };
  const double least = 1e-30, most = 1e30; /* of a factor that f32 has */
  const TileWalk *walk = ctx;
  Kernel *k = walk->w->k;
  Node *n = *node;
  double cap, by;
  if (n->type.kind != VALUE_TENSOR || kernel_loads(k, n) || walk->seen[n->id]) return;
  walk->seen[n->id] = true;
  /* An operator of single elements alone reads its operands at the index of the score. */
  if (prim_kind(n->op) != PRIM_POINTWISE) return;
  graph_each_use(n, remember_cap, ctx);
  Node *tanh = take_factor(n, &cap);
  if (tanh == n || !graph_is(tanh, OP_aten_tanh_default) || fabs(cap) > CAP_MOST) return;
  Node *x = take_factor(tanh->args[0].node, &by);
  if (n->type.rank != 4 || x->type.rank != 4 || x->type.dtype != DT_F32) return;
  if (!(fabs(by) > least && fabs(by) < most)) return;
  Dim at[4], index[4];
  attention_mask_index(k->graph, x, walk->at, index);
  attention_mask_index(k->graph, n, walk->at, at);
  const char *name = kernel_fresh(k, "capped"), *of = kernel_value(k, x, index).text;
  kernel_line(k, "%s = libdevice.fast_dividef(%.17g, 1.0 + tl.exp2((%s) * %.17g)) + %.17g", name,
              -2 * cap, of, 2 * M_LOG2E * by, cap);
  kernel_remember(k, n, at, (Value){name, DT_F32});
}

Value attention_value_of_scores(AttentionWriter *w, Node *n) {
  Graph *g = w->k->graph;
  Dim at[4], index[4];
  attention_query_index(g, &w->x, w->k->group->index[0], w->head, w->row, w->key, at);
  attention_mask_index(g, n, at, index);
  TileWalk walk = {.w = w, .at = at, .seen = ARENA_ARRAY(w->k->arena, bool, g->nids)};
  remember_tiles(&n, &walk);
  bool halves = dtype_bits(w->x.query->type.dtype) == 16 && !g->host;
  if (halves && w->x.kind == ATTENTION_FORWARD) {
    walk.seen = ARENA_ARRAY(w->k->arena, bool, g->nids);
    remember_cap(&n, &walk);
  }
  return kernel_value(w->k, n, index);
}
