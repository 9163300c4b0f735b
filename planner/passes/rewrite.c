/* Pass rewrite: rules are applied where their patterns match, in one walk. */
#include "planner/passes/rewrite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "planner/messages.h"
#include "planner/passes.h"
#include "planner/passes/rewrites.h"

/* ---- matching ----
 *
 * A list of goals, each a term and the value that it shall stand for, solved one after the other;
 * where operands may be swapped, both orders are tried. */

enum { STEPS_MAX = 5000, GOALS_MAX = 16 };

typedef struct Goal Goal;
struct Goal {
  const Term *term;
  Arg value;
  const Goal *next;
};

static bool solve_goals(Match *m, const Goal *goals);

/* ---- values ---- */

static bool arg_number(const Arg *a, double *out) {
  if (a->kind == ARG_FLOAT) *out = a->number;
  else if (a->kind == ARG_INT && dim_is_int(a->dim)) *out = (double)a->dim->value;
  else return false;
  return true;
}

/* Numbers in files are rounded in many ways. */
static bool near(double x, double y) { return x == y || fabs(x - y) <= 1e-6 * fabs(y); }

static bool equal_values(const Arg *a, const Arg *b) {
  double x, y;
  if (arg_number(a, &x) && arg_number(b, &y)) return near(x, y);
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case ARG_NONE: return true;
    case ARG_NODE: return a->node == b->node;
    case ARG_INT: return a->dim == b->dim;
    case ARG_BOOL: return a->flag == b->flag;
    case ARG_STRING: return !strcmp(a->name, b->name);
    case ARG_DTYPE: return a->dtype == b->dtype;
    case ARG_LIST:
      if (a->n != b->n) return false;
      for (uint32_t i = 0; i < a->n; i++)
        if (!equal_values(&a->items[i], &b->items[i])) return false;
      return true;
    default: return false;
  }
}

/* ---- slots ---- */

static bool type_fits(Match *m, const SlotType *want, const ValueType *t) {
  if (want->dtype != DT_NONE && t->dtype != want->dtype) return false;
  if (want->floats && !dtype_is_float(t->dtype)) return false;
  if (want->ints && (dtype_is_float(t->dtype) || t->dtype == DT_I1)) return false;
  if (!want->shaped) return true;
  if (t->rank < want->rank || (t->rank > want->rank && !want->open)) return false;
  for (uint32_t i = 0; i < want->rank; i++) {
    const Term *axis = want->shape[i];
    Arg size = arg_dim(t->shape[t->rank - want->rank + i]), old = axis->literal;
    if (axis->kind == TERM_SLOT && !m->is_bound[axis->slot]) {
      m->is_bound[axis->slot] = true;
      m->bound[axis->slot] = size;
      continue;
    }
    if (axis->kind == TERM_SLOT) old = m->bound[axis->slot];
    if (!equal_values(&old, &size)) return false;
  }
  return true;
}

static bool arg_fits_slot(Match *m, const RewriteSlot *slot, const Arg *a) {
  double x;
  bool tensor = a->kind == ARG_NODE && a->node->type.kind == VALUE_TENSOR;
  switch (slot->kind) {
    case SLOT_TENSOR: return tensor && type_fits(m, &slot->type, &a->node->type);
    case SLOT_NUMBER: return arg_number(a, &x);
    case SLOT_SIZE:
    case SLOT_INT: return a->kind == ARG_INT;
    case SLOT_BOOL: return a->kind == ARG_BOOL;
    case SLOT_LIST: return a->kind == ARG_LIST;
    case SLOT_ANY: return true;
  }
  return false;
}

/* Sizes of a parameter's type are bound with it, and like it undone. */
static bool bind_term(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  if (m->is_bound[t->slot]) return equal_values(&m->bound[t->slot], a) && solve_goals(m, rest);
  bool before[REWRITE_SLOTS_MAX];
  memcpy(before, m->is_bound, sizeof before);
  if (arg_fits_slot(m, &m->rule->slots[t->slot], a)) {
    m->is_bound[t->slot] = true;
    m->bound[t->slot] = *a;
    if (solve_goals(m, rest)) return true;
  }
  memcpy(m->is_bound, before, sizeof before);
  return false;
}

/* ---- calls ---- */

static bool matters(const OpParam *p) {
  return p->type != PARAM_DEVICE && p->type != PARAM_LAYOUT && p->type != PARAM_FORMAT &&
         strcmp(p->name, "pin_memory") != 0 && strcmp(p->name, "cudnn_enable") != 0;
}

/* Axes count from the front, whatever the call says. */
static Arg axis_from_front(Match *m, const OpParam *p, Arg a, int64_t rank) {
  if (strncmp(p->name, "dim", 3) != 0 || rank == 0) return a;
  if (a.kind == ARG_INT && dim_is_int(a.dim) && a.dim->value < 0)
    return arg_int(m->g, a.dim->value + rank);
  if (a.kind != ARG_LIST) return a;
  Arg list = arg_list(m->g, a.n);
  for (uint32_t i = 0; i < a.n; i++) list.items[i] = axis_from_front(m, p, a.items[i], rank);
  return list;
}

static int64_t rank_of_first(const Match *m, const Node *n) {
  Arg self = graph_arg(m->g, n, ops_schema(m->g, n->op)->params[0].name);
  return self.kind == ARG_NODE ? self.node->type.rank : 0;
}

static int term_parameter(const OpSchema *s, const Term *t, uint32_t i) {
  if (t->names[i]) return ops_param(s, t->names[i]);
  return i < s->npositional ? (int)i : -1;
}

/* The goals that n's arguments are the term's; false if one that is not written is not its
 * parameter's default. */
static bool add_goals(Match *m, const Term *t, const Node *n, bool swapped, Goal *goals,
                      const Goal *rest) {
  const OpSchema *s = ops_schema(m->g, n->op);
  uint64_t given = 0;
  int64_t rank = s->nparams ? rank_of_first(m, n) : 0;
  for (uint32_t i = 0; i < t->nargs; i++) {
    uint32_t from = swapped && i < 2 ? 1 - i : i;
    int p = term_parameter(s, t, i);
    if (p < 0 || p >= 64) return false;
    given |= 1ull << p;
    const OpParam *param = &s->params[p];
    goals[i].term = t->args[from];
    goals[i].value = axis_from_front(m, param, graph_arg(m->g, n, param->name), rank);
    goals[i].next = i + 1 < t->nargs ? &goals[i + 1] : rest;
    if (goals[i].term->kind == TERM_LIST || goals[i].term->kind == TERM_LITERAL) {
      Arg own;
      if (rewrite_eval(m, goals[i].term, &own)) {
        own = axis_from_front(m, param, own, rank);
        if (!equal_values(&own, &goals[i].value)) return false;
        static const Term any = {.kind = TERM_ANY};
        goals[i].term = &any;
      }
    }
  }
  for (uint32_t p = 0; p < s->nparams && p < 64; p++) {
    if (given >> p & 1 || !matters(&s->params[p])) continue;
    Arg a = graph_arg(m->g, n, s->params[p].name);
    if (!s->params[p].has_default || !equal_values(&a, &s->params[p].dflt)) return false;
  }
  return true;
}

static bool solve_call(Match *m, const Term *t, Node *n, const Goal *rest) {
  if (m->is_bound[t->slot]) {
    if (m->bound[t->slot].node != n) return false;
    m->times[t->slot]++;
    if (solve_goals(m, rest)) return true;
    m->times[t->slot]--;
    return false;
  }
  if (n->kind != NODE_CALL || !rewrite_names_op(t, n->op) || t->nargs > GOALS_MAX) return false;
  m->is_bound[t->slot] = true;
  m->bound[t->slot] = arg_node(n);
  m->times[t->slot] = 1;
  for (int swapped = 0; swapped <= (t->nargs == 2 && n->op->commutes); swapped++) {
    Goal goals[GOALS_MAX];
    bool whole = add_goals(m, t, n, swapped, goals, rest);
    if (whole && solve_goals(m, t->nargs ? goals : rest)) return true;
  }
  m->is_bound[t->slot] = false;
  return false;
}

static bool solve_item(Match *m, const Term *t, Node *n, const Goal *rest) {
  if (n->kind != NODE_GETITEM || !equal_values(&n->args[1], &t->literal)) return false;
  Goal list = {t->args[0], n->args[0], rest};
  if (m->is_bound[t->slot]) return m->bound[t->slot].node == n && solve_goals(m, rest);
  m->is_bound[t->slot] = true;
  m->bound[t->slot] = arg_node(n);
  m->times[t->slot] = 1;
  if (solve_goals(m, &list)) return true;
  m->is_bound[t->slot] = false;
  return false;
}

/* ---- casts ---- */

static bool is_cast_to_operand(const Match *m, const Node *n) {
  bool named = graph_is_any(n, OP_aten_to_device, OP_aten_to_dtype, OP_aten_to_dtype_layout,
                            OP_aten_to_other, OP_aten__to_copy_default, OP_aten_type_as_default);
  return named && rank_of_first(m, n) >= 0;
}

static bool solve_cast(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR) return false;
  Arg dtype = {.kind = ARG_DTYPE, .dtype = a->node->type.dtype};
  Goal same = {t->nargs > 1 ? t->args[1] : NULL, dtype, rest};
  const Goal *then = same.term ? &same : rest;
  if (is_cast_to_operand(m, a->node)) {
    Goal below = {t->args[0], graph_arg(m->g, a->node, "self"), then};
    DType from = below.value.node->type.dtype;
    bool exact = dtype_represents(dtype.dtype, from);
    if ((exact || t->kind == TERM_NARROW) && solve_goals(m, &below)) return true;
  }
  Goal here = {t->args[0], *a, then};
  return solve_goals(m, &here);
}

/* ---- all goals ---- */

static bool solve_either(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  for (uint32_t i = 0; i < t->nargs; i++) {
    Goal one = {t->args[i], *a, rest};
    if (solve_goals(m, &one)) return true;
  }
  return false;
}

static bool solve_list(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  Goal goals[GOALS_MAX];
  if (a->kind != ARG_LIST || a->n != t->nargs || a->n > GOALS_MAX) return false;
  for (uint32_t i = 0; i < a->n; i++)
    goals[i] = (Goal){t->args[i], a->items[i], i + 1 < a->n ? &goals[i + 1] : rest};
  return solve_goals(m, a->n ? goals : rest);
}

/* Calls within the pattern have no user outside of it, and all asserts hold. */
static bool conditions_hold(Match *m) {
  const Rewrite *rule = m->rule;
  for (uint32_t i = 0; i < rule->nslots; i++) {
    if (!m->times[i] || !m->is_bound[i] || i == rule->root->slot) continue;
    if (m->uses[m->bound[i].node->id] > m->times[i]) return false;
  }
  for (uint32_t i = 0; i < rule->nasserts; i++) {
    Arg value;
    if (!rewrite_eval(m, rule->asserts[i], &value) || value.kind != ARG_BOOL || !value.flag)
      return false;
  }
  return true;
}

static bool solve_goals(Match *m, const Goal *goals) {
  if (!goals) return conditions_hold(m);
  if (++m->steps > STEPS_MAX) return false;
  const Term *t = goals->term;
  const Arg *a = &goals->value;
  Arg value;
  switch (t->kind) {
    case TERM_SLOT: return bind_term(m, t, a, goals->next);
    case TERM_ANY: return solve_goals(m, goals->next);
    case TERM_CALL: return a->kind == ARG_NODE && solve_call(m, t, a->node, goals->next);
    case TERM_ITEM: return a->kind == ARG_NODE && solve_item(m, t, a->node, goals->next);
    case TERM_CAST:
    case TERM_NARROW: return solve_cast(m, t, a, goals->next);
    case TERM_EITHER: return solve_either(m, t, a, goals->next);
    case TERM_LIST: return solve_list(m, t, a, goals->next);
    default:
      return rewrite_eval(m, t, &value) && equal_values(&value, a) && solve_goals(m, goals->next);
  }
}

/* Does the rule match the value of n?  Then m->bound has what slots stand for. */
static bool rewrite_match(Match *m, Graph *g, const Rewrite *rule, const uint32_t *uses, Node *n) {
  m->g = g;
  m->rule = rule;
  m->uses = uses;
  m->steps = 0;
  memset(m->is_bound, 0, sizeof m->is_bound);
  memset(m->times, 0, sizeof m->times);
  Goal goal = {rule->root, arg_node(n), NULL};
  return solve_goals(m, &goal);
}

enum { ROUNDS_MAX = 20 }; /* of rules on nodes that rules made */

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

static bool make_arg(Maker *k, const Term *t, Arg *out);

/* The named overload, if it takes as many operands as are given. */
static const GraphOp *overload_for(Graph *g, const Term *t, const char *target) {
  const GraphOp *op = ops_find(target);
  return op && t->nargs <= ops_schema(g, op)->nparams ? op : NULL;
}

/* The op of a call without its overload: the first that takes what is given. */
static const GraphOp *term_op(Graph *g, const Term *t) {
  static const char *const overloads[] = {".default", ".Tensor", ".int", ".dim", ".self"};
  char name[128];
  const GraphOp *op = ops_find(t->op);
  for (size_t i = 0; !op && i < sizeof overloads / sizeof *overloads; i++) {
    int len = snprintf(name, sizeof name, "%s%s", t->op, overloads[i]);
    if (len >= 0 && (size_t)len < sizeof name) op = overload_for(g, t, name);
  }
  return op;
}

/* aten.pow of a number has an overload of its own. */
static const GraphOp *op_for(Graph *g, const Term *t, const Arg *args) {
  const GraphOp *power = ops_at(OP_aten_pow_Tensor_Scalar);
  bool is_power = t->nargs == 2 && args[1].kind != ARG_NODE && rewrite_names_op(t, power);
  return is_power ? power : term_op(g, t);
}

static bool make_call(Maker *k, const Term *t, Arg *out) {
  Arg args[REWRITE_SLOTS_MAX];
  NamedArg named[REWRITE_SLOTS_MAX];
  uint32_t nargs = 0, nnamed = 0;
  if (t->nargs > REWRITE_SLOTS_MAX) return false;
  for (uint32_t i = 0; i < t->nargs; i++) {
    Arg value;
    if (!make_arg(k, t->args[i], &value)) return false;
    if (t->names[i]) named[nnamed++] = (NamedArg){t->names[i], value};
    else args[nargs++] = value;
  }
  const GraphOp *op = op_for(k->m->g, t, args);
  if (!op) return false;
  *out = arg_node(build_with_all(&k->b, op->id, nargs, args, nnamed, named));
  return true;
}

static bool make_cast(Maker *k, const Term *t, Arg *out) {
  Arg x, dtype;
  if (!make_arg(k, t->args[0], &x) || x.kind != ARG_NODE) return false;
  if (!rewrite_eval(k->m, t->args[1], &dtype) || dtype.kind != ARG_DTYPE) return false;
  *out = arg_node(build_to(&k->b, x.node, dtype.dtype));
  return true;
}

static bool make_item(Maker *k, const Term *t, Arg *out) {
  Arg list;
  if (!make_arg(k, t->args[0], &list) || list.kind != ARG_NODE || !dim_is_int(t->literal.dim))
    return false;
  *out = arg_node(build_item(&k->b, list.node, (uint32_t)t->literal.dim->value));
  return true;
}

static bool make_new(Maker *k, const Term *t, Arg *out) {
  if (t->kind == TERM_CALL) return make_call(k, t, out);
  return t->kind == TERM_CAST ? make_cast(k, t, out) : make_item(k, t, out);
}

static bool make_arg(Maker *k, const Term *t, Arg *out) {
  bool value = t->kind == TERM_CALL || t->kind == TERM_CAST || t->kind == TERM_ITEM;
  if (t->kind == TERM_LIST) {
    *out = arg_list(k->m->g, t->nargs);
    for (uint32_t i = 0; i < t->nargs; i++)
      if (!make_arg(k, t->args[i], &out->items[i])) return false;
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

static bool has_same_type(const ValueType *a, const ValueType *b) {
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
  bool made = make_arg(&k, m->rule->replacement, &value) && value.kind == ARG_NODE;
  if (made && has_same_type(&value.node->type, &n->type)) return value.node;
  if (made) report_type(m, n, &value.node->type);
  return NULL;
}

/* A replacement that a rule of the compiler cannot build is no match. */
static Node *build_quietly(const Match *m, Node *n) {
  Diags *diags = m->g->diags;
  if (m->rule->own) m->g->diags = diags_new(m->g->arena);
  Node *by = build_replacement(m, n);
  m->g->diags = diags;
  return by;
}

/* ---- the rules by the ops of their roots ---- */

static void rewriter_add_rule(Rewriter *w, Rewrite *rule) {
  OpRange named = ops_named(rule->root->op);
  for (uint32_t i = named.first; i < named.end; i++)
    if (rewrite_names_op(rule->root, ops_at((OpId)i))) vec_push(w->scratch, &w->by_op[i], rule);
}

static const char *what_was_told(Graph *g) {
  Text text = text_new(g->arena);
  diag_print(g->diags, &text);
  return text.data;
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
    bool read = rewrite_read(g, file, true, &list);
    BUG_IF(!read, "%s", what_was_told(g));
  }
  w->by_op = ARENA_ARRAY(w->scratch, RewriteList, OP_UNKNOWN);
  for (size_t i = 0; i < list.len; i++) rewriter_add_rule(w, list.data[i]);
  return ok;
}

/* ---- counts of uses ---- */

static void grow_counts(Rewriter *w, uint32_t id) {
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

static void replace_match(Rewriter *w, const Match *m, Node *n, Node *by, uint32_t first_new) {
  Graph *g = w->g;
  note_match(w, m, n);
  for (Node *x = n->prev; x && x->id >= first_new; x = x->prev) {
    grow_counts(w, x->id);
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

/* Removes the nodes of a replacement that was given up. */
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
  if (by) replace_match(w, m, n, by, first_new);
  else forget_new(w, n, first_new);
  return by != NULL;
}

static bool rewrite_node(Rewriter *w, Node *n) {
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
    ok = rewrite_node(&w, n);
    /* The new nodes come next: other rules may match them. */
    for (Node *x = next ? next->prev : NULL; x && x->id >= first_new; x = x->prev) next = x;
  }
  if (ok) graph_dce(g);
  arena_free(scratch);
  return ok;
}
