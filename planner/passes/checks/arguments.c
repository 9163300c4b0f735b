/* Pass check_arguments: numbers that PyTorch refuses when an operator runs, and the schema allows,
 * are errors.
 *
 * FITS in the operator table, and its kinds, name numbers that are converted to a dtype, which must
 * hold them; LIMITS a rule for other arguments.  Only a model's own nodes are checked,
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

/* The dtype that must hold a number: kernels and eager mode compute 16-bit floats in f32, but some
 * operators of eager mode make the number an element first. */
typedef enum { FIT_COMPUTED, FIT_ELEMENTS, FIT_ON_CPUS } Fit;

static double largest_float(DType t, Fit fit, bool host) {
  bool element = fit == FIT_ELEMENTS || (fit == FIT_ON_CPUS && host);
  return dtype_largest_finite(element ? t : DT_F32);
}

/* The numbers from lo to hi.  An unsigned dtype takes negative integers that it can wrap, and no
 * negative floats. */
typedef struct {
  double lo, hi;
} Held;

static Held held_by(DType t, Fit fit, bool host, bool whole) {
  if (dtype_is_float(t)) {
    double largest = largest_float(t, fit, host);
    return (Held){-largest, largest};
  }
  double bits = dtype_bits(t), hi = exp2(dtype_is_signed(t) ? bits - 1 : bits) - 1;
  return (Held){dtype_is_signed(t) ? -hi - 1 : whole ? -hi : 0, hi};
}

/* Is every number of the kind held, or all that a float which isn't finite could be? */
static bool holds_any(DType t, bool whole) {
  return t == DT_I1 || t == DT_F64 || (whole && dtype_is_int(t) && dtype_bits(t) == 64);
}

/* Is the number an element whose dtype has no number that is out of bounds? */
static bool always_fits(const Arg *a, DType t, const Held *held) {
  if (a->node->type.kind == VALUE_BOOL) return true;
  if (!number_is_item(a->node))
    return number_dtype(a) != DT_F64 && dtype_is_float(t) && held->hi > 0x1p64;
  DType from = a->node->args[0].node->type.dtype;
  if (dtype_is_int(from)) return dtype_is_int(t) ? dtype_represents(t, from) : held->hi > 0x1p64;
  return dtype_is_float(t) && dtype_largest_finite(from) <= held->hi;
}

/* The number is none of the bounds', and for a float dtype it is finite. */
static Node *not_held(Build *b, Node *x, const Held *held, bool to_float) {
  Node *inside = build_and(b, build_with(b, OP_aten_ge_Scalar, x, arg_float(held->lo)),
                           build_with(b, OP_aten_le_Scalar, x, arg_float(held->hi)));
  Node *bad = build_op1(b, OP_aten_logical_not_default, inside);
  return to_float ? build_and(b, bad, build_op1(b, OP_aten_isfinite_default, x)) : bad;
}

/* A check of the data, as those of planner/passes/checks/data.c. */
static void check_data_fits(Build *b, const char *param, const Arg *a, DType t, Fit fit) {
  bool whole = number_dtype(a) != DT_F64;
  Held held = held_by(t, fit, b->in.g->host, whole);
  if (b->in.g->unchecked || holds_any(t, whole) || always_fits(a, t, &held)) return;
  Node *x = build_to(b, number_tensor(b, a), DT_F64);
  build_check_data(b, not_held(b, x, &held, dtype_is_float(t)),
                   arena_printf(b->in.g->arena, M_GRAPH_FITS, param, dtype_name(t)),
                   b->in.n->name);
}

/* Does a CPU of eager mode store the number as the only element, rounded to 16 bits? */
static bool fills_one(const Graph *g, const Node *n, const ValueType *type) {
  static const OpId fills[] = {OP_aten_fill_Scalar, OP_aten_full_default, OP_aten_full_like_default,
                               OP_aten_new_full_default, OP_aten_scalar_tensor_default};
  if (!g->host || !dtype_is_half(type->dtype)) return false;
  for (uint32_t i = 0; i < type->rank; i++)
    if (!dim_is(type->shape[i], 1)) return false;
  for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
    if (n->op->id == fills[i]) return true;
  return false;
}

static void check_fits(Build *b, const char *param, Fit fit) {
  const ValueType *type = &b->in.n->type;
  if (type->kind == VALUE_LIST && type->nitems) type = type->items;
  if (type->kind != VALUE_TENSOR || type->is_complex || fills_one(b->in.g, b->in.n, type)) return;
  Arg a = build_arg(b, param);
  DType t = type->dtype;
  if (number_is_of_data(&a)) check_data_fits(b, param, &a, t, fit);
  double v;
  bool whole = a.kind == ARG_INT; /* of 64 bits itself */
  if (!limit_number(b, param, &v) || holds_any(t, whole)) return;
  if (dtype_is_float(t) && !isfinite(v)) return;
  Held held = held_by(t, fit, b->in.g->host, whole);
  if (!(v >= held.lo && v <= held.hi))
    infer_fail(&b->in, E_GRAPH_FITS_DTYPE, param, v, dtype_name(t));
}

/* ---- all ---- */

typedef struct {
  const char *name; /* NULL: there is none */
  Fit fit;
} FitParam;

static const struct {
  FitParam params[4]; /* the last has no name */
} fits[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {{__VA_ARGS__}},
#define FITS(param) {param, FIT_COMPUTED},
#define FITS_ELEMENTS(param) {param, FIT_ELEMENTS},
#define FITS_ON_CPUS(param) {param, FIT_ON_CPUS},
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
  const FitParam *params = fits[n->op->id].params;
  void (*rule)(Build *b) = NULL;
  for (int i = 0; i < 3; i++) {
    if (!params->name) params = fits[ids[i]].params;
    if (!rule) rule = limits[ids[i]].rule;
  }
  if (!params->name && !rule) return true;
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return false;
  for (; params->name; params++)
    if (infer_takes(&b.in, params->name)) check_fits(&b, params->name, params->fit);
  if (rule) rule(&b);
  return true;
}

bool pass_check_arguments(Graph *g) {
  bool ok = true;
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && !check_node(g, n)) ok = false;
  return ok;
}
