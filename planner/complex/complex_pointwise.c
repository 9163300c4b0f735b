/* Arithmetic and functions of complex numbers, element by element. */
#include <math.h>

#include "planner/complex/complex.h"

/* ---- arithmetic ---- */

Parts complex_add(Build *b, Parts x, Parts y) {
  Node *im = !x.im ? y.im : !y.im ? x.im : build_add(b, x.im, y.im);
  return (Parts){build_add(b, x.re, y.re), im};
}

Parts complex_mul(Build *b, Parts x, Parts y) {
  Node *re = build_mul(b, x.re, y.re);
  if (!x.im && !y.im) return (Parts){re, NULL};
  if (!y.im) return (Parts){re, build_mul(b, x.im, y.re)};
  if (!x.im) return (Parts){re, build_mul(b, x.re, y.im)};
  re = build_sub(b, re, build_mul(b, x.im, y.im));
  return (Parts){re, build_add(b, build_mul(b, x.re, y.im), build_mul(b, x.im, y.re))};
}

/* Smith's division (ACM 5, 1962): no square of a divisor can overflow. */
static Parts complex_div(Build *b, Parts x, Parts y) {
  if (!y.im) return (Parts){build_div(b, x.re, y.re), x.im ? build_div(b, x.im, y.re) : NULL};
  Node *size_re = build_op1(b, OP_aten_abs_default, y.re);
  Node *size_im = build_op1(b, OP_aten_abs_default, y.im);
  Node *swap = build_op2(b, OP_aten_gt_Tensor, size_im, size_re);
  Node *large = build_where(b, swap, arg_node(y.im), arg_node(y.re));
  Node *small = build_where(b, swap, arg_node(y.re), arg_node(y.im));
  Node *zero = build_with(b, OP_aten_eq_Scalar, large, build_int(b, 0));
  Node *ratio = build_where(b, zero, arg_float(0), arg_node(build_div(b, small, large)));
  Node *by = build_add(b, large, build_mul(b, small, ratio));
  by = build_where(b, zero, arg_node(size_re), arg_node(by));
  Node *im = x.im ? x.im : build_full(b, 0, NULL, arg_float(0), x.re->type.dtype);
  Node *first_re = build_where(b, swap, arg_node(build_mul(b, x.re, ratio)), arg_node(x.re));
  Node *other_re = build_where(b, swap, arg_node(im), arg_node(build_mul(b, im, ratio)));
  Node *first_im = build_where(b, swap, arg_node(build_mul(b, im, ratio)), arg_node(im));
  Node *other_im = build_where(b, swap, arg_node(x.re), arg_node(build_mul(b, x.re, ratio)));
  return (Parts){build_div(b, build_add(b, first_re, other_re), by),
                 build_div(b, build_sub(b, first_im, other_im), by)};
}

Node *complex_abs(Build *b, Parts x) {
  return x.im ? build_op2(b, OP_aten_hypot_default, x.re, x.im)
              : build_op1(b, OP_aten_abs_default, x.re);
}

static Parts to_result(Split *s, Parts x) {
  DType t = build_result_dtype(&s->b);
  return (Parts){build_to(&s->b, x.re, t), build_to(&s->b, split_imaginary(s, x), t)};
}

Parts split_mul(Split *s) {
  return to_result(s, complex_mul(&s->b, split_self(s), split_arg(s, "other")));
}

/* Sums and differences are of each part, unless a complex number multiplies one operand. */
Parts split_weighted_sum(Split *s) {
  Build *b = &s->b;
  Arg alpha = build_arg(b, "alpha");
  if (alpha.kind != ARG_NODE || !split_value(s, alpha.node).im) return split_each(s);
  bool turned = graph_is(b->in.n, OP_aten_rsub_Tensor) || graph_is(b->in.n, OP_aten_rsub_Scalar);
  bool added = graph_is(b->in.n, OP_aten_add_Tensor) || graph_is(b->in.n, OP_aten_add_Scalar);
  Parts x = split_arg(s, turned ? "other" : "self");
  Parts y = complex_mul(b, split_value(s, alpha.node), split_arg(s, turned ? "self" : "other"));
  if (!added)
    y = (Parts){build_op1(b, OP_aten_neg_default, y.re), build_op1(b, OP_aten_neg_default, y.im)};
  return to_result(s, complex_add(b, x, y));
}

Parts split_div(Split *s) {
  return to_result(s, complex_div(&s->b, split_self(s), split_arg(s, "other")));
}

static Parts real_number(Split *s, double value) {
  return (Parts){build_full(&s->b, 0, NULL, arg_float(value), build_result_dtype(&s->b)), NULL};
}

Parts split_reciprocal(Split *s) { return complex_div(&s->b, real_number(s, 1), split_self(s)); }

Parts split_square(Split *s) {
  Parts x = split_self(s);
  return complex_mul(&s->b, x, x);
}

/* ---- the polar form ---- */

static Node *angle_of(Build *b, Parts x) {
  return x.im ? build_op2(b, OP_aten_atan2_default, x.im, x.re)
              : build_op1(b, OP_aten_angle_default, x.re);
}

static Parts of_polar(Build *b, Node *length, Node *angle) {
  return (Parts){build_mul(b, length, build_op1(b, OP_aten_cos_default, angle)),
                 build_mul(b, length, build_op1(b, OP_aten_sin_default, angle))};
}

Parts split_abs(Split *s) { return (Parts){complex_abs(&s->b, split_self(s)), NULL}; }

Parts split_angle(Split *s) { return (Parts){angle_of(&s->b, split_self(s)), NULL}; }

/* x / |x|, and 0 for 0. */
Parts split_sgn(Split *s) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Node *length = complex_abs(b, x);
  Node *zero = build_with(b, OP_aten_eq_Scalar, length, build_int(b, 0));
  Node *by = build_where(b, zero, arg_float(1), arg_node(length));
  return (Parts){build_div(b, x.re, by), build_div(b, split_imaginary(s, x), by)};
}

static Parts complex_exp(Build *b, Parts x) {
  return of_polar(b, build_op1(b, OP_aten_exp_default, x.re), x.im);
}

Parts split_exp(Split *s) { return complex_exp(&s->b, split_self(s)); }

static Parts complex_log(Build *b, Parts x) {
  return (Parts){build_op1(b, OP_aten_log_default, complex_abs(b, x)), angle_of(b, x)};
}

Parts split_log(Split *s) { return complex_log(&s->b, split_self(s)); }

/* sqrt((|x| + re) / 2), with the part that does not cancel computed first. */
Parts split_sqrt(Split *s) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Node *size = build_op1(b, OP_aten_abs_default, x.re);
  Node *half =
      build_with(b, OP_aten_mul_Tensor, build_add(b, complex_abs(b, x), size), arg_float(0.5));
  Node *root = build_op1(b, OP_aten_sqrt_default, half);
  Node *zero = build_with(b, OP_aten_eq_Scalar, root, build_int(b, 0));
  Node *twice = build_with(b, OP_aten_mul_Tensor, root, arg_int(b->in.g, 2));
  Node *other = build_where(b, zero, arg_node(x.im), arg_node(build_div(b, x.im, twice)));
  Node *right = build_with(b, OP_aten_ge_Scalar, x.re, build_int(b, 0));
  Node *re =
      build_where(b, right, arg_node(root), arg_node(build_op1(b, OP_aten_abs_default, other)));
  Node *signed_root = build_op2(b, OP_aten_copysign_Tensor, root, x.im);
  return (Parts){re, build_where(b, right, arg_node(other), arg_node(signed_root))};
}

/* A power with a whole exponent up to 4 is products; others are exp(y log x). */
Parts split_pow(Split *s) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Arg a = build_arg(b, "exponent");
  for (int n = 1; n <= 4; n++) {
    if (!arg_is_number(&a, n)) continue;
    Parts y = x;
    for (int i = 1; i < n; i++) y = complex_mul(b, y, x);
    return y;
  }
  if (arg_is_number(&a, -1)) return complex_div(b, real_number(s, 1), x);
  Parts y = complex_mul(b, complex_log(b, x), split_arg(s, "exponent"));
  y = complex_exp(b, (Parts){y.re, split_imaginary(s, y)});
  if (!arg_is_number(&a, 0)) return y;
  Node *one = build_full(b, rank_of(x.re), x.re->type.shape, arg_float(1), x.re->type.dtype);
  return (Parts){one, NULL};
}

/* ---- trigonometry ---- */

static Parts waves(Split *s, OpId re_of_re, OpId re_of_im, OpId im_of_re, OpId im_of_im) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Node *re = build_mul(b, build_op1(b, re_of_re, x.re), build_op1(b, re_of_im, x.im));
  return (Parts){re, build_mul(b, build_op1(b, im_of_re, x.re), build_op1(b, im_of_im, x.im))};
}

Parts split_sin(Split *s) {
  return waves(s, OP_aten_sin_default, OP_aten_cosh_default, OP_aten_cos_default,
               OP_aten_sinh_default);
}

Parts split_sinh(Split *s) {
  return waves(s, OP_aten_sinh_default, OP_aten_cos_default, OP_aten_cosh_default,
               OP_aten_sin_default);
}

Parts split_cosh(Split *s) {
  return waves(s, OP_aten_cosh_default, OP_aten_cos_default, OP_aten_sinh_default,
               OP_aten_sin_default);
}

Parts split_cos(Split *s) {
  Parts y = waves(s, OP_aten_cos_default, OP_aten_cosh_default, OP_aten_sin_default,
                  OP_aten_sinh_default);
  return (Parts){y.re, build_op1(&s->b, OP_aten_neg_default, y.im)};
}

/* 1 / (1 + exp(-x)) */
Parts split_sigmoid(Split *s) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Node *re = build_op1(b, OP_aten_neg_default, x.re);
  Parts y = complex_exp(b, (Parts){re, build_op1(b, OP_aten_neg_default, x.im)});
  Parts one = real_number(s, 1);
  return complex_div(b, one, complex_add(b, one, y));
}

/* ---- comparisons ---- */

static Parts of_both(Split *s, OpId test, OpId join) {
  Build *b = &s->b;
  Parts x = split_self(s);
  Node *re = build_op1(b, test, x.re);
  return (Parts){build_op2(b, join, re, build_op1(b, test, split_imaginary(s, x))), NULL};
}

Parts split_isnan(Split *s) {
  return of_both(s, OP_aten_isnan_default, OP_aten_logical_or_default);
}

Parts split_isinf(Split *s) {
  return of_both(s, OP_aten_isinf_default, OP_aten_logical_or_default);
}

Parts split_isfinite(Split *s) {
  return of_both(s, OP_aten_isfinite_default, OP_aten_logical_and_default);
}

static Parts compare_parts(Split *s, OpId test, OpId join) {
  Build *b = &s->b;
  Parts x = split_self(s), y = split_arg(s, "other");
  Node *re = build_op2(b, test, x.re, y.re);
  Node *im = build_op2(b, test, split_imaginary(s, x), split_imaginary(s, y));
  return (Parts){build_op2(b, join, re, im), NULL};
}

Parts split_eq(Split *s) {
  return compare_parts(s, OP_aten_eq_Tensor, OP_aten_logical_and_default);
}

Parts split_ne(Split *s) { return compare_parts(s, OP_aten_ne_Tensor, OP_aten_logical_or_default); }
