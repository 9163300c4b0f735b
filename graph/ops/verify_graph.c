#include "graph/ops/verify_graph.h"

#include "graph/ops/infer.h"
#include "graph/ops/prims.h"

typedef struct {
  const Graph *g;
  Arena *arena;
  const Node **seen; /* by id: nodes that came before */
  const Node *at;
  const char *fault;
} Verifier;

static const char *name_of(const Node *n) { return n->name ? n->name : "the output"; }

static void verify_use(Node **use, void *ctx) {
  Verifier *v = ctx;
  const Node *n = *use;
  if (v->fault || (n->id < v->g->nids && v->seen[n->id] == n)) return;
  v->fault = arena_printf(v->arena, "`%s` uses `%s`, which is not computed before it",
                          name_of(v->at), name_of(n));
}

static const char *place_fault(const Verifier *v, const Node *n) {
  bool input = n->kind == NODE_INPUT, output = n->kind == NODE_OUTPUT;
  if (n->id >= v->g->nids || v->seen[n->id]) return "has no id of its own";
  if (output != !n->next || output != (n == v->g->last)) return "is in the output's place";
  if (input && n->prev && n->prev->kind != NODE_INPUT) return "is an input after other nodes";
  if (n->prev ? n->prev->next != n : v->g->first != n) return "is not after the node before it";
  if (!output && (!n->name || graph_find(v->g, n->name) != n)) return "is not found by its name";
  if (n->kind == NODE_CALL && !n->op) return "has no operator";
  return NULL;
}

/* ---- types ---- */

/* Marks the symbols of x; false if one was not marked. */
static bool meet(bool *met, Dim x) {
  bool all = x->kind != DIM_SYMBOL || met[x->symbol];
  if (x->kind == DIM_SYMBOL) met[x->symbol] = true;
  for (uint32_t i = 0; i < x->n; i++) all &= meet(met, x->args[i]);
  return all;
}

static bool meet_type(bool *met, const ValueType *t) {
  bool all = t->kind != VALUE_INT || !t->value || meet(met, t->value);
  for (uint32_t i = 0; t->kind == VALUE_TENSOR && i < t->rank; i++) all &= meet(met, t->shape[i]);
  for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++)
    all &= meet_type(met, &t->items[i]);
  return all;
}

static bool has_bool_index(const Node *n) {
  const Arg *list = n->nargs > 1 ? &n->args[1] : NULL;
  for (uint32_t i = 0; list && list->kind == ARG_LIST && i < list->n; i++)
    if (list->items[i].kind == ARG_NODE && list->items[i].node->type.dtype == DT_I1) return true;
  return false;
}

/* Does data decide a size?  Inference would make a new symbol for it each time. */
static bool data_decides_size(Arena *a, const Graph *g) {
  uint32_t symbols = dims_symbols(g->dims);
  bool *met = ARENA_ARRAY(a, bool, symbols + 1), decides = false;
  for (uint32_t i = 0; i < symbols; i++) met[i] = false;
  for (const Node *n = g->first; n && !decides; n = n->next) {
    bool known = meet_type(met, &n->type);
    decides = n->kind != NODE_INPUT && !known;
    if (n->kind == NODE_CALL)
      decides |= n->op->sized_by_data || prim_reads_size(n) || has_bool_index(n);
  }
  return decides;
}

/* Inference keeps types that can be right, and reports others.  Primitives may look for the largest
 * of no elements, as operators may not. */
static const char *type_fault(Arena *a, Graph *g) {
  if (data_decides_size(a, g)) return NULL;
  size_t before = diag_count(g->diags);
  bool extremes = g->extremes_of_none;
  g->extremes_of_none = true;
  bool good = infer_graph(g);
  g->extremes_of_none = extremes;
  if (good) return NULL;
  bool told = diag_count(g->diags) > before;
  return arena_printf(a, "%s", told ? diag_get(g->diags, before)->text : "types are not inferred");
}

const char *graph_fault(Arena *a, Graph *g) {
  Verifier v = {.g = g, .arena = a, .seen = ARENA_ARRAY(a, const Node *, g->nids + 1)};
  for (uint32_t i = 0; i < g->nids; i++) v.seen[i] = NULL;
  if (!g->last || g->last->kind != NODE_OUTPUT) return "there is no output";
  for (Node *n = g->first; n && !v.fault; n = n->next) {
    const char *fault = place_fault(&v, n);
    if (fault) return arena_printf(a, "`%s` %s", name_of(n), fault);
    v.at = n;
     graph_each_use(n, verify_use, &v);
    v.seen[n->id] = n;
  }
  return v.fault ? v.fault : type_fault(a, g);
}
