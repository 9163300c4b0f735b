/* Tables of Fourier transforms: of constants alone, so a plan computes them once. */
#include <math.h>

#include "planner/complex/complex.h"

/* f(2 pi i / n) for integers i. */
static Node *wave(Build *b, OpId f, Node *i, Dim n, DType t) {
  Node *turns = build_with(b, OP_aten_div_Tensor, build_to(b, i, DT_F64), arg_dim(n));
  Node *angle = build_with(b, OP_aten_mul_Tensor, turns, arg_float(2 * M_PI));
  return build_to(b, build_op1(b, f, angle), t);
}

/* t k mod n for t below `rows` and k below `columns`. */
static Node *exponents(Build *b, Dim rows, Dim columns, Dim n) {
  Node *t = build_unsqueeze(b, build_arange(b, rows), 1);
  Node *product = build_mul(b, t, build_arange(b, columns));
  return build_with(b, OP_aten_remainder_Scalar, product, arg_dim(n));
}

static Node *negated_if(Build *b, Node *x, bool negated) {
  return negated ? build_op1(b, OP_aten_neg_default, x) : x;
}

Parts fourier_powers(Build *b, Dim rows, Dim columns, Dim n, bool inverse, DType t) {
  Node *i = exponents(b, rows, columns, n);
  Node *sine = wave(b, OP_aten_sin_default, i, n, t);
  return (Parts){wave(b, OP_aten_cos_default, i, n, t), negated_if(b, sine, !inverse)};
}

Parts fourier_chirp(Build *b, Dim n, bool inverse, DType t) {
  Dim twice = dim_mul(build_dims(b), n, build_const(b, 2));
  Node *i = build_arange(b, n);
  i = build_with(b, OP_aten_remainder_Scalar, build_mul(b, i, i), arg_dim(twice));
  Node *sine = wave(b, OP_aten_sin_default, i, twice, t);
  return (Parts){wave(b, OP_aten_cos_default, i, twice, t), negated_if(b, sine, !inverse)};
}
