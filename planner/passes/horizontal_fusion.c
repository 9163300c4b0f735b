/* Pass horizontal_fusion: linear layers that share their input, and whose weights are of the file,
 * become one layer and slices of its result, so that query, key and value of attention are one
 * product.  For GPUs, where a product of few columns keeps too few processors busy, and each launch
 * has a cost.
 *
 * The epilogue of a layer, a pointwise op that is computed on the product's tiles, would become a
 * kernel of its own; so a layer with an epilogue is fused only where rows are few. */
#include <setjmp.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

enum { ROWS_FEW = 64, LAYERS_MAX = 16 };

typedef struct {
  Graph *g;
  ReplacementMap replacements;
  bool *computed_with;  /* by node id: a pointwise op uses it */
  bool *leads;          /* by node id: the first layer of its input */
  Node **first, **next; /* by node id: the first layer of an input, the next one of the same */
  jmp_buf failed;
} Merger;

static Node *tensor(Graph *g, const Node *n, const char *param) {
  Arg a = graph_arg(g, n, param);
  return a.kind == ARG_NODE && a.node->type.kind == VALUE_TENSOR ? a.node : NULL;
}

static bool from_file(const Node *n) {
  return n->kind == NODE_INPUT && n->input.kind != INPUT_USER;
}

/* A layer with weights [columns, k], and with a bias [columns] or none.  Cuts of the result begin
 * at multiples of 16, so that they are read in vectors. */
static bool is_layer(Graph *g, const Node *n) {
  if (!graph_is(n, OP_aten_linear_default)) return false;
  const Node *w = tensor(g, n, "weight"), *bias = tensor(g, n, "bias");
  if (!tensor(g, n, "input") || !w || w->type.rank != 2 || !from_file(w)) return false;
  if (!dim_is_int(w->type.shape[0]) || w->type.shape[0]->value % 16) return false;
  return !bias || (bias->type.rank == 1 && from_file(bias));
}

static bool has_few_rows(Graph *g, const Node *n) {
  Dim rows = dim_int(g->dims, 1), most = dim_int(g->dims, ROWS_FEW);
  for (uint32_t i = 0; i + 1 < n->type.rank; i++) rows = dim_mul(g->dims, rows, n->type.shape[i]);
  return dim_at_most(g->dims, rows, most);
}

/* ---- who uses what ---- */

static void note_layer_use(Node **operand, void *ctx) {
  bool *computed_with = ctx;
  computed_with[(*operand)->id] = true;
}

static void find_layers(Merger *m) {
  for (Node *n = m->g->last; n; n = n->prev) {
    if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE)
      graph_each_use(n, note_layer_use, m->computed_with);
    if (!is_layer(m->g, n)) continue;
    if (m->computed_with[n->id] && !has_few_rows(m->g, n)) continue;
    Node **first = &m->first[tensor(m->g, n, "input")->id];
    m->next[n->id] = *first;
    m->leads[n->id] = true;
    if (*first) m->leads[(*first)->id] = false;
    *first = n;
  }
}

/* ---- one layer of several ---- */

static Node *all_weights(Build *b, Node *const *layers, uint32_t n) {
  Node *w[LAYERS_MAX];
  for (uint32_t i = 0; i < n; i++) w[i] = tensor(b->in.g, layers[i], "weight");
  return build_cat(b, n, w, 0);
}

/* A layer without a bias has one of zeros, if another has one. */
static Node *all_biases(Build *b, Node *const *layers, uint32_t n) {
  Node *bias[LAYERS_MAX];
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    bias[i] = tensor(b->in.g, layers[i], "bias");
    any |= bias[i] != NULL;
  }
  for (uint32_t i = 0; any && i < n; i++) {
    const ValueType *w = &tensor(b->in.g, layers[i], "weight")->type;
    if (!bias[i]) bias[i] = build_full(b, 1, w->shape, arg_float(0), w->dtype);
  }
  return any ? build_cat(b, n, bias, 0) : NULL;
}

static void merge_layers(Merger *m, Node *const *layers, uint32_t n) {
  Build b = build_at(m->g, layers[0]);
  memcpy(b.in.failed, m->failed, sizeof m->failed);
  Node *bias = all_biases(&b, layers, n), *w = all_weights(&b, layers, n), *items[LAYERS_MAX];
  Arg args[] = {arg_node(tensor(m->g, layers[0], "input")), arg_node(w),
                bias ? arg_node(bias) : arg_none()};
  Node *y = build(&b, OP_aten_linear_default, bias ? 3 : 2, args);
  Dim at = build_const(&b, 0);
  for (uint32_t i = 0; i < n; i++) {
    Dim end = dim_add(m->g->dims, at, tensor(m->g, layers[i], "weight")->type.shape[0]);
    items[i] = build_slice(&b, y, rank_of(y) - 1, at, end, 1);
    at = end;
  }
  for (uint32_t i = 0; i < n; i++) replacement_of(&m->replacements, layers[i])->node = items[i];
}

/* n is the first layer of its input. */
static void fuse_layers_of(Merger *m, Node *n) {
  Node *layers[LAYERS_MAX];
  uint32_t count = 0;
  for (Node *l = n; l && count < LAYERS_MAX; l = m->next[l->id])
    if (l->type.dtype == n->type.dtype) layers[count++] = l;
  if (count > 1) merge_layers(m, layers, count);
}

bool pass_horizontal_fusion(Graph *g) {
  if (!graph_functional(g, "horizontal_fusion")) return false;
  Arena *scratch = arena_child(g->arena);
  Merger m = {.g = g, .replacements = replacements_new(g, scratch)};
  uint32_t nids = g->nids;
  m.computed_with = ARENA_ARRAY(scratch, bool, nids);
  m.first = ARENA_ARRAY(scratch, Node *, nids);
  m.next = ARENA_ARRAY(scratch, Node *, nids);
  m.leads = ARENA_ARRAY(scratch, bool, nids);
  bool ok = !setjmp(m.failed);
  if (ok) {
    find_layers(&m);
    for (Node *n = g->first; n; n = n->next) {
      replacements_apply(&m.replacements, n);
      if (n->id < nids && m.leads[n->id]) fuse_layers_of(&m, n);
    }
    graph_dce(g);
  }
  arena_free(scratch);
  return ok;
}
