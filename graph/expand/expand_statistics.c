/* Expansions of statistics, integrals and derivatives of samples. */
#include <math.h>
#include <string.h>

#include "graph/expand/expansion.h"
#include "graph/messages.h"

static Node *number(Build *b, double v, DType t) { return build_full(b, 0, NULL, arg_float(v), t); }
static Node *times(Build *b, Node *x, double v) {
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(v));
}
static Node *logical_not(Build *b, Node *x) { return build_op1(b, OP_aten_logical_not_default, x); }
static Node *is_nan(Build *b, Node *x) { return build_op1(b, OP_aten_isnan_default, x); }

/* ---- counts and means ---- */

Node *expand_count_nonzero(Build *b) {
  Node *x = build_self(b);
  uint32_t set = infer_axes_arg(&b->in, "dim", rank_of(x));
  Node *other = build_with(b, OP_aten_ne_Scalar, x, build_int(b, 0));
  return build_sum(b, build_to(b, other, DT_I64), set, false);
}

Node *expand_nanmean(Build *b) {
  Node *x = build_self(b);
  Arg args[] = {arg_node(x), build_arg(b, "dim"), build_arg(b, "keepdim")};
  Arg dtype = build_arg(b, "dtype");
  Node *sum = build_with_named(b, OP_aten_nansum_default, 3, args, "dtype", dtype);
  args[0] = arg_node(build_to(b, logical_not(b, is_nan(b, x)), sum->type.dtype));
  return build_div(b, sum, build(b, OP_aten_sum_dim_IntList, 3, args));
}

/* Is each element one of those? */
static Node *is_among(Build *b) {
  if (infer_takes(&b->in, "element"))
    return build_op1(
        b, OP_aten_any_default,
        build_with(b, OP_aten_eq_Scalar, build_input(b, "test_elements"), build_arg(b, "element")));
  Node *x = build_input(b, "elements");
  if (infer_takes(&b->in, "test_element"))
    return build_with(b, OP_aten_eq_Scalar, x, build_arg(b, "test_element"));
  Node *among = build_input(b, "test_elements");
  Dim n = value_numel(b->in.g, &among->type);
  Node *same = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, x, rank_of(x)),
                         build_view(b, among, 1, &n));
  return build(b, OP_aten_any_dim, ARGS(arg_node(same), build_int(b, -1)));
}

Node *expand_isin(Build *b) {
  Node *y = is_among(b);
  return infer_bool(&b->in, "invert") ? logical_not(b, y) : y;
}

Node *expand_isreal(Build *b) {
  Node *x = build_self(b);
  if (!x->type.is_complex) return build_op2(b, OP_aten_eq_Tensor, x, x);
  return build_with(b, OP_aten_eq_Scalar, build_op1(b, OP_aten_imag_default, x), build_int(b, 0));
}

/* ---- covariance ---- */

/* Weights of observations, times `w`. */
static Node *weighted(Build *b, Node *w, const char *param, DType t) {
  Node *more = build_input(b, param);
  if (!more) return w;
  more = build_to(b, more, t);
  return w ? build_mul(b, w, more) : more;
}

/* What the sum of products is divided by: never less than 0. */
static Node *degrees_of_freedom(Build *b, Node *weights, Dim n, DType t) {
  double correction = (double)infer_int(&b->in, "correction");
  Node *all =
      weights ? build_op1(b, OP_aten_sum_default, weights) : build_full(b, 0, NULL, arg_dim(n), t);
  Node *lost = number(b, correction, t), *analytic = build_input(b, "aweights");
  if (analytic) {
    Node *squares = build_mul(b, weights, build_to(b, analytic, t));
    squares = build_op1(b, OP_aten_sum_default, squares);
    lost = times(b, build_div(b, squares, all), correction);
  }
  return build_with(b, OP_aten_clamp_min_default, build_sub(b, all, lost), build_int(b, 0));
}

/* Variables are rows, observations columns. */
Node *expand_cov(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 0, 2);
  if (!dtype_is_float(x->type.dtype)) x = build_to(b, x, DT_F32);
  x = build_lead(b, x, 2);
  DType t = x->type.dtype;
  Dim n = x->type.shape[1];
  Node *weights = weighted(b, weighted(b, NULL, "fweights", t), "aweights", t);
  Node *by = degrees_of_freedom(b, weights, n, t);
  Node *sum = build_sum(b, weights ? build_mul(b, x, weights) : x, 2, true);
  Node *all =
      weights ? build_op1(b, OP_aten_sum_default, weights) : build_full(b, 0, NULL, arg_dim(n), t);
  Node *apart = build_sub(b, x, build_div(b, sum, all));
  Node *other = weights ? build_mul(b, apart, weights) : apart;
  if (x->type.is_complex) other = build_op1(b, OP_aten_conj_default, other);
  Node *products = build_op2(b, OP_aten_mm_default, apart, build_transpose(b, other, 0, 1));
  return build_squeeze(b, build_div(b, products, by), 3);
}

Node *expand_corrcoef(Build *b) {
  Node *c = build_op1(b, OP_aten_cov_default, build_self(b));
  if (!rank_of(c)) return build_div(b, c, c);
  Node *deviation = build_op1(b, OP_aten_sqrt_default, build_op1(b, OP_aten_diagonal_default, c));
  c = build_div(b, build_div(b, c, build_unsqueeze(b, deviation, 1)), deviation);
  return build(b, OP_aten_clamp_default, ARGS(arg_node(c), build_int(b, -1), build_int(b, 1)));
}

/* ---- quantiles ---- */

typedef struct {
  Node *sorted; /* rows along the last axis */
  Node *rank;   /* of each row and quantile, as a float between elements */
} Quantiles;

/* Elements number floor(rank) or ceil(rank) of each row. */
static Node *element_at(Build *b, const Quantiles *q, OpId rounding) {
  Node *at = rounding == OP_UNKNOWN ? q->rank : build_op1(b, rounding, q->rank);
  uint32_t last = rank_of(q->sorted) - 1;
  Dim end = dim_sub(build_dims(b), q->sorted->type.shape[last], build_const(b, 1));
  at = build(b, OP_aten_clamp_default,
             ARGS(arg_node(build_to(b, at, DT_I64)), build_int(b, 0), arg_dim(end)));
  return build(b, OP_aten_gather_default,
               ARGS(arg_node(q->sorted), build_int(b, last), arg_node(at)));
}

static Node *interpolated(Build *b, const Quantiles *q) {
  Name how = infer_string(&b->in, "interpolation");
  if (!strcmp(how, "lower")) return element_at(b, q, OP_aten_floor_default);
  if (!strcmp(how, "higher")) return element_at(b, q, OP_aten_ceil_default);
  if (!strcmp(how, "nearest")) return element_at(b, q, OP_aten_round_default);
  Node *low = element_at(b, q, OP_aten_floor_default);
  Node *high = element_at(b, q, OP_aten_ceil_default);
  Node *share = strcmp(how, "midpoint")
                    ? build_sub(b, q->rank, build_op1(b, OP_aten_floor_default, q->rank))
                    : number(b, 0.5, q->rank->type.dtype);
  return build(b, OP_aten_lerp_Tensor,
               ARGS(arg_node(low), arg_node(high),
                    arg_node(build_expand(b, share, rank_of(low), low->type.shape))));
}

/* The last axis is the one that quantiles are of. */
static Node *axis_last(Build *b, Node *x) {
  if (infer_has(&b->in, "dim")) {
    if (!rank_of(x)) return build_unsqueeze(b, x, 0);
    uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
    return build(b, OP_aten_movedim_int, ARGS(arg_node(x), build_int(b, axis), build_int(b, -1)));
  }
  Dim n = value_numel(b->in.g, &x->type);
  return build_view(b, x, 1, &n);
}

/* The quantiles are the first axis, if there are several; the reduced axis may be kept. */
static Node *quantiles_first(Build *b, Node *y, const Node *x, bool several) {
  uint32_t last = rank_of(y) - 1;
  Node *at = several ? build(b, OP_aten_movedim_int,
                             ARGS(arg_node(y), build_int(b, last), build_int(b, 0)))
                     : build_squeeze(b, y, 1u << last);
  if (!infer_bool(&b->in, "keepdim")) return at;
  if (infer_has(&b->in, "dim") && rank_of(x))
    return build_unsqueeze(b, at, infer_axis_arg(&b->in, "dim", rank_of(x)) + several);
  for (uint32_t i = 0; !infer_has(&b->in, "dim") && i < rank_of(x); i++)
    at = build_unsqueeze(b, at, several);
  return at;
}

static Node *quantile(Build *b, bool skips_nan) {
  Node *x = build_self(b), *rows = axis_last(b, x);
  DType t = rows->type.dtype;
  infer_need_float(&b->in, t);
  Arg q = build_arg(b, "q");
  Node *at = q.kind == ARG_NODE ? q.node : build_full(b, 0, NULL, q, t);
  infer_rank(&b->in, &at->type, 0, 1);
  bool several = rank_of(at) == 1;
  if (!several) at = build_unsqueeze(b, at, 0);
  uint32_t last = rank_of(rows) - 1;
  Node *list = build(b, OP_aten_sort_default, ARGS(arg_node(rows), build_int(b, last)));
  Node *nan = is_nan(b, rows);
  Node *count = build_sum(b, build_to(b, logical_not(b, nan), t), 1u << last, true);
  Node *most = build_with(b, OP_aten_sub_Tensor, count, build_int(b, 1));
  Quantiles found = {build_item(b, list, 0), build_mul(b, at, most)};
  Node *y = interpolated(b, &found);
  Arg any[] = {arg_node(nan), build_int(b, last), arg_bool(true)};
  Node *undefined = skips_nan ? build_with(b, OP_aten_eq_Scalar, count, build_int(b, 0))
                              : build(b, OP_aten_any_dim, 3, any);
  y = build_where(b, undefined, arg_node(number(b, NAN, t)), arg_node(y));
  return quantiles_first(b, y, x, several);
}

Node *expand_quantile(Build *b) { return quantile(b, false); }
Node *expand_nanquantile(Build *b) { return quantile(b, true); }

/* ---- integrals ---- */

/* All elements but the first, or the last, `n` along an axis. */
static Node *without(Build *b, Node *x, uint32_t axis, int64_t first, int64_t last) {
  Arg end = last ? build_int(b, -last) : arg_none();
  return build(b, OP_aten_slice_Tensor,
               ARGS(arg_node(x), build_int(b, axis), build_int(b, first), end));
}

/* A vector along an axis of that rank, others of one element. */
static Node *vector_along(Build *b, Node *v, uint32_t axis, uint32_t rank) {
  return build_lead(b, build_along(b, v, axis, rank), rank);
}

static Node *steps_along(Build *b, Node *x, uint32_t axis) {
  return build_sub(b, without(b, x, axis, 1, 0), without(b, x, axis, 0, 1));
}

/* The areas between neighbours along an axis. */
static Node *trapezoids(Build *b, uint32_t *axis) {
  Node *y = build_input(b, "y");
  *axis = infer_axis_arg(&b->in, "dim", rank_of(y));
  infer_rank(&b->in, &y->type, 1, GRAPH_RANK_MAX);
  Node *sums = build_add(b, without(b, y, *axis, 1, 0), without(b, y, *axis, 0, 1));
  if (infer_takes(&b->in, "dx")) {
    double dx = infer_number(&b->in, "dx");
    return times(b, sums, dx / 2);
  }
  Node *x = build_input(b, "x");
  infer_rank(&b->in, &x->type, 1, rank_of(y));
  x = rank_of(x) == 1 ? vector_along(b, x, *axis, rank_of(y)) : build_lead(b, x, rank_of(y));
  return times(b, build_mul(b, sums, steps_along(b, x, *axis)), 0.5);
}

Node *expand_trapezoid(Build *b) {
  uint32_t axis;
  Node *areas = trapezoids(b, &axis);
  return build_sum(b, areas, 1u << axis, false);
}

Node *expand_cumulative_trapezoid(Build *b) {
  uint32_t axis;
  Node *areas = trapezoids(b, &axis);
  return build_with(b, OP_aten_cumsum_default, areas, build_int(b, axis));
}

/* ---- derivatives by differences ---- */

typedef struct {
  Node *x;
  uint32_t axis;
  Node *steps; /* between neighbours, along the axis; NULL: all are `step` */
  double step;
} Samples;

static Node *neighbour(Build *b, const Samples *s, int64_t i, int64_t of) {
  return without(b, s->x, s->axis, i, of - 1 - i);
}

static Node *at_edge(Build *b, const Samples *s, bool last, int64_t i) {
  Arg start = build_int(b, last ? -1 - i : i), end = build_int(b, i + 1);
  if (last) end = i ? build_int(b, -i) : arg_none();
  return build(b, OP_aten_slice_Tensor, ARGS(arg_node(s->x), build_int(b, s->axis), start, end));
}

static Node *step_at_edge(Build *b, const Samples *s, bool last, int64_t i) {
  if (!s->steps) return NULL;
  Samples steps = {.x = s->steps, .axis = s->axis};
  return at_edge(b, &steps, last, i);
}

static Node *inner_slopes(Build *b, const Samples *s) {
  Node *before = neighbour(b, s, 0, 3), *here = neighbour(b, s, 1, 3);
  Node *after = neighbour(b, s, 2, 3);
  if (!s->steps) return times(b, build_sub(b, after, before), 0.5 / s->step);
  Node *h1 = without(b, s->steps, s->axis, 0, 1), *h2 = without(b, s->steps, s->axis, 1, 0);
  Node *both = build_add(b, h1, h2);
  Node *left = build_div(b, h2, build_mul(b, h1, both));
  Node *right = build_div(b, h1, build_mul(b, h2, both));
  Node *middle = build_div(b, build_sub(b, h2, h1), build_mul(b, h1, h2));
  Node *y = build_sub(b, build_mul(b, here, middle), build_mul(b, before, left));
  return build_add(b, y, build_mul(b, after, right));
}

static Node *first_order_slope(Build *b, const Samples *s, bool last) {
  Node *near = at_edge(b, s, last, 0), *next = at_edge(b, s, last, 1);
  Node *rise = last ? build_sub(b, near, next) : build_sub(b, next, near);
  Node *step = step_at_edge(b, s, last, 0);
  return step ? build_div(b, rise, step) : times(b, rise, 1 / s->step);
}

/* The slope at the end of a parabola through three samples. */
static Node *second_order_slope(Build *b, const Samples *s, bool last) {
  Node *x0 = at_edge(b, s, last, 0), *x1 = at_edge(b, s, last, 1), *x2 = at_edge(b, s, last, 2);
  double sign = last ? -1 : 1;
  if (!s->steps) {
    Node *y = build_sub(b, times(b, x1, 2), times(b, x0, 1.5));
    return times(b, build_sub(b, y, times(b, x2, 0.5)), sign / s->step);
  }
  Node *h1 = step_at_edge(b, s, last, 0), *h2 = step_at_edge(b, s, last, 1);
  Node *both = build_add(b, h1, h2);
  Node *near = build_div(b, build_add(b, h1, both), build_mul(b, h1, both));
  Node *next = build_div(b, both, build_mul(b, h1, h2));
  Node *far = build_div(b, h1, build_mul(b, h2, both));
  Node *y = build_sub(b, build_mul(b, x1, next), build_mul(b, x0, near));
  return times(b, build_sub(b, y, build_mul(b, x2, far)), sign);
}

static Node *slopes(Build *b, const Samples *s) {
  int64_t order = infer_int(&b->in, "edge_order");
  Node *(*edge)(Build *, const Samples *, bool) =
      order == 2 ? second_order_slope : first_order_slope;
  Node *parts[] = {edge(b, s, false), inner_slopes(b, s), edge(b, s, true)};
  return build_cat(b, 3, parts, s->axis);
}

/* The spacing of axis number i of those that are differentiated: a number, or coordinates. */
static void set_spacing(Build *b, Samples *s, uint32_t i) {
  s->step = 1;
  if (!infer_takes(&b->in, "spacing") || !infer_has(&b->in, "spacing")) return;
  Arg spacing = build_arg(b, "spacing");
  bool list = spacing.kind == ARG_LIST;
  if (list && !spacing.n) infer_fail(&b->in, E_GRAPH_EMPTY_LIST);
  Arg a = list ? spacing.items[i < spacing.n ? i : spacing.n - 1] : spacing;
  if (a.kind == ARG_NODE)
    s->steps = steps_along(b, vector_along(b, a.node, s->axis, rank_of(s->x)), s->axis);
  else s->step = infer_number_of(&b->in, &a, "spacing");
}

Node *expand_gradient(Build *b) {
  Node *x = build_self(b);
  Arg dim = infer_takes(&b->in, "dim") ? build_arg(b, "dim") : arg_none();
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = rank_of(x);
  for (uint32_t i = 0; i < n; i++) dims[i] = i;
  if (dim.kind == ARG_INT) dims[0] = infer_int(&b->in, "dim"), n = 1;
  if (dim.kind == ARG_LIST) n = infer_ints(&b->in, "dim", dims);
  b->nitems = n;
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, n ? n : 1);
  for (uint32_t i = 0; i < n; i++) {
    Samples s = {.x = x, .axis = infer_axis(&b->in, dims[i], rank_of(x))};
    set_spacing(b, &s, i);
    b->items[i] = slopes(b, &s);
  }
  return NULL;
}

/* ---- the gamma function of several dimensions ---- */

Node *expand_mvlgamma(Build *b) {
  enum { MOST = 1 << 10 };
  Node *x = build_self(b), *sum = NULL;
  int64_t p = infer_int(&b->in, "p");
  if (p < 1 || p > MOST) infer_fail(&b->in, E_GRAPH_PARTS, (long long)p, (int)MOST);
  for (int64_t i = 0; i < p; i++) {
    Node *at = build_with(b, OP_aten_sub_Tensor, x, arg_float((double)i / 2));
    Node *y = build_op1(b, OP_aten_lgamma_default, at);
    sum = sum ? build_add(b, sum, y) : y;
  }
  double rest = (double)p * (double)(p - 1) / 4 * 1.1447298858494002; /* log(pi) */
  return build_with(b, OP_aten_add_Tensor, sum, arg_float(rest));
}
