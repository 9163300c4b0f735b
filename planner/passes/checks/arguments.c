/* Pass check_arguments: numbers that PyTorch refuses when an operator runs, and the schema allows,
 * are errors.
 *
 * FITS in the operator table names numbers that are converted to the dtype that is computed in,
 * which must hold them; LIMITS a rule for other arguments.  Only a model's own nodes are checked,
 * as the pass runs before operators are rewritten. */
#include <math.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/numbers.h"
#include "graph/messages.h"
#include "planner/messages.h"
#include "planner/passes.h"
#include "planner/passes/checks/limits.h"

/* ---- numbers that a dtype can hold ---- */

/* 16-bit floats are computed in f32.  An unsigned dtype takes negative numbers that it can wrap. */
static bool holds_integer(DType t, double v) {
  double bits = dtype_bits(t);
  double end = exp2(dtype_is_signed(t) ? bits - 1 : bits);
  return trunc(v) < end && (dtype_is_signed(t) ? trunc(v) >= -end : trunc(v) > -end);
}

static bool holds(DType t, double v) {
  if (t == DT_I1) return true;
  if (dtype_is_int(t)) return holds_integer(t, v);
  return t == DT_F64 || !isfinite(v) || fabs(v) <= 3.4028234663852886e38;
}

/* Is the number an element whose dtype has no number that t can't hold? */
static bool always_fits(const Arg *a, DType t) {
  if (a->node->type.kind == VALUE_BOOL || t == DT_I1) return true;
  if (!number_is_item(a->node)) return number_dtype(a) != DT_F64 && !dtype_is_int(t);
  DType from = a->node->args[0].node->type.dtype;
  if (dtype_is_int(t)) return dtype_is_int(from) && dtype_represents(t, from);
  return from != DT_F64;
}

static Node *between(Build *b, Node *x, double lo, double hi) {
  return build_and(b, build_with(b, OP_aten_gt_Scalar, x, arg_float(lo)),
                   build_with(b, OP_aten_lt_Scalar, x, arg_float(hi)));
}

/* Numbers of data, as holds() has those that are known. */
static Node *held(Build *b, Node *x, DType t) {
  if (dtype_is_int(t)) {
    double bits = dtype_bits(t), end = exp2(dtype_is_signed(t) ? bits - 1 : bits);
    return between(b, x, dtype_is_signed(t) ? -end - 1 : -end, end);
  }
  Node *large = build_with(b, OP_aten_gt_Scalar, build_op1(b, OP_aten_abs_default, x),
                           arg_float(3.4028234663852886e38));
  Node *finite = between(b, x, -INFINITY, INFINITY);
  return build_op1(b, OP_aten_logical_not_default, build_and(b, large, finite));
}

/* A check of the data, as those of planner/passes/checks/data.c. */
static void check_data_fits(Build *b, const char *param, const Arg *a, DType t) {
  bool whole = number_dtype(a) == DT_I64 && dtype_is_int(t) && dtype_bits(t) == 64;
  if (b->in.g->unchecked || whole || t == DT_F64 || always_fits(a, t)) return;
  Node *x = build_to(b, number_tensor(b, a), DT_F64);
  Node *bad = build_op1(b, OP_aten_logical_not_default, held(b, x, t));
  build_check_data(b, bad, arena_printf(b->in.g->arena, M_GRAPH_FITS, param, dtype_name(t)),
                   b->in.n->name);
}

static void check_fits(Build *b, const char *param) {
  const ValueType *t = &b->in.n->type;
  if (t->kind == VALUE_LIST && t->nitems) t = t->items;
  if (t->kind != VALUE_TENSOR || t->is_complex) return;
  Arg a = build_arg(b, param);
  if (number_is_of_data(&a)) check_data_fits(b, param, &a, t->dtype);
  double v;
  if (!limit_number(b, param, &v)) return;
  bool whole = build_arg(b, param).kind == ARG_INT; /* of 64 bits itself */
  if (whole && dtype_is_int(t->dtype) && dtype_bits(t->dtype) == 64) return;
  if (!holds(t->dtype, v)) infer_fail(&b->in, E_GRAPH_FITS_DTYPE, param, v, dtype_name(t->dtype));
}

/* ---- all ---- */

static const struct {
  const char *params[4]; /* the last is NULL */
} fits[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {{__VA_ARGS__}},
#define FITS(param) param,
#include "graph/ops/op_table.def"
};

static const struct {
  void (*rule)(Build *b);
} limits[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define LIMITS(rule) limit_##rule
#include "graph/ops/op_table.def"
};

/* The rules are the operator's own, or of the one that does not write in place, or of the one that
 * it is another name of. */
static bool check_node(Graph *g, Node *n) {
  const GraphOp *pure = n->op->functional ? n->op->functional : n->op;
  const OpId ids[] = {n->op->id, pure->id, ops_renamed(pure)->id};
  const char *const *params = fits[n->op->id].params;
  void (*rule)(Build *b) = NULL;
  for (int i = 0; i < 3; i++) {
    if (!*params) params = fits[ids[i]].params;
    if (!rule) rule = limits[ids[i]].rule;
  }
  if (!*params && !rule) return true;
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  for (; *params; params++)
    if (infer_takes(&b.in, *params)) check_fits(&b, *params);
  if (rule) rule(&b);
  return true;
}

bool pass_check_arguments(Graph *g) {
  bool ok = true;
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && !check_node(g, n)) ok = false;
  return ok;
}
