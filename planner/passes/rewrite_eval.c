/* Values of terms: numbers, dtypes, shapes and lists, from a match's bindings. */
#include <math.h>
#include <string.h>

#include "graph/builders/node_builder.h"
#include "planner/passes/rewrite.h"

static bool eval_number(const Arg *a, double *out) {
  if (a->kind == ARG_FLOAT) *out = a->number;
  else if (a->kind == ARG_INT && dim_is_int(a->dim)) *out = (double)a->dim->value;
  else return false;
  return true;
}

/* ---- arithmetic ---- */

/* Computes with sizes, which may be symbolic. */
static bool of_sizes(Dims *d, AstOp op, Dim a, Dim b, Arg *out) {
  switch (op) {
    case OP_ADD: *out = arg_dim(dim_add(d, a, b)); return true;
    case OP_SUB: *out = arg_dim(dim_sub(d, a, b)); return true;
    case OP_MUL: *out = arg_dim(dim_mul(d, a, b)); return true;
    case OP_FLOORDIV:
    case OP_MOD:
      if (dim_is(b, 0)) return false;
      *out = arg_dim(op == OP_MOD ? dim_mod(d, a, b) : dim_floordiv(d, a, b));
      return true;
    default: return false;
  }
}

static bool of_numbers(AstOp op, double a, double b, Arg *out) {
  switch (op) {
    case OP_ADD: *out = arg_float(a + b); return true;
    case OP_SUB: *out = arg_float(a - b); return true;
    case OP_MUL: *out = arg_float(a * b); return true;
    case OP_DIV: *out = arg_float(a / b); return b != 0;
    case OP_POW: *out = arg_float(pow(a, b)); return true;
    default: return false;
  }
}

static bool eval_scalar(const Match *m, const Term *t, Arg *out) {
  Arg a, b = arg_int(m->g, 0);
  double x, y;
  if (!rewrite_eval(m, t->args[0], &a)) return false;
  if (t->nargs > 1 && !rewrite_eval(m, t->args[1], &b)) return false;
  if (t->nargs == 1) {
    if (t->operator!= OP_NEG) return false;
    if (a.kind == ARG_INT) return of_sizes(m->g->dims, OP_SUB, b.dim, a.dim, out);
    return eval_number(&a, &x) && of_numbers(OP_SUB, 0, x, out);
  }
  bool whole = a.kind == ARG_INT && b.kind == ARG_INT;
  if (whole && of_sizes(m->g->dims, t->operator, a.dim, b.dim, out)) return true;
  return eval_number(&a, &x) && eval_number(&b, &y) && of_numbers(t->operator, x, y, out);
}

/* ---- conditions ---- */

static bool same_values(const Match *m, const Arg *a, const Arg *b) {
  double x, y;
  if (eval_number(a, &x) && eval_number(b, &y)) return x == y;
  if (a->kind != b->kind) return false;
  if (a->kind == ARG_INT) return a->dim == b->dim;
  if (a->kind == ARG_DTYPE) return a->dtype == b->dtype;
  if (a->kind == ARG_BOOL) return a->flag == b->flag;
  if (a->kind == ARG_STRING) return !strcmp(a->name, b->name);
  if (a->kind != ARG_LIST) return a->kind == ARG_NONE || a->node == b->node;
  bool equal = a->n == b->n;
  for (uint32_t i = 0; equal && i < a->n; i++) equal = same_values(m, &a->items[i], &b->items[i]);
  return equal;
}

static bool at_most(const Match *m, const Arg *a, const Arg *b) {
  double x, y;
  if (eval_number(a, &x) && eval_number(b, &y)) return x <= y;
  return a->kind == ARG_INT && b->kind == ARG_INT && dim_at_most(m->g->dims, a->dim, b->dim);
}

static bool list_contains(const Match *m, const Arg *list, const Arg *a) {
  for (uint32_t i = 0; list->kind == ARG_LIST && i < list->n; i++)
    if (same_values(m, &list->items[i], a)) return true;
  return false;
}

static bool eval_comparison(const Match *m, const Term *t, Arg *out) {
  Arg a, b;
  if (!rewrite_eval(m, t->args[0], &a) || !rewrite_eval(m, t->args[1], &b)) return false;
  bool equal = same_values(m, &a, &b);
  switch (t->operator) {
    case OP_EQ:
    case OP_IS: *out = arg_bool(equal); return true;
    case OP_NE:
    case OP_IS_NOT: *out = arg_bool(!equal); return true;
    case OP_LE: *out = arg_bool(at_most(m, &a, &b)); return true;
    case OP_GE: *out = arg_bool(at_most(m, &b, &a)); return true;
    case OP_LT: *out = arg_bool(!equal && at_most(m, &a, &b)); return true;
    case OP_GT: *out = arg_bool(!equal && at_most(m, &b, &a)); return true;
    case OP_IN: *out = arg_bool(list_contains(m, &b, &a)); return true;
    case OP_NOT_IN: *out = arg_bool(!list_contains(m, &b, &a)); return true;
    default: return false;
  }
}

/* Python's `and` and `or` of conditions. */
static bool eval_junction(const Match *m, const Term *t, Arg *out) {
  bool all = t->kind == TERM_AND;
  for (uint32_t i = 0; i < t->nargs; i++) {
    if (!rewrite_eval(m, t->args[i], out) || out->kind != ARG_BOOL) return false;
    if (out->flag != all) return true;
  }
  *out = arg_bool(all);
  return true;
}

/* ---- what tensors are ---- */

static bool eval_attribute(const Match *m, const Term *t, Arg *out) {
  const Term *of = t->args[0];
  if (of->kind != TERM_SLOT && of->kind != TERM_CALL && of->kind != TERM_ITEM) return false;
  if (!m->is_bound[of->slot] || m->bound[of->slot].kind != ARG_NODE) return false;
  const ValueType *type = &m->bound[of->slot].node->type;
  if (t->kind == TERM_SHAPE) *out = arg_dims(m->g, type->rank, type->shape);
  else if (t->kind == TERM_RANK) *out = arg_int(m->g, type->rank);
  else *out = arg_dtype(type->dtype);
  return type->kind == VALUE_TENSOR;
}

static bool eval_index(const Match *m, const Term *t, Arg *out) {
  Arg list, at;
  if (!rewrite_eval(m, t->args[0], &list) || !rewrite_eval(m, t->args[1], &at)) return false;
  if (list.kind != ARG_LIST || at.kind != ARG_INT || !dim_is_int(at.dim)) return false;
  int64_t i = at.dim->value < 0 ? at.dim->value + (int64_t)list.n : at.dim->value;
  if (i < 0 || i >= list.n) return false;
  *out = list.items[i];
  return true;
}

static bool eval_list(const Match *m, const Term *t, Arg *out) {
  *out = arg_list(m->g, t->nargs);
  for (uint32_t i = 0; i < t->nargs; i++)
    if (!rewrite_eval(m, t->args[i], &out->items[i])) return false;
  return true;
}

bool rewrite_eval(const Match *m, const Term *t, Arg *out) {
  switch (t->kind) {
    case TERM_LITERAL: *out = t->literal; return true;
    case TERM_SLOT: *out = m->bound[t->slot]; return m->is_bound[t->slot];
    case TERM_LIST: return eval_list(m, t, out);
    case TERM_SCALAR: return eval_scalar(m, t, out);
    case TERM_COMPARE: return eval_comparison(m, t, out);
    case TERM_AND:
    case TERM_OR: return eval_junction(m, t, out);
    case TERM_NOT:
      if (!rewrite_eval(m, t->args[0], out) || out->kind != ARG_BOOL) return false;
      out->flag = !out->flag;
      return true;
    case TERM_DTYPE:
    case TERM_SHAPE:
    case TERM_RANK: return eval_attribute(m, t, out);
    case TERM_INDEX: return eval_index(m, t, out);
    default: return false;
  }
}
