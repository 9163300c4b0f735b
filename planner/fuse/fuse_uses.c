/* Uses of operands: their indices, through views and nodes that are computed inline. */
#include "graph/analysis/attention.h"
#include "graph/analysis/gather.h"
#include "graph/ops/concat_sources.h"
#include "graph/ops/window.h"
#include "planner/fuse/fuse_state.h"

typedef struct {
  const Fusion *f;
  UseAt *use;
  void *ctx;
  const Node *user;
  const Dim *index; /* of the user */
} Walk;

static void follow_use(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  if (f->of[n->id] || n->kind == NODE_INPUT) use(n, index, ctx);
  else each_use_at(f, n, index, use, ctx);
}

static void reach_operand(Node **operand, void *ctx) {
  const Walk *w = ctx;
  if (!is_tensor(*operand)) return;
  Dim index[GRAPH_RANK_MAX];
  broadcast_index(w->f->graph, w->user, w->index, *operand, index);
  follow_use(w->f, *operand, index, w->use, w->ctx);
}

static void gather_uses(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  Gather x;
  gather_of(f->graph, n, index, &x);
  for (uint32_t i = 0; i < x.n; i++) follow_use(f, x.by[i].index, x.by[i].element, use, ctx);
  follow_use(f, x.data, x.element, use, ctx);
}

static void piece_uses(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  ConcatSources p = concat_sources(f->graph, n, index);
  for (uint32_t i = 0; i < p.n; i++) follow_use(f, p.items[i].operand, p.items[i].index, use, ctx);
}

/* At a position that is any of the window's. */
static void window_uses(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  Window w = window_of(f->graph, n);
  static const char *const names[WINDOW_AXES] = {"at0", "at1", "at2"};
  Dim at[GRAPH_RANK_MAX];
  ConcatSource p;
  for (uint32_t i = 0; i < w.n; i++) at[i] = dim_shared_index(f->graph->dims, names[i], w.size[i]);
  window_piece(f->graph, &w, index, at, &p);
  follow_use(f, p.operand, p.index, use, ctx);
  if (!w.weight) return;
  Dim of[GRAPH_RANK_MAX];
  window_weight_index(&w, &p, at, index[w.channels], of);
  follow_use(f, w.weight, of, use, ctx);
}

/* A searched or scattered tensor is used as a whole, in memory, at no one index. */
static void memory_uses(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  Dim origin[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < GRAPH_RANK_MAX; i++) origin[i] = dim_int(f->graph->dims, 0);
  const Node *domain = prim_kind(n->op) == PRIM_SCATTER ? n->args[1].node : n;
  uint32_t in_memory = prim_in_memory(n);
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE || !is_tensor(n->args[i].node)) continue;
    if (in_memory >> i & 1) {
      use(n->args[i].node, origin, ctx);
      continue;
    }
    Dim at[GRAPH_RANK_MAX];
    broadcast_index(f->graph, domain, index, n->args[i].node, at);
    follow_use(f, n->args[i].node, at, use, ctx);
  }
}

void each_use_at(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx) {
  Dim from[GRAPH_RANK_MAX];
  Walk w = {f, use, ctx, n, index};
  switch (prim_kind(n->op)) {
    case PRIM_VIEW:
      view_index(f->graph, n, index, from);
      follow_use(f, view_operand(n), from, use, ctx);
      return;
    case PRIM_REDUCE: follow_use(f, n->args[0].node, index, use, ctx); return;
    case PRIM_TILE: return; /* the attention uses its operands */
    case PRIM_GATHER: gather_uses(f, n, index, use, ctx); return;
    case PRIM_WINDOW: window_uses(f, n, index, use, ctx); return;
    case PRIM_CONCAT: piece_uses(f, n, index, use, ctx); return;
    case PRIM_INSERT: follow_use(f, n->args[1].node, index, use, ctx); return;
    case PRIM_SEARCH:
    case PRIM_SCATTER: memory_uses(f, n, index, use, ctx); return;
    default: graph_each_use(n, reach_operand, &w);
  }
}

/* ---- operands without indices ---- */

typedef struct {
  const Fusion *f;
  UseAt *use;
  void *ctx;
} MemoryUse;

static void use_in_memory(const Fusion *f, Node *operand, UseAt *use, void *ctx);

static void use_gathered(Node **operand, void *ctx) {
  const MemoryUse *m = ctx;
  if (is_tensor(*operand)) use_in_memory(m->f, *operand, m->use, m->ctx);
}

/* What a product gathers in its loads is computed nowhere: its tensor and its index are used. */
static void use_in_memory(const Fusion *f, Node *operand, UseAt *use, void *ctx) {
  while (prim_is_view(operand)) operand = view_operand(operand);
  bool gathers = operand->kind == NODE_CALL && prim_kind(operand->op) == PRIM_GATHER;
  MemoryUse m = {f, use, ctx};
  if (gathers && !f->of[operand->id]) graph_each_use(operand, use_gathered, &m);
  else use(operand, NULL, ctx);
}

/* The uses of what is computed for each score. */
static void score_uses(const Fusion *f, const Attention *x, uint32_t n, Node *const *computed,
                       UseAt *use, void *ctx) {
  Graph *g = f->graph;
  Dim at[4], index[4];
  Dim head = dim_shared_index(g->dims, "head", x->sharing);
  Dim rows = x->packed ? x->own_rows : x->rows;
  attention_query_index(g, x, dim_shared_index(g->dims, "b", x->batches), head,
                        dim_shared_index(g->dims, "m", rows),
                        dim_shared_index(g->dims, "n", x->keys), at);
  for (uint32_t i = 0; i < n; i++) {
    if (!computed[i]) continue;
    attention_mask_index(g, computed[i], at, index);
    follow_use(f, computed[i], index, use, ctx);
  }
}

/* The uses of an operand whose elements the product's kernel computes. */
static void unpacked_uses(const Fusion *f, Node *operand, UseAt *use, void *ctx) {
  static const char *const names[] = {"b", "kb", "n"};
  const ValueType *t = &operand->type;
  Dim at[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < t->rank; i++)
    at[i] = dim_shared_index(f->graph->dims, names[3 - t->rank + i], t->shape[i]);
  follow_use(f, operand, at, use, ctx);
}

static void product_uses(const Fusion *f, const Node *n, UseAt *use, void *ctx) {
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE || !is_tensor(n->args[i].node)) continue;
    if (i == 1 && prim_unpacks(n)) unpacked_uses(f, n->args[i].node, use, ctx);
    else use_in_memory(f, n->args[i].node, use, ctx);
  }
}

static void grad_read_uses(const Fusion *f, const Node *n, UseAt *use, void *ctx) {
  Attention x = attention_of(f->graph, n->args[1].node);
  Node *const computed[] = {n->args[2].node, n->args[3].node};
  use_in_memory(f, n->args[0].node, use, ctx);
  use(n->args[1].node, NULL, ctx);
  score_uses(f, &x, 2, computed, use, ctx);
}

/* Are keys or values computed where the kernel of n, an attention, reads them? */
static bool is_unpacked(const Fusion *f, const Node *n, const Node *operand) {
  const Node *root = operand;
  while (prim_is_view(root)) root = view_operand(root);
  return root->kind != NODE_INPUT && !f->of[root->id] && attention_unpacks(f->graph, n, operand);
}

static void unpacked_keys(const Fusion *f, const Attention *x, Node *operand, UseAt *use,
                          void *ctx) {
  Graph *g = f->graph;
  const Dim *shape = operand->type.shape;
  Dim at[4];
  attention_key_index(g, x, dim_shared_index(g->dims, "b", x->batches),
                      dim_shared_index(g->dims, "n", shape[2]),
                      dim_shared_index(g->dims, "d", shape[3]), at);
  follow_use(f, operand, at, use, ctx);
}

/* The uses of what the kernel reads from memory. */
static void attention_uses(const Fusion *f, const Node *n, UseAt *use, void *ctx) {
  Attention x = attention_of(f->graph, n);
  Node *read[ATTENTION_OPERANDS];
  uint32_t count = attention_operands(&x, read);
  Node *const computed[] = {x.mask, x.scores, x.chain};
  for (uint32_t i = 0; i < count; i++) {
    if (!read[i]) continue;
    if (is_unpacked(f, n, read[i])) unpacked_keys(f, &x, read[i], use, ctx);
    else use_in_memory(f, read[i], use, ctx);
  }
  score_uses(f, &x, sizeof computed / sizeof *computed, computed, use, ctx);
}

void each_operand(const Fusion *f, Node *n, UseAt *use, void *ctx) {
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_ATTENTION) {
    attention_uses(f, n, use, ctx);
  } else if (graph_is(n, OP_nereid_attention_grad_read_default)) {
    grad_read_uses(f, n, use, ctx);
  } else if (graph_is(n, OP_nereid_attention_grad_added_default)) {
    use_in_memory(f, n->args[0].node, use, ctx);
    use(n->args[1].node, NULL, ctx);
  } else if (k == PRIM_PART) {
    use(n->args[0].node, NULL, ctx);
  } else if (prim_is_product(k)) {
    product_uses(f, n, use, ctx);
  } else {
    Group own = {0};
    fuse_set_domain(f, &own, n);
    each_use_at(f, n, own.element, use, ctx);
  }
}
