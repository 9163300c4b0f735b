/* Pass decompose: composite ops become primitives, in one walk.  Pass expand: those that are only
 * made of others become these, by the same walk. */
#include "decompose/decompose.h"

#include "graph/analysis/dce.h"
#include "graph/analysis/numbers.h"
#include "graph/expand/expansion.h"

static const struct {
  DecomposeRule *rule;
} rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define DECOMPOSE(name) .rule = decompose_##name,
#include "graph/ops/op_table.def"
};

/* ---- one node ---- */

typedef struct {
  Graph *g;
  ReplacementMap replacements;
  const OpId *keep; /* ends with OP_UNKNOWN; NULL: none */
  bool only_expands;
  bool stays; /* the node that was visited: its rule has nothing for it */
} Decompose;

static bool keeps_op(const Decompose *d, const Node *n) {
  return d->keep && graph_is_among(n, d->keep);
}

/* Sizes that are known, if only as an expression, need no node. */
static void write_size(Arg *a) {
  if (a->kind == ARG_LIST)
    for (uint32_t i = 0; i < a->n; i++) write_size(&a->items[i]);
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_INT || !a->node->type.value) return;
  *a = arg_dim(a->node->type.value);
}

/* An operand that data decides is no size, though it may have a symbol. */
static void write_argument(Arg *a, const OpSchema *s, int param) {
  ParamType t = param >= 0 ? s->params[param].type : PARAM_OTHER;
  if ((t != PARAM_TENSOR && t != PARAM_SCALAR) || !number_is_of_data(a)) write_size(a);
}

static void write_sizes(Graph *g, Node *n) {
  const OpSchema *s = ops_schema(g, n->op);
  for (uint32_t i = 0; i < n->nargs; i++) write_argument(&n->args[i], s, (int)i);
  for (uint32_t i = 0; i < n->nnamed; i++)
    write_argument(&n->named[i].value, s, ops_param(s, n->named[i].name));
}

static void assert_same_type(const Node *n, const Node *by) {
  const ValueType *a = &n->type, *b = &by->type;
  BUG_IF(a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank,
         "%s: the decomposition of %s is of another type", n->name, n->op->target);
}

/* A node that was built for n takes its name, and the type that was said of it. */
static void take_over(Graph *g, Node *n, Node *by) {
  graph_forget_name(g, by);
  graph_set_name(g, by, n->name);
  by->type = n->type;
}

static void replace_node(Decompose *d, Node *n, Node *by, uint32_t first_new) {
  assert_same_type(n, by);
  graph_forget_name(d->g, n);
  if (by->id >= first_new) take_over(d->g, n, by);
  replacement_of(&d->replacements, n)->node = by;
  graph_remove(d->g, n);
}

static void replace_list(Decompose *d, Node *n, Node **items, uint32_t nitems) {
  Replacement *stand = replacement_of(&d->replacements, n);
  stand->items = items;
  stand->nitems = nitems;
  graph_forget_name(d->g, n);
  graph_remove(d->g, n);
}

static bool apply_rule(Decompose *d, Node *n, DecomposeRule *rule) {
  uint32_t first_new = d->g->nids;
  Build b = build_at(d->g, n);
  if (setjmp(b.in.failed)) return false;
  Node *by = rule(&b);
  d->stays = !by && !b.items;
  if (by) replace_node(d, n, by, first_new);
  else if (b.items) replace_list(d, n, b.items, b.nitems);
  return true;
}

/* A tensor without elements needs no computation, in which sizes may be divided by 0. */
static bool is_empty_value(const Node *n) {
  if (n->type.kind != VALUE_TENSOR || n->op->id == OP_aten_full_default) return false;
  for (uint32_t i = 0; i < n->type.rank; i++)
    if (dim_is(n->type.shape[i], 0)) return true;
  return false;
}

static Node *make_empty(Build *b) {
  const ValueType *t = &b->in.n->type;
  return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
}

/* An item of a list that was taken apart goes at once: dead-code elimination would take writes in
 * place for dead. */
static bool expand_node(Decompose *d, Node *n) {
  if (n->kind == NODE_GETITEM && replacement_of(&d->replacements, n)->node) {
    graph_forget_name(d->g, n);
    graph_remove(d->g, n);
    d->stays = false;
    return true;
  }
  ExpansionRule *rule = n->kind == NODE_CALL ? expansion_rule(n->op) : NULL;
  return !rule || apply_rule(d, n, rule);
}

/* Is a number a tensor without axes, of what data decides (pass number_tensors)?  In an operator on
 * tensors it would have a part in the result's dtype. */
static bool has_tensor_as_number(Graph *g, const Node *n) {
  const OpSchema *s = ops_schema(g, n->op);
  for (uint32_t i = 0; i < n->nargs; i++)
    if (s->params[i].type == PARAM_SCALAR && n->args[i].kind == ARG_NODE &&
        n->args[i].node->type.kind == VALUE_TENSOR)
      return true;
  return false;
}

static bool decompose_node(Decompose *d, Node *n) {
  replacements_apply(&d->replacements, n);
  if (d->only_expands) return expand_node(d, n);
  if (n->kind == NODE_OUTPUT) return true;
  if (n->kind != NODE_CALL) return true;
  write_sizes(d->g, n);
  if (keeps_op(d, n)) return true;
  if (is_empty_value(n)) return apply_rule(d, n, make_empty);
  const GraphOp *op = ops_renamed(n->op);
  DecomposeRule *rule = rows[op->id].rule;
  if (rule || !has_tensor_as_number(d->g, n)) n->op = op;
  return rule ? apply_rule(d, n, rule) : expand_node(d, n);
}

/* ---- the graph ---- */

static bool walk_nodes(Decompose *d) {
  Graph *g = d->g;
  bool ok = true;
  for (Node *n = g->first, *next; n && ok; n = next) {
    Node *before = n->prev, *after = n->next;
    d->stays = true;
    ok = decompose_node(d, n);
    /* New nodes are inserted before n and visited next; if n stays, the node after it is. */
    next = d->stays ? after : before ? before->next : g->first;
  }
  return ok;
}

bool graph_decompose(Graph *g, const OpId *keep) {
  if (!graph_functional(g, "decompose") || !graph_real(g, "decompose")) return false;
  Arena *scratch = arena_child(g->arena);
  Decompose d = {.g = g, .replacements = replacements_new(g, scratch), .keep = keep};
  bool refused = !g->extremes_of_none;
  g->extremes_of_none = true; /* the model's own were refused when its types were inferred */
  bool ok = walk_nodes(&d);
  g->extremes_of_none = !refused;
  if (ok) graph_dce(g);
  arena_free(scratch);
  return ok;
}

bool pass_decompose(Graph *g) { return graph_decompose(g, NULL); }

static bool has_expansions(const Graph *g) {
  bool has = false;
  for (Node *n = g->first; n && !has; n = n->next)
    has = n->kind == NODE_CALL && expansion_rule(n->op);
  return has;
}

bool pass_expand(Graph *g) {
  if (!has_expansions(g)) return true;
  Arena *scratch = arena_child(g->arena);
  Decompose d = {.g = g, .replacements = replacements_new(g, scratch), .only_expands = true};
  bool ok = walk_nodes(&d);
  arena_free(scratch);
  return ok;
}
