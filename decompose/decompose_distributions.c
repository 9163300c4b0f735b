/* Draws from distributions that are sampled by rejection: gamma, Poisson, binomial.
 *
 * A kernel has no loop whose length an element decides, so that each element gets a fixed number of
 * trials along a new first axis, and takes the first one that is accepted.  The probability that
 * none is accepted is below 1e-14. */
#include <math.h>

#include "decompose/decompose.h"

enum {
  TRIALS = 24,   /* a trial is accepted with a probability of at least 0.75 */
  ARRIVALS = 48, /* of a mean below MEAN_SMALL more events have a probability below 1e-17 */
  MEAN_SMALL = 10 /* from here on the hats of both rejections hold (Hoermann 1993) */
};

/* ---- arithmetic ---- */

static Node *plus(Build *b, Node *x, double v) {
  return build_with(b, OP_aten_add_Tensor, x, arg_float(v));
}

static Node *times(Build *b, Node *x, double v) {
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(v));
}

static Node *less_from(Build *b, double v, Node *x) {
  return build_with(b, OP_aten_rsub_Scalar, x, arg_float(v));
}

static Node *logarithm(Build *b, Node *x) { return build_op1(b, OP_aten_log_default, x); }

static Node *log_factorial(Build *b, Node *x) {
  return build_op1(b, OP_aten_lgamma_default, plus(b, x, 1));
}

/* v / x */
static Node *share(Build *b, double v, Node *x) {
  return times(b, build_op1(b, OP_aten_reciprocal_default, x), v);
}

static Node *choose(Build *b, Node *condition, Node *x, Node *y) {
  return build_where(b, condition, arg_node(x), arg_node(y));
}

/* ---- trials ---- */

/* n numbers for each element of x, along a new first axis. */
static Node *drawn(Build *b, OpId op, const Node *x, int64_t n) {
  Dim shape[GRAPH_RANK_MAX];
  if (rank_of(x) == GRAPH_RANK_MAX)
    infer_rank(&b->in, &x->type, 0, GRAPH_RANK_MAX - 1);
  shape[0] = build_const(b, n);
  for (uint32_t i = 0; i < rank_of(x); i++) shape[i + 1] = x->type.shape[i];
  Node *like = build_full(b, rank_of(x) + 1, shape, build_int(b, 0), x->type.dtype);
  return build_op1(b, op, like);
}

/* In (0, 1]: it has a logarithm. */
static Node *uniform(Build *b, const Node *x, int64_t n) {
  return less_from(b, 1, drawn(b, OP_aten_rand_like_default, x, n));
}

static Node *first_accepted(Build *b, Node *values, Node *accepted) {
  Arg axis = build_int(b, 0);
  Node *numbers = build_to(b, accepted, DT_I32);
  Node *at = build(b, OP_aten_argmax_default, ARGS(arg_node(numbers), axis, arg_bool(true)));
  Node *y = build(b, OP_aten_gather_default, ARGS(arg_node(values), axis, arg_node(at)));
  return build_select(b, y, 0, build_const(b, 0));
}

/* How many of the sums of waiting times are up to `end`. */
static Node *events_until(Build *b, Node *waits, Node *end) {
  Node *at = build_with(b, OP_aten_cumsum_default, waits, build_int(b, 0));
  Node *before = build_op2(b, OP_aten_le_Tensor, at, end);
  return build_sum(b, build_to(b, before, end->type.dtype), 1, false);
}

/* ---- gamma ---- */

/* Marsaglia and Tsang 2000, for a >= 1; below, a draw of a + 1 times a power of a uniform one. */
static Node *gamma_of(Build *b, Node *a) {
  Node *small = build_with(b, OP_aten_lt_Scalar, a, arg_float(1));
  Node *d = plus(b, choose(b, small, plus(b, a, 1), a), -1. / 3);
  Node *width = build_op1(b, OP_aten_rsqrt_default, times(b, d, 9));
  Node *z = drawn(b, OP_aten_randn_like_default, a, TRIALS);
  Node *v = plus(b, build_mul(b, z, width), 1);
  v = build_mul(b, v, build_mul(b, v, v));
  Node *most = build_add(b, build_sub(b, logarithm(b, v), v), build_full(b, 0, NULL, arg_float(1),
                                                                         a->type.dtype));
  most = build_add(b, build_mul(b, d, most), times(b, build_mul(b, z, z), 0.5));
  Node *accepted = build_op2(b, OP_aten_lt_Tensor, logarithm(b, uniform(b, a, TRIALS)), most);
  Node *y = build_mul(b, d, first_accepted(b, v, accepted));
  Node *u = build_select(b, uniform(b, a, 1), 0, build_const(b, 0));
  Node *power = build_op2(b, OP_aten_pow_Tensor_Tensor, u, share(b, 1, a));
  return choose(b, small, build_mul(b, y, power), y);
}

/* No draw is 0: it is at least the least normal number of its dtype. */
static Node *positive_result(Build *b, Node *y) {
  DType t = b->in.n->type.dtype;
  double least = ldexp(1, t == DT_F64 ? -1022 : t == DT_F16 ? -14 : -126);
  return build_to_result(b, build_with(b, OP_aten_clamp_min_default, y, arg_float(least)));
}

Node *decompose_standard_gamma(Build *b) {
  return positive_result(b, gamma_of(b, build_wide_input(b, "self")));
}

Node *decompose_sample_dirichlet(Build *b) {
  Node *y = positive_result(b, gamma_of(b, build_wide_input(b, "self")));
  y = build_widen(b, y);
  uint32_t last = rank_of(y) ? 1u << (rank_of(y) - 1) : 0;
  return positive_result(b, build_div(b, y, last ? build_sum(b, y, last, true) : y));
}

/* ---- counts of events ---- */

/* A hat over the masses of integers (Hoermann's transformed rejection): a trial is
 * k = floor((2 a / s + b) u + center) for u in -0.5 ... 0.5 and s = 0.5 - |u|. */
typedef struct {
  Node *a, *b, *center, *scale;
  Node *surely; /* a second uniform number up to it accepts trials with s >= 0.07 */
} Hat;

/* The logarithm of k's mass over that of a fixed integer. */
typedef Node *LogMass(Build *b, void *of, Node *k);

static Node *by_rejection(Build *b, const Hat *h, LogMass *log_mass, void *of) {
  Node *u = plus(b, uniform(b, h->center, TRIALS), -0.5), *v = uniform(b, h->center, TRIALS);
  Node *s = less_from(b, 0.5, build_op1(b, OP_aten_abs_default, u));
  Node *slope = build_add(b, build_div(b, times(b, h->a, 2), s), h->b);
  Node *k = build_add(b, build_mul(b, slope, u), h->center);
  k = build_op1(b, OP_aten_floor_default, k);
  Node *within = build_and(b, build_with(b, OP_aten_ge_Scalar, s, arg_float(0.07)),
                           build_op2(b, OP_aten_le_Tensor, v, h->surely));
  Node *height = build_add(b, build_div(b, h->a, build_mul(b, s, s)), h->b);
  Node *level = logarithm(b, build_div(b, build_mul(b, v, h->scale), height));
  Node *below = build_and(b, build_with(b, OP_aten_ge_Scalar, k, arg_float(0)),
                          build_op2(b, OP_aten_le_Tensor, level, log_mass(b, of, k)));
  return first_accepted(b, k, build_op2(b, OP_aten_logical_or_default, within, below));
}

static Node *poisson_mass(Build *b, void *of, Node *k) {
  Node *mean = of;
  Node *y = build_sub(b, build_mul(b, k, logarithm(b, mean)), mean);
  return build_sub(b, y, log_factorial(b, k));
}

/* All in f64: masses of large means are differences of large numbers. */
Node *decompose_poisson(Build *b) {
  Node *mean = build_to(b, build_self(b), DT_F64);
  Node *waits = build_op1(b, OP_aten_neg_default, logarithm(b, uniform(b, mean, ARRIVALS)));
  Node *few = events_until(b, waits, mean);
  Node *large = build_with(b, OP_aten_clamp_min_default, mean, arg_float(MEAN_SMALL));
  Hat h = {.center = plus(b, large, 0.43)};
  h.b = plus(b, times(b, build_op1(b, OP_aten_sqrt_default, large), 2.53), 0.931);
  h.a = plus(b, times(b, h.b, 0.02483), -0.059);
  h.scale = plus(b, share(b, 1.1328, plus(b, h.b, -3.4)), 1.1239);
  h.surely = less_from(b, 0.9277, share(b, 3.6224, plus(b, h.b, -2)));
  Node *many = by_rejection(b, &h, poisson_mass, large);
  Node *small = build_with(b, OP_aten_lt_Scalar, mean, arg_float(MEAN_SMALL));
  return build_to_result(b, choose(b, small, few, many));
}

typedef struct {
  Node *n, *mode, *log_odds;
} Binomial;

static Node *log_ways(Build *b, const Binomial *t, Node *k) {
  return build_add(b, log_factorial(b, k), log_factorial(b, build_sub(b, t->n, k)));
}

static Node *binomial_mass(Build *b, void *of, Node *k) {
  const Binomial *t = of;
  Node *most = build_op2(b, OP_aten_minimum_default, k, t->n);
  Node *y = build_mul(b, build_sub(b, k, t->mode), t->log_odds);
  y = build_add(b, y, build_sub(b, log_ways(b, t, t->mode), log_ways(b, t, most)));
  Node *no = build_full(b, 0, NULL, arg_float(-INFINITY), DT_F64);
  return choose(b, build_op2(b, OP_aten_le_Tensor, k, t->n), y, no);
}

/* p is at most a half, and the mean of n trials at least MEAN_SMALL. */
static Node *many_successes(Build *b, Node *n, Node *p) {
  Node *fails = less_from(b, 1, p), *mean = build_mul(b, n, p);
  Node *spread = build_op1(b, OP_aten_sqrt_default, build_mul(b, mean, fails));
  Hat h = {.center = plus(b, mean, 0.5)};
  h.b = plus(b, times(b, spread, 2.53), 1.15);
  h.a = build_add(b, plus(b, times(b, h.b, 0.0248), -0.0873), times(b, p, 0.01));
  h.scale = build_mul(b, spread, plus(b, share(b, 5.1, h.b), 2.83));
  h.surely = less_from(b, 0.92, share(b, 4.2, h.b));
  Node *mode = build_op1(b, OP_aten_floor_default, build_add(b, mean, p));
  Binomial t = {n, mode, logarithm(b, build_div(b, p, fails))};
  return by_rejection(b, &h, binomial_mass, &t);
}

/* Numbers of trials up to each success are added. */
static Node *few_successes(Build *b, Node *n, Node *p) {
  Node *log_fails = build_op1(b, OP_aten_log1p_default, build_op1(b, OP_aten_neg_default, p));
  Node *waits = build_div(b, logarithm(b, uniform(b, n, ARRIVALS)), log_fails);
  return events_until(b, build_op1(b, OP_aten_ceil_default, waits), n);
}

Node *decompose_binomial(Build *b) {
  const ValueType *t = &b->in.n->type;
  Node *n = build_to(b, build_expand(b, build_input(b, "count"), t->rank, t->shape), DT_F64);
  Node *chance = build_expand(b, build_to(b, build_input(b, "prob"), DT_F64), t->rank, t->shape);
  Node *likely = build_with(b, OP_aten_gt_Scalar, chance, arg_float(0.5));
  Node *p = choose(b, likely, less_from(b, 1, chance), chance);
  Node *least = share(b, MEAN_SMALL, n), *zero = build_full(b, 0, NULL, build_int(b, 0), DT_F64);
  Node *small = build_op2(b, OP_aten_lt_Tensor, p, least);
  Node *half = build_full(b, 0, NULL, arg_float(0.5), DT_F64);
  Node *enough = build_with(b, OP_aten_clamp_min_default, n, arg_float(2 * MEAN_SMALL));
  Node *many = many_successes(b, enough, choose(b, small, half, p));
  Node *y = choose(b, small, few_successes(b, n, p), many);
  Node *none = build_with(b, OP_aten_le_Scalar, p, arg_float(0));
  Node *no_trials = build_with(b, OP_aten_le_Scalar, n, arg_float(0));
  y = choose(b, build_op2(b, OP_aten_logical_or_default, none, no_trials), zero, y);
  return build_to_result(b, choose(b, likely, build_sub(b, n, y), y));
}
