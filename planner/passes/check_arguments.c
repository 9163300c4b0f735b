/* Pass check_arguments: numbers that PyTorch refuses when an operator runs, and the schema allows,
 * are errors.
 *
 * FITS in the operator table names numbers that are converted to the dtype that is computed in,
 * which must hold them; LIMITS a rule for other arguments.  Only a model's own nodes are checked,
 * as the pass runs before operators are rewritten. */
#include <math.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/messages.h"
#include "planner/messages.h"
#include "planner/passes.h"

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

/* A literal; false: a tensor, a size, or None. */
static bool read_number(Build *b, const char *param, double *out) {
  Arg a = build_arg(b, param);
  *out = a.kind == ARG_FLOAT ? a.number : 0;
  if (a.kind != ARG_INT) return a.kind == ARG_FLOAT;
  *out = dim_is_int(a.dim) ? (double)a.dim->value : 0;
  return dim_is_int(a.dim);
}

static void check_fits(Build *b, const char *param) {
  const ValueType *t = &b->in.n->type;
  if (t->kind == VALUE_LIST && t->nitems) t = t->items;
  double v;
  if (t->kind != VALUE_TENSOR || t->is_complex || !read_number(b, param, &v)) return;
  bool whole = build_arg(b, param).kind == ARG_INT; /* of 64 bits itself */
  if (whole && dtype_is_int(t->dtype) && dtype_bits(t->dtype) == 64) return;
  if (!holds(t->dtype, v)) infer_fail(&b->in, E_GRAPH_FITS_DTYPE, param, v, dtype_name(t->dtype));
}

/* ---- other arguments ---- */

static void fail_unless(Build *b, bool right, const char *param, double v, const char *wanted) {
  if (!right) infer_fail(&b->in, E_GRAPH_LIMITS, param, v, wanted);
}

static void limit_alpha(Build *b) {
  double v;
  if (read_number(b, "alpha", &v)) fail_unless(b, v != 0, "alpha", v, "other than 0");
}

static void limit_probability(Build *b) {
  double v;
  if (read_number(b, "p", &v)) fail_unless(b, v >= 0 && v <= 1, "p", v, "from 0 to 1");
}

static void limit_deviation(Build *b) {
  double v;
  if (read_number(b, "std", &v)) fail_unless(b, v >= 0, "std", v, "at least 0");
}

static void limit_divisor(Build *b) {
  double v;
  if (read_number(b, "divisor_override", &v))
    fail_unless(b, v != 0, "divisor_override", v, "other than 0");
}

static void limit_samples(Build *b) {
  double v;
  const ValueType *x = infer_self(&b->in);
  if (!dtype_is_float(x->dtype)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(x->dtype));
  if (!read_number(b, "num_samples", &v)) return;
  fail_unless(b, v > 0, "num_samples", v, "at least 1");
  if (x->rank && dim_is_int(x->shape[x->rank - 1]) && !infer_bool(&b->in, "replacement"))
    fail_unless(b, v <= (double)x->shape[x->rank - 1]->value, "num_samples", v,
                "no more than there are without replacement");
}

static void limit_range_of_integers(Build *b) {
  double low = 0, high;
  DType t = b->in.n->type.dtype;
  if (!read_number(b, "high", &high)) return;
  if (infer_takes(&b->in, "low") && !read_number(b, "low", &low)) return;
  fail_unless(b, low < high, "high", high, "above the least number");
  if (!dtype_is_int(t) || dtype_bits(t) == 64) return;
  fail_unless(b, holds(t, high - 1), "high", high, "in the dtype's range");
  fail_unless(b, holds(t, low), "low", low, "in the dtype's range");
}

/* Integers to negative powers are fractions. */
static void limit_exponent(Build *b) {
  double v;
  if (dtype_is_int(b->in.n->type.dtype) && read_number(b, "exponent", &v))
    fail_unless(b, v >= 0, "exponent", v, "at least 0 for integers");
}

static void limit_levels(Build *b) {
  double least, most, zero;
  bool known = read_number(b, "quant_min", &least) && read_number(b, "quant_max", &most);
  if (!known || !read_number(b, "zero_point", &zero)) return;
  fail_unless(b, least <= most, "quant_min", least, "no more than quant_max");
  fail_unless(b, zero >= least && zero <= most, "zero_point", zero, "from quant_min to quant_max");
}

/* The means and maxima of windows that adapt have kernels for floats. */
static void limit_floats(Build *b) {
  DType t = infer_self(&b->in)->dtype;
  if (!dtype_is_float(t)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(t));
}

static void limit_quotients(Build *b) {
  DType t = b->in.n->type.dtype;
  if (!dtype_is_float(t)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(t));
}

/* Item i of a list that may have one item for all axes; -1: it is no literal. */
static int64_t literal_at(Build *b, const char *param, uint32_t i) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, param, sizes);
  Dim d = n ? sizes[n == 1 ? 0 : i < n ? i : n - 1] : NULL;
  return d && dim_is_int(d) ? d->value : -1;
}

static void limit_padding(Build *b) {
  if (infer_takes(&b->in, "transposed") && !infer_bool(&b->in, "transposed")) return;
  for (uint32_t i = 0; i + 2 < infer_tensor(&b->in, "weight")->rank; i++) {
    int64_t more = literal_at(b, "output_padding", i), step = literal_at(b, "stride", i);
    int64_t apart = literal_at(b, "dilation", i);
    if (step < 0 || apart < 0) continue;
    fail_unless(b, more < (step > apart ? step : apart), "output_padding", (double)more,
                "below the stride or the dilation");
  }
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

static bool check_node(Graph *g, Node *n) {
  OpId own = n->op->id, renamed = ops_renamed(n->op)->id;
  const char *const *params = fits[fits[own].params[0] ? own : renamed].params;
  void (*rule)(Build *b) = limits[limits[own].rule ? own : renamed].rule;
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
