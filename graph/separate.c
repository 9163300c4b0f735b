#include "graph/separate.h"

#include "graph/prims.h"

enum { VIEWS_MAX = 64 };

static bool is_computed(const Node *n) {
  if (n->kind != NODE_CALL) return false;
  PrimKind k = prim_kind(n->op);
  return k != PRIM_VIEW && k != PRIM_CREATE;
}

static Node *copy_of(Graph *g, Node *n, Node *before) {
  Node *copy = graph_node(g, NODE_CALL, before, 1, 0);
  copy->op = ops_row(g, "aten.clone.default");
  copy->args[0] = arg_node(n);
  copy->type = n->type;
  copy->place = n->place;
  copy->origin = n->origin;
  graph_fresh_name(g, copy, "clone");
  return copy;
}

/* ---- outputs: each is a tensor of its own in memory ---- */

/* A tensor of a number, for a copy of it. */
static Node *tensor_of_number(Graph *g, Node *n) {
  Node *full = graph_node(g, NODE_CALL, g->last, 2, 1);
  full->op = ops_row(g, "aten.full.default");
  full->args[0] = arg_list(g, 0);
  full->args[1] = arg_node(n);
  full->named[0] = (NamedArg){pool_name(g->names, "dtype"), {.kind = ARG_DTYPE, .dtype = DT_I64}};
  full->type = value_tensor(g, DT_I64, 0, NULL);
  full->origin = n->origin;
  graph_fresh_name(g, full, "full");
  return full;
}

/* Sizes that are returned. */
static void make_tensors(Graph *g) {
  Arg *list = &g->last->args[0];
  for (uint32_t i = 0; i < list->n; i++) {
    Arg *a = &list->items[i];
    bool number = a->kind == ARG_NODE && a->node->type.kind == VALUE_INT && a->node->type.value;
    if (number) a->node = tensor_of_number(g, a->node);
  }
}

static void separate_outputs(Graph *g) {
  Arg *list = &g->last->args[0];
  Arena *scratch = arena_child(g->arena);
  bool *seen = ARENA_ARRAY(scratch, bool, g->nids);
  for (uint32_t i = 0; i < list->n; i++) {
    Arg *a = &list->items[i];
    if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR) continue;
    bool good = is_computed(a->node) && !seen[a->node->id];
    seen[a->node->id] = true;
    if (!good) a->node = copy_of(g, a->node, g->last);
  }
  arena_free(scratch);
}

/* ---- what is searched or scattered to lies in memory ---- */

/* A scatter writes to memory of its own; what is searched, or read as a size, must be there as it
 * is. */
static void separate_memory(Graph *g) {
  for (Node *n = g->first; n; n = n->next) {
    PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
    if (prim_reads_size(n) && !is_computed(n->args[1].node))
      n->args[1].node = copy_of(g, n->args[1].node, n);
    if (k != PRIM_SCATTER && k != PRIM_SEARCH) continue;
    uint32_t in_memory = prim_in_memory(n);
    for (uint32_t i = 0; i < n->nargs; i++) {
      if (!(in_memory >> i & 1)) continue;
      Node *x = n->args[i].node;
      bool written = k == PRIM_SCATTER && i == 0;
      if (written || (x->kind != NODE_INPUT && !is_computed(x))) n->args[i].node = copy_of(g, x, n);
    }
  }
}

/* ---- chains of views ---- */

typedef struct {
  uint32_t views; /* of which its value is one, in a row, by weight */
  Node *copy;     /* NULL: none was needed yet */
} Chain;

static void cut_views(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Chain *chains = ARENA_ARRAY(scratch, Chain, g->nids);
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL || prim_kind(n->op) != PRIM_VIEW) continue;
    Node *of = view_operand(n);
    Chain *chain = &chains[of->id];
    uint32_t weight = view_weight(n), views = chain->views + weight;
    chains[n->id].views = views <= VIEWS_MAX ? views : weight;
    if (views <= VIEWS_MAX) continue;
    if (!chain->copy) chain->copy = copy_of(g, of, n);
    n->args[0].node = chain->copy;
  }
  arena_free(scratch);
}

void graph_separate(Graph *g) {
  cut_views(g);
  make_tensors(g);
  separate_outputs(g);
  separate_memory(g);
}
