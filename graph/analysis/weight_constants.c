#include "graph/analysis/weight_constants.h"

#include "graph/analysis/dce.h"
#include "graph/ops/prims.h"

typedef struct {
  bool *constant;
  bool all;
} Operands;

static void check_operand(Node **use, void *ctx) {
  Operands *o = ctx;
  o->all &= o->constant[(*use)->id];
}

static bool fixed_type(const ValueType *t) {
  if (t->kind == VALUE_LIST) {
    for (uint32_t i = 0; i < t->nitems; i++)
      if (!fixed_type(&t->items[i])) return false;
    return true;
  }
  if (t->kind != VALUE_TENSOR) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!dim_is_int(t->shape[i])) return false;
  return true;
}

static bool arg_has_symbol(const Arg *a) {
  if (a->kind == ARG_INT) return !dim_is_int(a->dim);
  bool found = false;
  for (uint32_t i = 0; a->kind == ARG_LIST && i < a->n; i++) found |= arg_has_symbol(&a->items[i]);
  return found;
}

static bool takes_symbols(const Node *n) {
  bool found = false;
  for (uint32_t i = 0; i < n->nargs; i++) found |= arg_has_symbol(&n->args[i]);
  for (uint32_t i = 0; i < n->nnamed; i++) found |= arg_has_symbol(&n->named[i].value);
  return found;
}

static bool depends_on_constants(bool *constant, Node *n) {
  if (n->kind == NODE_INPUT) return n->input.kind != INPUT_USER && fixed_type(&n->type);
  if (n->kind == NODE_OUTPUT || !fixed_type(&n->type) || takes_symbols(n)) return false;
  if (n->kind == NODE_CALL && n->op->random) return false;
  if (graph_is(n, OP_nereid_carried_default)) return false;
  if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_EMPTY) return n->named[1].value.flag;
  Operands o = {constant, true};
  graph_each_use(n, check_operand, &o);
  return o.all;
}

static void check_constant_use(Node **use, void *ctx) {
  bool *marked = ctx;
  if ((*use)->kind != NODE_INPUT) marked[(*use)->id] = true;
}

bool *constants_find(const Graph *g, Arena *a) {
  bool *constant = ARENA_ARRAY(a, bool, g->nids), *varies = ARENA_ARRAY(a, bool, g->nids);
  const Node *out = g->last;
  for (uint32_t i = 0; g->outputs && out->nargs && i < out->args[0].n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION) varies[g->outputs[i].target->id] = true;
  graph_each_use(g->last, check_constant_use, varies);
  /* A scatter changes what it writes to. */
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_SCATTER)
      varies[n->args[0].node->id] = true;
  for (Node *n = g->first; n; n = n->next)
    constant[n->id] = !varies[n->id] && depends_on_constants(constant, n);
  return constant;
}
