/* Pass split_complex: one walk, in which each complex value gets its parts. */
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/ops/graph_text.h"
#include "planner/complex/complex.h"
#include "planner/messages.h"
#include "planner/passes.h"

static const struct {
  SplitRule *rule;
} rows[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define COMPLEX(name, result) .rule = split_##name,
#include "graph/ops/op_table.def"
};

typedef struct {
  Graph *g;
  ReplacementMap replacements; /* of nodes whose value is real */
  Parts *of;                   /* by id */
  Parts **items;               /* by id, of lists */
  Node **inputs;               /* by id, what complex inputs have become */
  uint32_t n;                  /* ids there were before the pass */
} Splitting;

/* ---- which nodes ---- */

static bool is_complex_type(const ValueType *t) {
  bool found = t->is_complex;
  for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++) found |= t->items[i].is_complex;
  return found;
}

static void find_complex_use(Node **use, void *ctx) {
  bool *found = ctx;
  *found |= is_complex_type(&(*use)->type);
}

static bool has_complex(Node *n) {
  bool found = is_complex_type(&n->type);
  graph_each_use(n, find_complex_use, &found);
  return found;
}

bool graph_is_complex(const Graph *g) {
  for (const Node *n = g->first; n; n = n->next)
    if (is_complex_type(&n->type)) return true;
  return false;
}

/* ---- nodes ---- */

static void add_axis_of_parts(Graph *g, ValueType *t) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  shape[t->rank] = dim_int(g->dims, 2);
  *t = value_tensor(g, t->dtype, t->rank + 1, shape);
}

static bool check_rank(const Graph *g, const Node *n) {
  if (n->type.rank < GRAPH_RANK_MAX) return true;
  diag_error(g->diags, n->location, E_GRAPH_COMPLEX_RANK, n->name, GRAPH_RANK_MAX - 1);
  return false;
}

/* The input becomes another, whose last axis has the parts. */
static Node *real_input(Graph *g, Node *n) {
  Node *real = graph_node(g, NODE_INPUT, n, 0, 0);
  real->type = n->type;
  add_axis_of_parts(g, &real->type);
  real->location = n->location;
  real->origin = n->origin;
  real->input = n->input;
  real->input.is_complex = true;
  graph_forget_name(g, n);
  graph_set_name(g, real, n->name);
  graph_remove(g, n);
  return real;
}

static bool split_input(Splitting *s, Node *n) {
  if (!n->type.is_complex) return true;
  if (!check_rank(s->g, n)) return false;
  Node *x = real_input(s->g, n);
  Build b = build_at(s->g, x);
  b.before = graph_after_inputs(s->g);
  if (setjmp(b.in.failed)) return false;
  uint32_t last = rank_of(x) - 1;
  s->of[n->id].re = build_select(&b, x, last, build_const(&b, 0));
  s->of[n->id].im = build_select(&b, x, last, build_const(&b, 1));
  s->inputs[n->id] = x;
  return true;
}

static void take_name(Graph *g, Node *n, Node *by) {
  graph_forget_name(g, by);
  graph_set_name(g, by, n->name);
}

static bool apply_split_rule(Splitting *s, Node *n) {
  uint32_t first_new = s->g->nids;
  Split split = {.b = build_at(s->g, n), .of = s->of, .n = s->n};
  if (setjmp(split.b.in.failed)) return false;
  SplitRule *rule = rows[n->op->id].rule;
  Parts made = rule(&split);
  graph_forget_name(s->g, n);
  if (split.items) s->items[n->id] = split.items;
  else if (is_complex_type(&n->type)) s->of[n->id] = made;
  else if (made.re->id >= first_new) take_name(s->g, n, made.re);
  if (!is_complex_type(&n->type)) replacement_of(&s->replacements, n)->node = made.re;
  graph_remove(s->g, n);
  return true;
}

static bool split_call(Splitting *s, Node *n) {
  if (!rows[n->op->id].rule) n->op = ops_renamed(n->op);
  if (n->op->asserts) {
    graph_forget_name(s->g, n);
    graph_remove(s->g, n);
    return true;
  }
  return apply_split_rule(s, n);
}

/* Splits an item of a list that has complex items; others may be real. */
static bool split_getitem(Splitting *s, Node *n) {
  Parts x = s->items[n->args[0].node->id][n->args[1].dim->value];
  if (n->type.is_complex) s->of[n->id] = x;
  else replacement_of(&s->replacements, n)->node = x.re;
  graph_forget_name(s->g, n);
  graph_remove(s->g, n);
  return true;
}

/* ---- outputs ---- */

static void give_specs(Graph *g, uint32_t n) {
  if (!g->outputs) g->outputs = ARENA_ARRAY(g->arena, OutputSpec, n);
}

/* The value as one tensor, with the name that it had. */
static Node *joined_output(Split *s, Node *n) {
  Node *y = split_join(s, split_value(s, n));
  if (y->kind != NODE_INPUT && !graph_find(s->b.in.g, n->name)) take_name(s->b.in.g, n, y);
  return y;
}

static void retarget_outputs(Splitting *s, uint32_t n) {
  for (uint32_t i = 0; s->g->outputs && i < n; i++) {
    OutputSpec *spec = &s->g->outputs[i];
    Node *real = spec->target && spec->target->id < s->n ? s->inputs[spec->target->id] : NULL;
    if (real) spec->target = real;
  }
}

static bool split_outputs(Splitting *s, Node *n) {
  Arg *list = &n->args[0];
  Split split = {.b = build_at(s->g, n), .of = s->of, .n = s->n};
  if (setjmp(split.b.in.failed)) return false;
  for (uint32_t i = 0; list->kind == ARG_LIST && i < list->n; i++) {
    Node *x = list->items[i].kind == ARG_NODE ? list->items[i].node : NULL;
    if (!x || !x->type.is_complex) continue;
    if (!check_rank(s->g, x)) return false;
    give_specs(s->g, list->n);
    s->g->outputs[i].is_complex = true;
    list->items[i] = arg_node(joined_output(&split, x));
  }
  retarget_outputs(s, list->n);
  return true;
}

/* ---- the graph ---- */

static bool split_node(Splitting *s, Node *n) {
  replacements_apply(&s->replacements, n);
  if (n->kind == NODE_INPUT) return split_input(s, n);
  if (n->kind == NODE_OUTPUT) return split_outputs(s, n);
  if (n->kind == NODE_GETITEM)
    return !is_complex_type(&n->args[0].node->type) || split_getitem(s, n);
  return !has_complex(n) || split_call(s, n);
}

bool pass_split_complex(Graph *g) {
  if (!graph_functional(g, "split_complex")) return false;
  Arena *scratch = arena_child(g->arena);
  Splitting s = {.g = g, .replacements = replacements_new(g, scratch), .n = g->nids};
  s.of = ARENA_ARRAY(scratch, Parts, s.n);
  s.items = ARENA_ARRAY(scratch, Parts *, s.n);
  s.inputs = ARENA_ARRAY(scratch, Node *, s.n);
  bool ok = true;
  for (Node *n = g->first, *next; n && ok; n = next) {
    next = n->next;
    ok = split_node(&s, n);
  }
  if (ok) graph_dce(g);
  arena_free(scratch);
  return ok;
}
