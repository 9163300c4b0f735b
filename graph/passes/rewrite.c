/* Pass rewrite: rules are applied where their patterns match, in one walk. */
#include "graph/passes/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/infer/node_builder.h"
#include "graph/messages.h"
#include "graph/passes.h"
#include "graph/passes/rewrites.h"

enum { ROUNDS_MAX = 20 }; /* of rules on what rules made */

typedef struct {
  Graph *g;
  Arena *scratch;
  ReplacementMap replacements;
  RewriteList *by_op; /* of rows of the op table: rules whose root may be such a call */
  uint32_t *uses;     /* by node id */
  uint8_t *round;     /* by node id: how many rules, one after the other, made it */
  uint32_t room;
  Match match;
} Rewriter;

/* ---- replacements ---- */

typedef struct {
  Build b;
  const Match *m;
  struct {
    const Term *term;
    Node *node;
  } made[REWRITE_SLOTS_MAX]; /* a term that is used twice is built once */
  uint32_t nmade;
} Maker;

static bool make(Maker *k, const Term *t, Arg *out);

/* The op of a call without its overload: the first that takes what is given. */
static const GraphOp *find_op(const Term *t) {
  static const char *const overloads[] = {".default", ".Tensor", ".int", ".dim", ".self"};
  char name[128];
  const GraphOp *op = ops_find(t->op);
  for (size_t i = 0; !op && i < sizeof overloads / sizeof *overloads; i++) {
    int len = snprintf(name, sizeof name, "%s%s", t->op, overloads[i]);
    if (len >= 0 && (size_t)len < sizeof name) op = ops_find(name);
  }
  return op;
}

/* aten.pow of a number has an overload of its own. */
static const GraphOp *op_for(const Term *t, const Arg *args) {
  const GraphOp *power = ops_at(OP_aten_pow_Tensor_Scalar);
  bool is_power = t->nargs == 2 && args[1].kind != ARG_NODE && rewrite_names_op(t, power);
  return is_power ? power : find_op(t);
}

static bool make_call(Maker *k, const Term *t, Arg *out) {
  Arg args[REWRITE_SLOTS_MAX];
  NamedArg named[REWRITE_SLOTS_MAX];
  uint32_t nargs = 0, nnamed = 0;
  if (t->nargs > REWRITE_SLOTS_MAX) return false;
  for (uint32_t i = 0; i < t->nargs; i++) {
    Arg value;
    if (!make(k, t->args[i], &value)) return false;
    if (t->names[i]) named[nnamed++] = (NamedArg){t->names[i], value};
    else args[nargs++] = value;
  }
  const GraphOp *op = op_for(t, args);
  if (!op) return false;
  *out = arg_node(build_with_all(&k->b, op->id, nargs, args, nnamed, named));
  return true;
}

static bool make_cast(Maker *k, const Term *t, Arg *out) {
  Arg x, dtype;
  if (!make(k, t->args[0], &x) || x.kind != ARG_NODE) return false;
  if (!rewrite_eval(k->m, t->args[1], &dtype) || dtype.kind != ARG_DTYPE) return false;
  *out = arg_node(build_to(&k->b, x.node, dtype.dtype));
  return true;
}

static bool make_item(Maker *k, const Term *t, Arg *out) {
  Arg list;
  if (!make(k, t->args[0], &list) || list.kind != ARG_NODE || !dim_is_int(t->literal.dim))
    return false;
  *out = arg_node(build_item(&k->b, list.node, (uint32_t)t->literal.dim->value));
  return true;
}

static bool make_new(Maker *k, const Term *t, Arg *out) {
  if (t->kind == TERM_CALL) return make_call(k, t, out);
  return t->kind == TERM_CAST ? make_cast(k, t, out) : make_item(k, t, out);
}

static bool make(Maker *k, const Term *t, Arg *out) {
  bool value = t->kind == TERM_CALL || t->kind == TERM_CAST || t->kind == TERM_ITEM;
  if (t->kind == TERM_LIST) {
    *out = arg_list(k->m->g, t->nargs);
    for (uint32_t i = 0; i < t->nargs; i++)
      if (!make(k, t->args[i], &out->items[i])) return false;
    return true;
  }
  if (!value) return rewrite_eval(k->m, t, out);
  for (uint32_t i = 0; i < k->nmade; i++)
    if (k->made[i].term == t) return *out = arg_node(k->made[i].node), true;
  if (k->nmade == REWRITE_SLOTS_MAX || !make_new(k, t, out)) return false;
  k->made[k->nmade].term = t;
  k->made[k->nmade++].node = out->node;
  return true;
}

static bool same_type(const ValueType *a, const ValueType *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

static void report_type(const Match *m, const Node *n, const ValueType *made) {
  Text was = text_new(m->g->arena), is = text_new(m->g->arena);
  value_type_print(&was, &n->type);
  value_type_print(&is, made);
  diag_error(m->g->diags, m->rule->span, E_REWRITE_TYPE, m->rule->rule, n->name, was.data, is.data);
}

/* NULL: it has another type, or cannot be built, which is reported. */
static Node *build_replacement(const Match *m, Node *n) {
  Maker k = {.b = build_at(m->g, n), .m = m};
  Arg value = arg_none();
  if (setjmp(k.b.in.failed)) {
    diag_note(m->g->diags, m->rule->span, N_REWRITE, m->rule->rule);
    return NULL;
  }
  bool made = make(&k, m->rule->replacement, &value) && value.kind == ARG_NODE;
  if (made && same_type(&value.node->type, &n->type)) return value.node;
  if (made) report_type(m, n, &value.node->type);
  return NULL;
}

/* What a rule of the compiler cannot build is no match. */
static Node *build_quietly(const Match *m, Node *n) {
  Diags *diags = m->g->diags;
  if (m->rule->own) m->g->diags = diags_new(m->g->arena);
  Node *by = build_replacement(m, n);
  m->g->diags = diags;
  return by;
}

/* ---- the rules by the ops of their roots ---- */

static void add_rule(Rewriter *w, Rewrite *rule) {
  for (uint32_t i = 0; i < OP_UNKNOWN; i++)
    if (rewrite_names_op(rule->root, ops_at((OpId)i))) vec_push(w->scratch, &w->by_op[i], rule);
}

/* The user's come first. */
static bool read_rules(Rewriter *w) {
  Graph *g = w->g;
  RewriteList list = {0};
  bool ok = true;
  for (size_t i = 0; i < g->rules.len; i++) ok &= rewrite_read(g, g->rules.data[i], false, &list);
  for (const EmbeddedFile *t = rewrite_files; t->name; t++) {
    /* A name that is no path of the user's. */
    const char *name = arena_printf(g->arena, "<rules of %s>", t->name);
    uint32_t file = diag_source(g->diags, pool_name(g->names, name), t->text, strlen(t->text));
    if (rewrite_read(g, file, true, &list)) continue;
    Text text = text_new(g->arena);
    diag_print(g->diags, &text);
    BUG("%s", text.data);
  }
  w->by_op = ARENA_ARRAY(w->scratch, RewriteList, OP_UNKNOWN);
  for (size_t i = 0; i < list.len; i++) add_rule(w, list.data[i]);
  return ok;
}

/* ---- counts of uses ---- */

static void grow(Rewriter *w, uint32_t id) {
  if (id < w->room) return;
  uint32_t room = 2 * (id + 1);
  w->uses = arena_grow(w->scratch, w->uses, w->room * sizeof *w->uses, room * sizeof *w->uses);
  w->round = arena_grow(w->scratch, w->round, w->room * sizeof *w->round, room * sizeof *w->round);
  w->room = room;
}

static void count_up(Node **use, void *ctx) {
  Rewriter *w = ctx;
  w->uses[(*use)->id]++;
}

typedef struct {
  Rewriter *w;
  VEC(Node *) unused;
} Removal;

static void note_unused(Node **use, void *ctx) {
  Removal *r = ctx;
  if (--r->w->uses[(*use)->id] == 0) vec_push(r->w->scratch, &r->unused, *use);
}

/* n goes, and with it what it alone used. */
static void remove_node(Rewriter *w, Node *n) {
  Removal r = {.w = w};
  vec_push(w->scratch, &r.unused, n);
  while (r.unused.len) {
    Node *x = r.unused.data[--r.unused.len];
    if (x->kind == NODE_INPUT || (x->kind == NODE_CALL && x->op->asserts)) continue;
    graph_each_use(x, note_unused, &r);
    graph_forget_name(w->g, x);
    graph_remove(w->g, x);
  }
}

/* ---- one node ---- */

static void note_match(Rewriter *w, const Match *m, const Node *n) {
  GraphRewrite r = {.rule = m->rule->rule, .node = n->name, .origin = n->origin};
  vec_push(w->g->arena, &w->g->rewrites, r);
}

static void replace(Rewriter *w, const Match *m, Node *n, Node *by, uint32_t first_new) {
  Graph *g = w->g;
  note_match(w, m, n);
  for (Node *x = n->prev; x && x->id >= first_new; x = x->prev) {
    grow(w, x->id);
    graph_each_use(x, count_up, w);
    w->round[x->id] = (uint8_t)(w->round[n->id] + 1);
  }
  w->uses[by->id] += w->uses[n->id];
  w->uses[n->id] = 0;
  replacement_of(&w->replacements, n)->node = by;
  Name name = n->name;
  remove_node(w, n);
  if (by->id < first_new) return;
  graph_forget_name(g, by);
  graph_set_name(g, by, name);
}

/* What was built for a replacement that is none. */
static void forget_new(Rewriter *w, Node *n, uint32_t first_new) {
  for (Node *x = n->prev; x && x->id >= first_new; x = n->prev) {
    graph_forget_name(w->g, x);
    graph_remove(w->g, x);
  }
}

static bool try_rule(Rewriter *w, const Rewrite *rule, Node *n) {
  Match *m = &w->match;
  uint32_t first_new = w->g->nids;
  if (!rewrite_match(m, w->g, rule, w->uses, n)) return false;
  if (w->round[n->id] >= ROUNDS_MAX) {
    diag_error(w->g->diags, rule->span, E_REWRITE_ROUNDS, rule->rule);
    return false;
  }
  Node *by = build_quietly(m, n);
  if (by) replace(w, m, n, by, first_new);
  else forget_new(w, n, first_new);
  return by != NULL;
}

static bool visit(Rewriter *w, Node *n) {
  replacements_apply(&w->replacements, n);
  if (n->kind != NODE_CALL || !w->uses[n->id]) return true;
  size_t errors = diag_errors(w->g->diags);
  const RewriteList *rules = &w->by_op[n->op->id];
  for (size_t i = 0; i < rules->len; i++) {
    bool done = try_rule(w, rules->data[i], n);
    if (diag_errors(w->g->diags) > errors) return false;
    if (done) return true;
  }
  return true;
}

/* ---- the graph ---- */

bool pass_rewrite(Graph *g) {
  if (!graph_functional(g, "rewrite")) return false;
  Arena *scratch = arena_child(g->arena);
  Rewriter w = {.g = g, .scratch = scratch, .replacements = replacements_new(g, scratch)};
  w.room = g->nids;
  w.uses = graph_use_counts(g, scratch);
  w.round = ARENA_ARRAY(scratch, uint8_t, g->nids);
  bool ok = read_rules(&w);
  for (Node *n = g->first, *next; n && ok; n = next) {
    uint32_t first_new = g->nids;
    next = n->next;
    ok = visit(&w, n);
    /* What was made comes next: other rules may match it. */
    for (Node *x = next ? next->prev : NULL; x && x->id >= first_new; x = x->prev) next = x;
  }
  if (ok) graph_dce(g);
  arena_free(scratch);
  return ok;
}
