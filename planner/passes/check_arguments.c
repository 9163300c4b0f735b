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

/* Draws of distributions: what each needs of its numbers. */
static void limit_distribution(Build *b) {
  static const char *const above_0[] = {"lambd", "sigma", "std"};
  double v, to;
  for (int i = 0; i < 3; i++)
    if (infer_takes(&b->in, above_0[i]) && read_number(b, above_0[i], &v))
      fail_unless(b, v > 0, above_0[i], v, "above 0");
  if (infer_takes(&b->in, "p") && read_number(b, "p", &v))
    fail_unless(b, v > 0 && v < 1, "p", v, "between 0 and 1");
  if (infer_takes(&b->in, "from") && read_number(b, "from", &v) && read_number(b, "to", &to))
    fail_unless(b, v <= to, "from", v, "at most 'to'");
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

/* Can a number that is drawn be v?  f32 and bf16 have all of 64 bits, rounded; a graph's integers
 * have no more, but a double next to their ends is one of them. */
static bool is_drawn(DType t, double v) {
  if (dtype_is_float(t)) return t != DT_F16 || fabs(v) <= 65504;
  double bits = dtype_bits(t);
  bool sign = t != DT_I1 && dtype_is_signed(t);
  bool below = bits == 64 || v < exp2(sign ? bits - 1 : bits);
  return below && v >= (sign ? -exp2(bits - 1) : 0);
}

/* Integers from `least` to below `end`, which is absent if the dtype ends them. */
static void limit_drawn(Build *b, const char *least, const char *end) {
  double low = 0, high;
  DType t = b->in.n->type.dtype;
  bool known = !infer_takes(&b->in, least) || read_number(b, least, &low);
  if (known) fail_unless(b, is_drawn(t, low), least, low, "in the dtype's range");
  if (!infer_takes(&b->in, end) || !read_number(b, end, &high)) return;
  if (known) fail_unless(b, low < high, end, high, "above the least number");
  fail_unless(b, is_drawn(t, high - 1), end, high, "in the dtype's range");
}

static void limit_range_of_integers(Build *b) { limit_drawn(b, "low", "high"); }

static void limit_random(Build *b) { limit_drawn(b, "from", "to"); }

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

static void limit_trials(Build *b) {
  limit_floats(b);
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "prob"));
}

static void limit_quotients(Build *b) {
  DType t = b->in.n->type.dtype;
  if (!dtype_is_float(t)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(t));
}

/* The literals of a list or an integer; others are left out. */
static uint32_t literals_of(Build *b, const char *param, int64_t *out) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, param, sizes), kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (dim_is_int(sizes[i])) out[kept++] = sizes[i]->value;
  return kept;
}

/* Item i of a list that may have one item for all axes; -1: it is no literal. */
static int64_t literal_at(Build *b, const char *param, uint32_t i) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, param, sizes);
  Dim d = n ? sizes[n == 1 ? 0 : i < n ? i : n - 1] : NULL;
  return d && dim_is_int(d) ? d->value : -1;
}

static void limit_nonnegative(Build *b, const char *param) {
  int64_t items[GRAPH_RANK_MAX];
  uint32_t n = literals_of(b, param, items);
  for (uint32_t i = 0; i < n; i++)
    fail_unless(b, items[i] >= 0, param, (double)items[i], "at least 0");
}

static bool is_nothing(Dim size) { return dim_is_int(size) && size->value == 0; }

/* None of the axes from `first` on is empty. */
static void fail_if_empty(Build *b, const ValueType *x, uint32_t first) {
  for (uint32_t i = first; i < x->rank; i++)
    if (is_nothing(x->shape[i])) infer_fail(&b->in, E_GRAPH_NO_AXIS, i, infer_type_text(&b->in, x));
}

/* How many axes a window has: what one integer in its place is repeated to. */
static uint32_t window_rank(Build *b) {
  const OpSchema *s = b->in.schema;
  int param = ops_param(s, infer_takes(&b->in, "kernel_size") ? "kernel_size" : "output_size");
  return s->params[param].repeat;
}

/* A batch may be empty, and nothing else. */
static void limit_pool(Build *b) {
  const ValueType *x = infer_self(&b->in);
  fail_if_empty(b, x, x->rank > window_rank(b) + 1);
}

static void limit_pool_of_floats(Build *b) {
  limit_floats(b);
  limit_pool(b);
}

static void limit_divisor(Build *b) {
  double v;
  if (read_number(b, "divisor_override", &v))
    fail_unless(b, v != 0, "divisor_override", v, "other than 0");
  limit_pool(b);
}

static void limit_unfolded(Build *b) {
  limit_nonnegative(b, "padding");
  limit_pool(b);
}

/* Nothing is convolved but an empty batch, or no channels. */
static void check_convolved(Build *b, bool transposed) {
  const ValueType *x = infer_self(&b->in), *w = infer_tensor(&b->in, "weight");
  if (w->rank < 3 || x->rank + 2 < w->rank) return;
  fail_if_empty(b, x, x->rank - (w->rank - 2));
  fail_if_empty(b, w, transposed ? 1 : 2);
  if (!transposed && is_nothing(w->shape[0]))
    infer_fail(&b->in, E_GRAPH_NO_AXIS, 0, infer_type_text(&b->in, w));
}

static void limit_convolved(Build *b) { check_convolved(b, false); }

static void limit_window(Build *b) {
  limit_nonnegative(b, "padding");
  check_convolved(b, false);
}

static void limit_padding(Build *b) {
  bool transposed = !infer_takes(&b->in, "transposed") || infer_bool(&b->in, "transposed");
  limit_nonnegative(b, "padding");
  check_convolved(b, transposed);
  if (!transposed) return;
  limit_nonnegative(b, "output_padding");
  for (uint32_t i = 0; i + 2 < infer_tensor(&b->in, "weight")->rank; i++) {
    int64_t more = literal_at(b, "output_padding", i), step = literal_at(b, "stride", i);
    int64_t apart = literal_at(b, "dilation", i);
    if (step < 0 || apart < 0) continue;
    fail_unless(b, more < (step > apart ? step : apart), "output_padding", (double)more,
                "below the stride or the dilation");
  }
}

/* The columns are those of all windows, and the rows have a window each. */
static void limit_columns(Build *b) {
  limit_nonnegative(b, "padding");
  const ValueType *x = infer_self(&b->in);
  Dim rows = x->shape[x->rank - 2];
  int64_t window[2], size[2], step[2], apart[2], padding[2], places = 1;
  if (literals_of(b, "kernel_size", window) < 2 || literals_of(b, "output_size", size) < 2 ||
      literals_of(b, "stride", step) < 2 || literals_of(b, "dilation", apart) < 2 ||
      literals_of(b, "padding", padding) < 2)
    return;
  if (dim_is_int(rows) && rows->value % (window[0] * window[1]) != 0)
    infer_fail(&b->in, E_GRAPH_DIVIDE, infer_dim_text(&b->in, rows),
               (long long)(window[0] * window[1]));
  for (int i = 0; i < 2; i++)
    places *= (size[i] + 2 * padding[i] - apart[i] * (window[i] - 1) - 1) / step[i] + 1;
  infer_same_size(&b->in, x->shape[x->rank - 1], build_const(b, places), "numbers of windows");
}

static void limit_distance(Build *b) {
  double v;
  if (read_number(b, "p", &v)) fail_unless(b, v >= 0, "p", v, "at least 0");
}

static void limit_bins(Build *b) {
  double bins, least, most;
  if (read_number(b, "bins", &bins)) fail_unless(b, bins > 0, "bins", bins, "at least 1");
  if (!read_number(b, "min", &least) || !read_number(b, "max", &most)) return;
  fail_unless(b, isfinite(least), "min", least, "finite");
  fail_unless(b, isfinite(most), "max", most, "finite");
  fail_unless(b, least <= most, "max", most, "no less than min");
}

/* `range` has a first and a last edge for each axis. */
static void limit_bin_ranges(Build *b) {
  Arg range = build_arg(b, "range");
  for (uint32_t i = 0; range.kind == ARG_LIST && i + 1 < range.n; i += 2) {
    const double least = infer_number_of(&b->in, &range.items[i], "range");
    const double most = infer_number_of(&b->in, &range.items[i + 1], "range");
    fail_unless(b, isfinite(least), "range", least, "finite");
    fail_unless(b, isfinite(most), "range", most, "finite");
    fail_unless(b, least <= most, "range", most, "no less than the first edge");
  }
}

/* The factor of an operand of a sum: whole for integers. */
static void limit_multiple(Build *b) {
  const ValueType *t = &b->in.n->type;
  if (t->kind == VALUE_LIST && t->nitems) t = t->items;
  if (t->kind != VALUE_TENSOR || t->is_complex || dtype_is_float(t->dtype)) return;
  static const char *const params[] = {"alpha", "beta"};
  for (int i = 0; i < 2; i++) {
    double v;
    if (infer_takes(&b->in, params[i]) && build_arg(b, params[i]).kind == ARG_FLOAT &&
        read_number(b, params[i], &v))
      fail_unless(b, false, params[i], v, "an integer where the operands are");
  }
}

static void limit_no_bools(Build *b) {
  if (infer_self(&b->in)->dtype == DT_I1) infer_fail(&b->in, E_GRAPH_BOOLS);
}

static void limit_bounds(Build *b) {
  double v;
  limit_no_bools(b);
  DType t = infer_self(&b->in)->dtype;
  if (dtype_is_float(t) || dtype_is_signed(t)) return;
  if (read_number(b, "min_val", &v)) fail_unless(b, v >= 0, "min_val", v, "at least 0");
  if (read_number(b, "max_val", &v)) fail_unless(b, v >= 0, "max_val", v, "at least 0");
}

/* Losses have kernels for floats, to which one operand may promote the other. */
static void limit_loss(Build *b) {
  DType self = infer_self(&b->in)->dtype, target = infer_tensor(&b->in, "target")->dtype;
  if (!dtype_is_float(self) && !dtype_is_float(target))
    infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(self));
}

static void limit_loss_of_floats(Build *b) {
  limit_floats(b);
  DType target = infer_tensor(&b->in, "target")->dtype;
  if (!dtype_is_float(target)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(target));
}

static void limit_loss_of_one_dtype(Build *b) {
  limit_floats(b);
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "target"));
}

static void limit_mean_loss(Build *b) {
  if (infer_int(&b->in, "reduction") == 1) limit_loss(b);
}

/* Sizes that are given beside the tensor whose sizes they are. */
static void limit_groups(Build *b) {
  const ValueType *x = infer_self(&b->in);
  Dim n = infer_size(&b->in, "N"), channels = infer_size(&b->in, "C");
  int64_t groups = infer_int(&b->in, "group");
  Dim all[] = {n, channels, infer_size(&b->in, "HxW")};
  infer_same_size(&b->in, value_numel(b->in.g, x), infer_product(&b->in, all, 3), "elements");
  fail_unless(b, groups > 0, "group", (double)groups, "at least 1");
  infer_exact_div(&b->in, channels, groups);
  static const char *const scales[] = {"weight", "bias"};
  for (int i = 0; i < 2; i++) {
    const ValueType *scale = infer_optional_tensor(&b->in, scales[i]);
    if (scale) infer_same_size(&b->in, value_numel(b->in.g, scale), channels, "channels");
  }
}

/* Neither the operand nor the result is empty, but for the batch. */
static void limit_resized(Build *b) {
  fail_if_empty(b, infer_self(&b->in), 1);
  fail_if_empty(b, &b->in.n->type, 1);
}

/* A range goes to its end.  One of ONNX may be empty. */
static void limit_range(Build *b) {
  double start = 0, end, step = 1;
  if (b->in.g->extremes_of_none) return;
  if (!read_number(b, "end", &end)) return;
  if (infer_takes(&b->in, "start") && !read_number(b, "start", &start)) return;
  if (infer_takes(&b->in, "step") && !read_number(b, "step", &step)) return;
  fail_unless(b, step != 0, "step", step, "other than 0");
  bool ends = step > 0 ? start <= end : start >= end;
  fail_unless(b, ends, "end", end, "in the direction of the step");
}

static void limit_grid_of_batch(Build *b) {
  Dim sizes[GRAPH_RANK_MAX];
  infer_sizes(&b->in, "size", sizes);
  infer_same_size(&b->in, infer_self(&b->in)->shape[0], sizes[0], "sizes of the batch");
}

/* Padding repeats elements that are there. */
static void limit_padded(Build *b) {
  const ValueType *x = infer_self(&b->in);
  Dim sizes[GRAPH_RANK_MAX];
  fail_if_empty(b, x, x->rank > infer_sizes(&b->in, "padding", sizes) / 2 + 1);
}

static void limit_lambda(Build *b) {
  double v;
  if (read_number(b, "lambd", &v)) fail_unless(b, v >= 0, "lambd", v, "at least 0");
}

static void limit_grid_of_one_dtype(Build *b) {
  uint32_t n;
  const ValueType **tensors = infer_tensors(&b->in, "tensors", &n);
  for (uint32_t i = 1; i < n; i++) infer_same_dtype(&b->in, tensors[0], tensors[i]);
}

static void limit_one_dtype(Build *b) {
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "values"));
}

static void limit_pivots(Build *b) {
  const ValueType *pivots =
      infer_tensor(&b->in, infer_takes(&b->in, "pivots") ? "pivots" : "LU_pivots");
  if (pivots->dtype != DT_I32)
    infer_fail(&b->in, E_GRAPH_DTYPE_WANTED, "i32", infer_type_text(&b->in, pivots));
}

static void limit_closeness(Build *b) {
  double v;
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "other"));
  if (read_number(b, "rtol", &v)) fail_unless(b, v >= 0, "rtol", v, "at least 0");
  if (read_number(b, "atol", &v)) fail_unless(b, v >= 0, "atol", v, "at least 0");
}

/* A length that PyTorch refuses; the literals of lists alone. */
static void limit_lengths(Build *b, const char *param, Dim most, const char *wanted) {
  Arg a = build_arg(b, param);
  for (uint32_t i = 0; a.kind == ARG_LIST && i < a.n; i++) {
    Dim d = infer_dim_of(&b->in, &a.items[i]);
    if (!dim_is_int(d)) continue;
    fail_unless(b, d->value >= 0, param, (double)d->value, "at least 0");
    bool fits = !most || !dim_is_int(most) || d->value <= most->value;
    fail_unless(b, fits, param, (double)d->value, wanted);
  }
}

/* Steps that there are, labels of which the blank is one, and targets that end where they do. */
static void limit_alignment(Build *b) {
  const ValueType *x = infer_tensor(&b->in, "log_probs"), *t = infer_tensor(&b->in, "targets");
  limit_lengths(b, "input_lengths", x->shape[0], "no more than there are steps");
  Dim row = t->rank == 2 ? t->shape[1] : NULL;
  limit_lengths(b, "target_lengths", row, "no more than a row of targets has");
  int64_t blank = infer_int(&b->in, "blank");
  Dim labels = x->shape[x->rank - 1];
  bool known = !dim_is_int(labels) || blank < labels->value;
  fail_unless(b, blank >= 0 && known, "blank", (double)blank, "one of the labels");
  Arg lengths = build_arg(b, "target_lengths");
  if (t->rank != 1 || lengths.kind != ARG_LIST) return;
  int64_t all = 0;
  for (uint32_t i = 0; i < lengths.n; i++) {
    Dim d = infer_dim_of(&b->in, &lengths.items[i]);
    if (!dim_is_int(d)) return;
    all += d->value;
  }
  infer_same_size(&b->in, t->shape[0], build_const(b, all), "the targets and their lengths");
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
