#include "graph/analysis/dce.h"

#include <string.h>

#include "graph/messages.h"
#include "graph/ops/ops.h"

ReplacementMap replacements_new(Graph *g, Arena *scratch) {
  uint32_t room = g->nids + 16;
  return (ReplacementMap){g, scratch, ARENA_ARRAY(scratch, Replacement, room), room};
}

Replacement *replacement_of(ReplacementMap *s, const Node *n) {
  if (n->id >= s->room) {
    uint32_t room = 2 * (n->id + 1);
    s->of = arena_grow(s->scratch, s->of, s->room * sizeof *s->of, room * sizeof *s->of);
    s->room = room;
  }
  return &s->of[n->id];
}

/* The last replacement of n: its replacement may have been replaced itself. */
static Node *replacement_end(ReplacementMap *s, Node *n) {
  Node *end = n;
  for (Node *next; (next = replacement_of(s, end)->node);) end = next;
  while (n != end) {
    Replacement *found = replacement_of(s, n);
    n = found->node;
    found->node = end;
  }
  return end;
}

static void replace_arg(ReplacementMap *s, Arg *a) {
  if (a->kind == ARG_LIST) {
    for (uint32_t i = 0; i < a->n; i++) replace_arg(s, &a->items[i]);
  } else if (a->kind == ARG_NODE) {
    a->node = replacement_end(s, a->node);
    const Replacement *found = replacement_of(s, a->node);
    if (!found->items) return;
    Arg list = arg_list(s->g, found->nitems);
    for (uint32_t i = 0; i < list.n; i++)
      list.items[i] = arg_node(replacement_end(s, found->items[i]));
    *a = list;
  }
}

/* An item of a list that was taken apart is the value itself. */
static bool apply_getitem(ReplacementMap *s, Node *n) {
  const Replacement *list = replacement_of(s, replacement_end(s, n->args[0].node));
  if (!list->items) return false;
  replacement_of(s, n)->node = list->items[n->args[1].dim->value];
  return true;
}

void replacements_apply(ReplacementMap *s, Node *n) {
  if (n->kind == NODE_GETITEM && apply_getitem(s, n)) return;
  for (uint32_t i = 0; i < n->nargs; i++) replace_arg(s, &n->args[i]);
  for (uint32_t i = 0; i < n->nnamed; i++) replace_arg(s, &n->named[i].value);
}

/* ---- nodes without uses ---- */

static bool is_bool_index(const Node *x) {
  return x->type.kind == VALUE_TENSOR && (x->type.dtype == DT_I1 || x->type.dtype == DT_U8);
}

/* Is there a size that its data decides?  Others may use that, and not its elements. */
static bool decides_size(const Node *n) {
  if (n->op->sized_by_data) return true;
  if (n->op->id != OP_aten_index_Tensor || n->nargs < 2) return false;
  const Arg *list = &n->args[1];
  for (uint32_t i = 0; list->kind == ARG_LIST && i < list->n; i++)
    if (list->items[i].kind == ARG_NODE && is_bool_index(list->items[i].node)) return true;
  return false;
}

static bool removable(const Node *n) {
  if (n->kind == NODE_GETITEM) return true;
  bool checks = n->kind == NODE_CALL && n->op->prim == PRIM_CHECK;
  return n->kind == NODE_CALL && !checks && !n->op->asserts && !decides_size(n);
}

static void forget_use(Node **use, void *ctx) {
  uint32_t *counts = ctx;
  counts[(*use)->id]--;
}

bool *graph_unused(Graph *g, Arena *scratch) {
  uint32_t *counts = graph_use_counts(g, scratch);
  bool *unused = ARENA_ARRAY(scratch, bool, g->nids);
  for (Node *n = g->last; n; n = n->prev) {
    if (counts[n->id] || !removable(n)) continue;
    graph_each_use(n, forget_use, counts);
    unused[n->id] = true;
  }
  return unused;
}

void graph_dce(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  const bool *unused = graph_unused(g, scratch);
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (!unused[n->id]) continue;
    graph_forget_name(g, n);
    graph_remove(g, n);
  }
  arena_free(scratch);
}

/* ---- writes in place ---- */

static bool writes(Graph *g, const Node *n) {
  const OpSchema *s = ops_schema(g, n->op);
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].written) return true;
  return false;
}

bool graph_functional(Graph *g, const char *pass) {
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL || !writes(g, n)) continue;
    diag_error(g->diags, n->location, E_GRAPH_NOT_FUNCTIONAL, n->name, n->op->target, pass);
    return false;
  }
  return true;
}

bool graph_real(Graph *g, const char *pass) {
  for (const Node *n = g->first; n; n = n->next) {
    if (!n->type.is_complex) continue;
    diag_error(g->diags, n->location, E_GRAPH_COMPLEX_LEFT, pass, n->name);
    return false;
  }
  return true;
}
