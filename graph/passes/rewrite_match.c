/* Matching: a list of goals, each a term and the value that it shall stand for, solved one after
 * the other; where operands may be swapped, both orders are tried. */
#include <math.h>
#include <string.h>

#include "graph/passes/rewrite.h"

enum { STEPS_MAX = 5000, GOALS_MAX = 16 };

typedef struct Goal Goal;
struct Goal {
  const Term *term;
  Arg value;
  const Goal *next;
};

static bool solve(Match *m, const Goal *goals);

bool rewrite_names_op(const Term *t, const GraphOp *op) {
  size_t len = strlen(t->op);
  return !strncmp(t->op, op->target, len) && (op->target[len] == '.' || !op->target[len]) &&
         strchr(op->target, '.') && op->schema;
}

/* ---- values ---- */

static bool number_of(const Arg *a, double *out) {
  if (a->kind == ARG_FLOAT) *out = a->number;
  else if (a->kind == ARG_INT && dim_is_int(a->dim)) *out = (double)a->dim->value;
  else return false;
  return true;
}

/* Numbers in files are rounded in many ways. */
static bool near(double x, double y) { return x == y || fabs(x - y) <= 1e-6 * fabs(y); }

static bool equal_values(const Arg *a, const Arg *b) {
  double x, y;
  if (number_of(a, &x) && number_of(b, &y)) return near(x, y);
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
    case SLOT_NUMBER: return number_of(a, &x);
    case SLOT_SIZE:
    case SLOT_INT: return a->kind == ARG_INT;
    case SLOT_BOOL: return a->kind == ARG_BOOL;
    case SLOT_LIST: return a->kind == ARG_LIST;
    case SLOT_ANY: return true;
  }
  return false;
}

/* Sizes of a parameter's type are bound with it, and like it undone. */
static bool bind(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  if (m->is_bound[t->slot]) return equal_values(&m->bound[t->slot], a) && solve(m, rest);
  bool before[REWRITE_SLOTS_MAX];
  memcpy(before, m->is_bound, sizeof before);
  if (arg_fits_slot(m, &m->rule->slots[t->slot], a)) {
    m->is_bound[t->slot] = true;
    m->bound[t->slot] = *a;
    if (solve(m, rest)) return true;
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
static Arg counted(Match *m, const OpParam *p, Arg a, int64_t rank) {
  if (strncmp(p->name, "dim", 3) != 0 || rank == 0) return a;
  if (a.kind == ARG_INT && dim_is_int(a.dim) && a.dim->value < 0)
    return arg_int(m->g, a.dim->value + rank);
  if (a.kind != ARG_LIST) return a;
  Arg list = arg_list(m->g, a.n);
  for (uint32_t i = 0; i < a.n; i++) list.items[i] = counted(m, p, a.items[i], rank);
  return list;
}

static int64_t rank_of_first(const Match *m, const Node *n) {
  Arg self = graph_arg(m->g, n, ops_schema(m->g, n->op)->params[0].name);
  return self.kind == ARG_NODE ? self.node->type.rank : 0;
}

static int parameter(const OpSchema *s, const Term *t, uint32_t i) {
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
    int p = parameter(s, t, i);
    if (p < 0 || p >= 64) return false;
    given |= 1ull << p;
    const OpParam *param = &s->params[p];
    goals[i].term = t->args[from];
    goals[i].value = counted(m, param, graph_arg(m->g, n, param->name), rank);
    goals[i].next = i + 1 < t->nargs ? &goals[i + 1] : rest;
    if (goals[i].term->kind == TERM_LIST || goals[i].term->kind == TERM_LITERAL) {
      Arg own;
      if (rewrite_eval(m, goals[i].term, &own)) {
        own = counted(m, param, own, rank);
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
    if (solve(m, rest)) return true;
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
    if (whole && solve(m, t->nargs ? goals : rest)) return true;
  }
  m->is_bound[t->slot] = false;
  return false;
}

static bool solve_item(Match *m, const Term *t, Node *n, const Goal *rest) {
  if (n->kind != NODE_GETITEM || !equal_values(&n->args[1], &t->literal)) return false;
  Goal list = {t->args[0], n->args[0], rest};
  if (m->is_bound[t->slot]) return m->bound[t->slot].node == n && solve(m, rest);
  m->is_bound[t->slot] = true;
  m->bound[t->slot] = arg_node(n);
  m->times[t->slot] = 1;
  if (solve(m, &list)) return true;
  m->is_bound[t->slot] = false;
  return false;
}

/* ---- casts ---- */

static bool is_cast(const Match *m, const Node *n) {
  bool named = graph_is_any(n, OP_aten_to_device, OP_aten_to_dtype, OP_aten_to_dtype_layout,
                            OP_aten_to_other, OP_aten__to_copy_default, OP_aten_type_as_default);
  return named && rank_of_first(m, n) >= 0;
}

static bool solve_cast(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR) return false;
  Arg dtype = {.kind = ARG_DTYPE, .dtype = a->node->type.dtype};
  Goal same = {t->nargs > 1 ? t->args[1] : NULL, dtype, rest};
  const Goal *then = same.term ? &same : rest;
  if (is_cast(m, a->node)) {
    Goal below = {t->args[0], graph_arg(m->g, a->node, "self"), then};
    DType from = below.value.node->type.dtype;
    bool exact = dtype_represents(dtype.dtype, from);
    if ((exact || t->kind == TERM_NARROW) && solve(m, &below)) return true;
  }
  Goal here = {t->args[0], *a, then};
  return solve(m, &here);
}

/* ---- all goals ---- */

static bool solve_either(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  for (uint32_t i = 0; i < t->nargs; i++) {
    Goal one = {t->args[i], *a, rest};
    if (solve(m, &one)) return true;
  }
  return false;
}

static bool solve_list(Match *m, const Term *t, const Arg *a, const Goal *rest) {
  Goal goals[GOALS_MAX];
  if (a->kind != ARG_LIST || a->n != t->nargs || a->n > GOALS_MAX) return false;
  for (uint32_t i = 0; i < a->n; i++)
    goals[i] = (Goal){t->args[i], a->items[i], i + 1 < a->n ? &goals[i + 1] : rest};
  return solve(m, a->n ? goals : rest);
}

/* Calls within the pattern have no user outside of it, and all asserts hold. */
static bool holds(Match *m) {
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

static bool solve(Match *m, const Goal *goals) {
  if (!goals) return holds(m);
  if (++m->steps > STEPS_MAX) return false;
  const Term *t = goals->term;
  const Arg *a = &goals->value;
  Arg value;
  switch (t->kind) {
    case TERM_SLOT: return bind(m, t, a, goals->next);
    case TERM_ANY: return solve(m, goals->next);
    case TERM_CALL: return a->kind == ARG_NODE && solve_call(m, t, a->node, goals->next);
    case TERM_ITEM: return a->kind == ARG_NODE && solve_item(m, t, a->node, goals->next);
    case TERM_CAST:
    case TERM_NARROW: return solve_cast(m, t, a, goals->next);
    case TERM_EITHER: return solve_either(m, t, a, goals->next);
    case TERM_LIST: return solve_list(m, t, a, goals->next);
    default: return rewrite_eval(m, t, &value) && equal_values(&value, a) && solve(m, goals->next);
  }
}

bool rewrite_match(Match *m, Graph *g, const Rewrite *rule, const uint32_t *uses, Node *n) {
  m->g = g;
  m->rule = rule;
  m->uses = uses;
  m->steps = 0;
  memset(m->is_bound, 0, sizeof m->is_bound);
  memset(m->times, 0, sizeof m->times);
  Goal goal = {rule->root, arg_node(n), NULL};
  return solve(m, &goal);
}
