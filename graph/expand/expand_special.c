/* Expansions of derivatives of the logarithm of the gamma function, in f64. */
#include <math.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* Steps from a positive argument to where the asymptotic series is good. */
enum { STEPS = 12 };
static const double PI = 3.141592653589793;

static Node *inverse(Build *b, Node *x) { return build_op1(b, OP_aten_reciprocal_default, x); }
static Node *number(Build *b, double v) { return build_full(b, 0, NULL, arg_float(v), DT_F64); }

/* pi times the part of x after the point. */
static Node *half_turns(Build *b, Node *x) {
  return times(b, build_sub(b, x, build_op1(b, OP_aten_trunc_default, x)), PI);
}

static Node *cotangent(Build *b, Node *turn) {
  return build_div(b, build_op1(b, OP_aten_cos_default, turn),
                   build_op1(b, OP_aten_sin_default, turn));
}

static Node *is_whole(Build *b, Node *x) {
  return build_op2(b, OP_aten_eq_Tensor, x, build_op1(b, OP_aten_trunc_default, x));
}

static Node *in_result_dtype(Build *b, Node *y, const Node *x) {
  return build_to(b, y, infer_to_float(x->type.dtype));
}

/* log y - 1 / 2y - sum of B(2k) / (2k y^2k), after STEPS steps up. */
static Node *digamma_above_zero(Build *b, Node *y) {
  static const double series[] = {1 / 12.,  -1 / 120.,     1 / 252., -1 / 240.,
                                  1 / 132., -691 / 32760., 1 / 12.};
  Node *below = inverse(b, y), *far = plus(b, y, STEPS);
  for (int k = 1; k < STEPS; k++) below = build_add(b, below, inverse(b, plus(b, y, k)));
  Node *square = inverse(b, build_mul(b, far, far)), *tail = NULL;
  for (int k = 6; k >= 0; k--)
    tail = tail ? build_mul(b, plus(b, tail, series[k]), square) : times(b, square, series[k]);
  Node *value =
      build_sub(b, build_op1(b, OP_aten_log_default, far), times(b, inverse(b, far), 0.5));
  return build_sub(b, build_sub(b, value, tail), below);
}

Node *expand_digamma(Build *b) {
  Node *self = build_self(b), *x = build_to(b, self, DT_F64);
  Node *negative = compared(b, OP_aten_lt_Scalar, x, 0);
  Node *value = digamma_above_zero(b, choose(b, negative, minus_from(b, 1, x), x));
  Node *reflected = build_sub(b, value, times(b, cotangent(b, half_turns(b, x)), PI));
  value = choose(b, negative, reflected, value);
  value = choose(b, build_and(b, negative, is_whole(b, x)), number(b, NAN), value);
  Node *pole = build_op2(b, OP_aten_copysign_Tensor, number(b, INFINITY),
                         build_op1(b, OP_aten_neg_default, x));
  value = choose(b, compared(b, OP_aten_eq_Scalar, x, 0), pole, value);
  value = choose(b, compared(b, OP_aten_eq_Scalar, x, INFINITY), x, value);
  return in_result_dtype(b, value, self);
}

/* ---- higher derivatives ---- */

/* A power by products, which are less work. */
static Node *power(Build *b, Node *x, int64_t n) {
  Node *value = NULL;
  for (; n; n >>= 1, x = n ? build_mul(b, x, x) : x)
    if (n & 1) value = value ? build_mul(b, value, x) : x;
  return value;
}

enum { ORDER_MOST = 20 }; /* factorials that a float64 has exactly */

/* The n-th derivative of the cotangent, as a polynomial in it; returns its degree. */
static int cotangent_derivative(int64_t n, double terms[ORDER_MOST + 3]) {
  int degree = 1;
  for (int k = 0; k < ORDER_MOST + 3; k++) terms[k] = k == 1;
  for (int64_t i = 0; i < n; i++) {
    double next[ORDER_MOST + 3] = {0};
    for (int k = 1; k <= degree; k++) {
      next[k - 1] -= k * terms[k];
      next[k + 1] -= k * terms[k];
    }
    degree++;
    for (int k = 0; k <= degree; k++) terms[k] = next[k];
  }
  return degree;
}

static Node *polygamma_above_half(Build *b, Node *y, int64_t n) {
  static const double series[] = {1 / 12.,       -1 / 720.,     1 / 30240.,
                                  -1 / 1209600., 1 / 47900160., -691 / 1307674368000.};
  int64_t s = n + 1;
  Node *near = inverse(b, plus(b, y, STEPS)), *value = power(b, inverse(b, y), s);
  for (int k = 1; k < STEPS; k++)
    value = build_add(b, value, power(b, inverse(b, plus(b, y, k)), s));
  Node *first = plus(b, times(b, near, 0.5), 1. / (double)n);
  value = build_add(b, value, build_mul(b, power(b, near, n), first));
  Node *tail = power(b, near, s + 1);
  double factor = (double)s;
  for (int k = 0; k < 6; k++) {
    value = build_add(b, value, times(b, tail, series[k] * factor));
    tail = build_mul(b, build_mul(b, tail, near), near);
    factor *= (double)(s + 2 * k + 1) * (double)(s + 2 * k + 2);
  }
  return times(b, value, (s % 2 ? -1 : 1) * tgamma((double)n + 1));
}

/* psi_n(1 - x) = (-1)^n (psi_n(x) + pi^(n + 1) cot^(n)(pi x)) */
Node *expand_polygamma(Build *b) {
  Node *self = build_input(b, "self"), *x = build_to(b, self, DT_F64);
  int64_t n = infer_int(&b->in, "n");
  if (n == 0) return build_op1(b, OP_aten_digamma_default, self);
  if (n < 0 || n > ORDER_MOST) infer_fail(&b->in, E_GRAPH_PARTS, (long long)n, (int)ORDER_MOST);
  Node *low = compared(b, OP_aten_lt_Scalar, x, 0.5);
  Node *value = polygamma_above_half(b, choose(b, low, minus_from(b, 1, x), x), n);
  double terms[ORDER_MOST + 3];
  Node *cot = cotangent(b, half_turns(b, x)), *sum = NULL;
  for (int k = cotangent_derivative(n, terms); k >= 0; k--)
    sum = sum ? plus(b, build_mul(b, sum, cot), terms[k]) : plus(b, times(b, cot, 0), terms[k]);
  Node *turned =
      build_sub(b, times(b, value, n % 2 ? -1 : 1), times(b, sum, pow(PI, (double)n + 1)));
  value = choose(b, low, turned, value);
  Node *pole = build_and(b, compared(b, OP_aten_le_Scalar, x, 0), is_whole(b, x));
  value = choose(b, pole, number(b, n % 2 ? INFINITY : -INFINITY), value);
  return in_result_dtype(b, value, self);
}

/* The order of arguments is another one. */
Node *expand_polygamma_in_place(Build *b) {
  Node *x = build_self(b);
  infer_need_float(&b->in, x->type.dtype);
  Node *y = build(b, OP_aten_polygamma_default, ARGS(build_arg(b, "n"), arg_node(x)));
  return build_op2(b, OP_aten_copy__default, x, y);
}

/* ---- parts of floats ---- */

/* Of a float64 the exponent's bits; numbers below the least normal one are made normal before. */
Node *expand_frexp(Build *b) {
  Node *self = build_self(b), *x = build_to(b, self, DT_F64);
  infer_need_float(&b->in, self->type.dtype);
  Node *small = compared(b, OP_aten_lt_Scalar, build_op1(b, OP_aten_abs_default, x), 0x1p-1022);
  Node *bits = build_with(b, OP_aten_view_dtype, choose(b, small, times(b, x, 0x1p54), x),
                          arg_dtype(DT_I64));
  Node *e = build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, bits, build_int(b, 52));
  e = build_with(b, OP_aten_bitwise_and_Scalar, e, build_int(b, 0x7ff));
  e = choose(b, small, plus_int(b, e, -1022 - 54), plus_int(b, e, -1022));
  int64_t exponent = (int64_t)0x7ff << 52;
  bits = build_with(b, OP_aten_bitwise_and_Scalar, bits, build_int(b, ~exponent));
  bits = build_with(b, OP_aten_bitwise_or_Scalar, bits, build_int(b, (int64_t)1022 << 52));
  Node *mantissa = build_with(b, OP_aten_view_dtype, bits, arg_dtype(DT_F64));
  Node *normal = build_and(b, build_op1(b, OP_aten_isfinite_default, x),
                           compared(b, OP_aten_ne_Scalar, x, 0));
  Node *part = build_to(b, choose(b, normal, mantissa, x), self->type.dtype);
  return build_pair(b, part, build_to(b, masked(b, normal, e), DT_I32));
}
