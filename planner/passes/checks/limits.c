/* Rules of pass check_arguments on numbers, and on sizes of windows, losses and ranges. */
#include <math.h>
#include <string.h>

#include "graph/analysis/numbers.h"
#include "graph/messages.h"
#include "planner/messages.h"
#include "planner/passes/checks/limits.h"

bool limit_number(Build *b, const char *param, double *out) {
  Arg a = build_arg(b, param);
  *out = a.kind == ARG_FLOAT ? a.number : 0;
  if (a.kind != ARG_INT) return a.kind == ARG_FLOAT;
  *out = dim_is_int(a.dim) ? (double)a.dim->value : 0;
  return dim_is_int(a.dim);
}


void limit_unless(Build *b, bool right, const char *param, double v, const char *wanted) {
  if (!right) infer_fail(&b->in, E_GRAPH_LIMITS, param, v, wanted);
}

void limit_alpha(Build *b) {
  double v;
  Arg a = build_arg(b, "alpha");
  if (number_is_of_data(&a) && !b->in.g->unchecked) {
    Node *zero = build_with(b, OP_aten_eq_Scalar, number_tensor(b, &a), build_int(b, 0));
    build_check_data(b, zero, arena_printf(b->in.g->arena, M_GRAPH_ZERO, "alpha"), b->in.n->name);
  }
  if (limit_number(b, "alpha", &v)) limit_unless(b, v != 0, "alpha", v, "other than 0");
}

void limit_probability(Build *b) {
  double v;
  if (limit_number(b, "p", &v)) limit_unless(b, v >= 0 && v <= 1, "p", v, "from 0 to 1");
}

void limit_deviation(Build *b) {
  double v;
  if (limit_number(b, "std", &v)) limit_unless(b, v >= 0, "std", v, "at least 0");
}

/* Draws of distributions: what each needs of its numbers. */
void limit_distribution(Build *b) {
  static const char *const above_0[] = {"lambd", "sigma", "std"};
  double v, to;
  for (int i = 0; i < 3; i++)
    if (infer_takes(&b->in, above_0[i]) && limit_number(b, above_0[i], &v))
      limit_unless(b, v > 0, above_0[i], v, "above 0");
  if (infer_takes(&b->in, "p") && limit_number(b, "p", &v))
    limit_unless(b, v > 0 && v < 1, "p", v, "between 0 and 1");
  if (infer_takes(&b->in, "from") && limit_number(b, "from", &v) && limit_number(b, "to", &to))
    limit_unless(b, v <= to, "from", v, "at most 'to'");
}

void limit_samples(Build *b) {
  double v;
  const ValueType *x = infer_self(&b->in);
  if (!dtype_is_float(x->dtype)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(x->dtype));
  if (!limit_number(b, "num_samples", &v)) return;
  limit_unless(b, v > 0, "num_samples", v, "at least 1");
  if (x->rank && dim_is_int(x->shape[x->rank - 1]) && !infer_bool(&b->in, "replacement"))
    limit_unless(b, v <= (double)x->shape[x->rank - 1]->value, "num_samples", v,
                "no more than there are without replacement");
}

/* Can a number that is drawn be v?  f32 and bf16 have all of 64 bits, rounded; a graph's integers
 * have no more, but a double next to their ends is one of them. */
static bool is_drawn(DType t, double v) {
  if (dtype_is_float(t)) return fabs(v) <= dtype_largest_finite(t);
  double bits = dtype_bits(t);
  bool sign = t != DT_I1 && dtype_is_signed(t);
  bool below = bits == 64 || v < exp2(sign ? bits - 1 : bits);
  return below && v >= (sign ? -exp2(bits - 1) : 0);
}

/* Integers from `least` to below `end`, which is absent if the dtype ends them. */
/* Draws take literals and sizes. */
static void limit_data(Build *b, const char *param) {
  Arg a = infer_takes(&b->in, param) ? build_arg(b, param) : arg_none();
  if (number_is_of_data(&a)) infer_fail(&b->in, E_GRAPH_LITERAL, param, a.node->name);
}

static void limit_drawn(Build *b, const char *least, const char *end) {
  double low = 0, high;
  limit_data(b, least);
  limit_data(b, end);
  DType t = b->in.n->type.dtype;
  bool known = !infer_takes(&b->in, least) || limit_number(b, least, &low);
  if (known) limit_unless(b, is_drawn(t, low), least, low, "in the dtype's range");
  if (!infer_takes(&b->in, end) || !limit_number(b, end, &high)) return;
  if (known) limit_unless(b, low < high, end, high, "above the least number");
  limit_unless(b, is_drawn(t, high - 1), end, high, "in the dtype's range");
}

void limit_range_of_integers(Build *b) { limit_drawn(b, "low", "high"); }

void limit_random(Build *b) { limit_drawn(b, "from", "to"); }

/* Integers to negative powers are fractions. */
void limit_exponent(Build *b) {
  double v;
  if (dtype_is_int(b->in.n->type.dtype) && limit_number(b, "exponent", &v))
    limit_unless(b, v >= 0, "exponent", v, "at least 0 for integers");
}

void limit_levels(Build *b) {
  double least, most, zero;
  bool known = limit_number(b, "quant_min", &least) && limit_number(b, "quant_max", &most);
  if (!known || !limit_number(b, "zero_point", &zero)) return;
  limit_unless(b, least <= most, "quant_min", least, "no more than quant_max");
  limit_unless(b, zero >= least && zero <= most, "zero_point", zero, "from quant_min to quant_max");
}

/* The means and maxima of windows that adapt have kernels for floats. */
void limit_floats(Build *b) {
  DType t = infer_self(&b->in)->dtype;
  if (!dtype_is_float(t)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(t));
}

void limit_trials(Build *b) {
  limit_floats(b);
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "prob"));
}

uint32_t limit_literals(Build *b, const char *param, int64_t *out) {
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
  uint32_t n = limit_literals(b, param, items);
  for (uint32_t i = 0; i < n; i++)
    limit_unless(b, items[i] >= 0, param, (double)items[i], "at least 0");
}

static bool is_nothing(Dim size) { return dim_is_int(size) && size->value == 0; }

void limit_empty(Build *b, const ValueType *x, uint32_t first) {
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
void limit_pool(Build *b) {
  const ValueType *x = infer_self(&b->in);
  limit_empty(b, x, x->rank > window_rank(b) + 1);
}

void limit_pool_of_floats(Build *b) {
  limit_floats(b);
  limit_pool(b);
}

void limit_divisor(Build *b) {
  double v;
  if (limit_number(b, "divisor_override", &v))
    limit_unless(b, v != 0, "divisor_override", v, "other than 0");
  limit_pool(b);
}

void limit_unfolded(Build *b) {
  limit_nonnegative(b, "padding");
  limit_pool(b);
}

/* Nothing is convolved but an empty batch, or no channels. */
static void check_convolved(Build *b, bool transposed) {
  const ValueType *x = infer_self(&b->in), *w = infer_tensor(&b->in, "weight");
  const ValueType *bias = infer_optional_tensor(&b->in, "bias");
  if (w->rank < 3 || x->rank + 2 < w->rank) return;
  limit_empty(b, x, x->rank - (w->rank - 2));
  limit_empty(b, w, transposed ? 1 : 2);
  if (!transposed && is_nothing(w->shape[0]))
    infer_fail(&b->in, E_GRAPH_NO_AXIS, 0, infer_type_text(&b->in, w));
  if (!bias) return;
  Dim channels = w->shape[0];
  if (transposed)
    channels = dim_mul(b->in.g->dims, w->shape[1], build_const(b, infer_int(&b->in, "groups")));
  infer_rank(&b->in, bias, 1, 1);
  infer_same_size(&b->in, bias->shape[0], channels, "the channels of bias and result");
}

void limit_convolved(Build *b) { check_convolved(b, false); }

void limit_window(Build *b) {
  limit_nonnegative(b, "padding");
  check_convolved(b, false);
}

void limit_padding(Build *b) {
  bool transposed = !infer_takes(&b->in, "transposed") || infer_bool(&b->in, "transposed");
  limit_nonnegative(b, "padding");
  limit_nonnegative(b, "output_padding");
  check_convolved(b, transposed);
  if (!transposed) return;
  for (uint32_t i = 0; i + 2 < infer_tensor(&b->in, "weight")->rank; i++) {
    int64_t more = literal_at(b, "output_padding", i), step = literal_at(b, "stride", i);
    int64_t apart = literal_at(b, "dilation", i);
    if (step < 0 || apart < 0) continue;
    limit_unless(b, more < (step > apart ? step : apart), "output_padding", (double)more,
                "below the stride or the dilation");
  }
}

/* The columns are those of all windows, and the rows have a window each. */
void limit_columns(Build *b) {
  limit_nonnegative(b, "padding");
  const ValueType *x = infer_self(&b->in);
  limit_empty(b, x, x->rank - 2);
  Dim rows = x->shape[x->rank - 2];
  int64_t window[2], size[2], step[2], apart[2], padding[2], places = 1;
  if (limit_literals(b, "kernel_size", window) < 2 || limit_literals(b, "output_size", size) < 2 ||
      limit_literals(b, "stride", step) < 2 || limit_literals(b, "dilation", apart) < 2 ||
      limit_literals(b, "padding", padding) < 2)
    return;
  if (dim_is_int(rows) && rows->value % (window[0] * window[1]) != 0)
    infer_fail(&b->in, E_GRAPH_DIVIDE, infer_dim_text(&b->in, rows),
               (long long)(window[0] * window[1]));
  for (int i = 0; i < 2; i++)
    places *= (size[i] + 2 * padding[i] - apart[i] * (window[i] - 1) - 1) / step[i] + 1;
  infer_same_size(&b->in, x->shape[x->rank - 1], build_const(b, places), "numbers of windows");
}

void limit_distance(Build *b) {
  double v;
  if (limit_number(b, "p", &v)) limit_unless(b, v >= 0, "p", v, "at least 0");
}

void limit_bins(Build *b) {
  double bins, least, most;
  if (limit_number(b, "bins", &bins)) limit_unless(b, bins > 0, "bins", bins, "at least 1");
  if (!limit_number(b, "min", &least) || !limit_number(b, "max", &most)) return;
  limit_unless(b, isfinite(least), "min", least, "finite");
  limit_unless(b, isfinite(most), "max", most, "finite");
  limit_unless(b, least <= most, "max", most, "no less than min");
}

/* `range` has a first and a last edge for each axis. */
void limit_bin_ranges(Build *b) {
  Arg range = build_arg(b, "range");
  for (uint32_t i = 0; range.kind == ARG_LIST && i + 1 < range.n; i += 2) {
    const double least = infer_number_of(&b->in, &range.items[i], "range");
    const double most = infer_number_of(&b->in, &range.items[i + 1], "range");
    limit_unless(b, isfinite(least), "range", least, "finite");
    limit_unless(b, isfinite(most), "range", most, "finite");
    limit_unless(b, least <= most, "range", most, "no less than the first edge");
  }
}

/* The factor of an operand of a sum: whole for integers. */
void limit_multiple(Build *b) {
  const ValueType *t = &b->in.n->type;
  if (t->kind == VALUE_LIST && t->nitems) t = t->items;
  if (t->kind != VALUE_TENSOR || t->is_complex || dtype_is_float(t->dtype)) return;
  static const char *const params[] = {"alpha", "beta"};
  for (int i = 0; i < 2; i++) {
    Arg a = infer_takes(&b->in, params[i]) ? build_arg(b, params[i]) : arg_none();
    bool is_float = a.kind == ARG_FLOAT || (number_is_of_data(&a) && number_dtype(&a) == DT_F64);
    if (is_float) infer_fail(&b->in, E_GRAPH_WHOLE, params[i]);
  }
}

void limit_no_bools(Build *b) {
  if (infer_self(&b->in)->dtype == DT_I1) infer_fail(&b->in, E_GRAPH_BOOLS);
}

void limit_bounds(Build *b) {
  double v;
  limit_no_bools(b);
  DType t = infer_self(&b->in)->dtype;
  if (dtype_is_float(t) || dtype_is_signed(t)) return;
  if (limit_number(b, "min_val", &v)) limit_unless(b, v >= 0, "min_val", v, "at least 0");
  if (limit_number(b, "max_val", &v)) limit_unless(b, v >= 0, "max_val", v, "at least 0");
}

/* Losses have kernels for floats, to which one operand may promote the other. */
void limit_loss(Build *b) {
  DType self = infer_self(&b->in)->dtype, target = infer_tensor(&b->in, "target")->dtype;
  if (!dtype_is_float(self) && !dtype_is_float(target))
    infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(self));
}

void limit_loss_of_floats(Build *b) {
  limit_floats(b);
  DType target = infer_tensor(&b->in, "target")->dtype;
  if (!dtype_is_float(target)) infer_fail(&b->in, E_GRAPH_NEEDS_FLOAT, dtype_name(target));
}

void limit_mean_loss(Build *b) {
  if (infer_int(&b->in, "reduction") == 1) limit_loss(b);
}

/* Neither the operand nor the result is empty, but for the batch. */
void limit_resized(Build *b) {
  limit_empty(b, infer_self(&b->in), 1);
  limit_empty(b, &b->in.n->type, 1);
}

/* A range goes to its end.  An ONNX range may be empty. */
void limit_range(Build *b) {
  double start = 0, end, step = 1;
  if (b->in.g->extremes_of_none) return;
  if (!limit_number(b, "end", &end)) return;
  if (infer_takes(&b->in, "start") && !limit_number(b, "start", &start)) return;
  if (infer_takes(&b->in, "step") && !limit_number(b, "step", &step)) return;
  limit_unless(b, step != 0, "step", step, "other than 0");
  bool ends = step > 0 ? start <= end : start >= end;
  limit_unless(b, ends, "end", end, "in the direction of the step");
}

/* Padding repeats elements that are there, and leaves some. */
void limit_padded(Build *b) {
  const ValueType *x = infer_self(&b->in);
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t axes = infer_sizes(&b->in, "padding", sizes) / 2;
  limit_empty(b, x, x->rank > axes + 1);
  limit_empty(b, &b->in.n->type, x->rank - axes);
}

/* Classes of no elements are given. */
void limit_classes(Build *b) {
  double n;
  const ValueType *x = infer_self(&b->in);
  for (uint32_t i = 0; i < x->rank; i++)
    if (is_nothing(x->shape[i]) && limit_number(b, "num_classes", &n))
      limit_unless(b, n > 0, "num_classes", n, "at least 1");
}

void limit_lambda(Build *b) {
  double v;
  if (limit_number(b, "lambd", &v)) limit_unless(b, v >= 0, "lambd", v, "at least 0");
}

void limit_grid_of_one_dtype(Build *b) {
  uint32_t n;
  const ValueType **tensors = infer_tensors(&b->in, "tensors", &n);
  for (uint32_t i = 1; i < n; i++) infer_same_dtype(&b->in, tensors[0], tensors[i]);
}

void limit_one_dtype(Build *b) {
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "values"));
}

void limit_pivots(Build *b) {
  const ValueType *pivots =
      infer_tensor(&b->in, infer_takes(&b->in, "pivots") ? "pivots" : "LU_pivots");
  if (pivots->dtype != DT_I32)
    infer_fail(&b->in, E_GRAPH_DTYPE_WANTED, "i32", infer_type_text(&b->in, pivots));
}

void limit_closeness(Build *b) {
  double v;
  infer_same_dtype(&b->in, infer_self(&b->in), infer_tensor(&b->in, "other"));
  if (limit_number(b, "rtol", &v)) limit_unless(b, v >= 0, "rtol", v, "at least 0");
  if (limit_number(b, "atol", &v)) limit_unless(b, v >= 0, "atol", v, "at least 0");
}

/* A length that PyTorch refuses; the literals of lists alone. */
static void limit_lengths(Build *b, const char *param, Dim most, const char *wanted) {
  Arg a = build_arg(b, param);
  for (uint32_t i = 0; a.kind == ARG_LIST && i < a.n; i++) {
    Dim d = infer_dim_of(&b->in, &a.items[i]);
    if (!dim_is_int(d)) continue;
    limit_unless(b, d->value >= 0, param, (double)d->value, "at least 0");
    bool fits = !most || !dim_is_int(most) || d->value <= most->value;
    limit_unless(b, fits, param, (double)d->value, wanted);
  }
}

/* Steps that there are, labels of which the blank is one, and targets that end where they do. */
void limit_alignment(Build *b) {
  const ValueType *x = infer_tensor(&b->in, "log_probs"), *t = infer_tensor(&b->in, "targets");
  limit_lengths(b, "input_lengths", x->shape[0], "no more than there are steps");
  Dim row = t->rank == 2 ? t->shape[1] : NULL;
  limit_lengths(b, "target_lengths", row, "no more than a row of targets has");
  int64_t blank = infer_int(&b->in, "blank");
  Dim labels = x->shape[x->rank - 1];
  bool known = !dim_is_int(labels) || blank < labels->value;
  limit_unless(b, blank >= 0 && known, "blank", (double)blank, "one of the labels");
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
