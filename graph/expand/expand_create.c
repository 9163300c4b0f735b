/* Expansions of operators that make tensors from numbers. */
#include <math.h>

#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

static DType float_dtype(Build *b) { return infer_dtype(&b->in, "dtype", DT_F32); }

/* A number or a tensor without axes, in dtype `t`; an integer if the range is of `result`s that
 * are integers. */
static Node *end_point(Build *b, const char *param, DType t, DType result) {
  Node *x = build_scalar_arg(b, param, t);
  infer_rank(&b->in, &x->type, 0, 0);
  return dtype_is_float(result) ? x : build_op1(b, OP_aten_trunc_default, x);
}

/* From each end half of the steps, as PyTorch's. */
static Node *steps_between(Build *b, DType t, DType result) {
  int64_t n = infer_int(&b->in, "steps");
  if (n < 0) infer_fail(&b->in, E_GRAPH_NEGATIVE, infer_dim_text(&b->in, build_const(b, n)));
  Node *start = end_point(b, "start", t, result), *end = end_point(b, "end", t, result);
  Node *i = build_arange(b, build_const(b, n));
  Node *first = build_with(b, OP_aten_lt_Scalar, i, build_int(b, n / 2));
  if (n < 2) return build_add(b, start, build_to(b, i, t));
  Node *gaps = build_full(b, 0, NULL, build_int(b, n - 1), t);
  Node *step = build_div(b, build_sub(b, end, start), gaps);
  Node *left = build(b, OP_aten_rsub_Scalar, ARGS(arg_node(i), build_int(b, n - 1)));
  Node *below = build_add(b, start, build_mul(b, step, build_to(b, i, t)));
  Node *above = build_sub(b, end, build_mul(b, step, build_to(b, left, t)));
  return choose(b, first, below, above);
}

Node *expand_linspace(Build *b) {
  DType t = float_dtype(b), wide = dtype_is_float(t) ? build_wide(t) : DT_F64;
  return build_to(b, steps_between(b, wide, t), t);
}

Node *expand_logspace(Build *b) {
  DType t = float_dtype(b), wide = dtype_is_float(t) ? build_wide(t) : DT_F64;
  Node *steps = steps_between(b, wide, t);
  Node *y = build(b, OP_aten_pow_Scalar, ARGS(build_arg(b, "base"), arg_node(steps)));
  return build_to(b, y, t);
}

/* The end is among them. */
Node *expand_range(Build *b) {
  double start = infer_number(&b->in, "start"), end = infer_number(&b->in, "end"), step = 1;
  if (infer_takes(&b->in, "step")) step = infer_number(&b->in, "step");
  double count = step == 0 ? NAN : floor((end - start) / step) + 1;
  if (!(count >= 1 && count < 1 << 30)) infer_fail(&b->in, E_GRAPH_ARANGE, count);
  DType t = float_dtype(b), wide = dtype_is_float(t) ? build_wide(t) : DT_I64;
  Node *i = build_to(b, build_arange(b, build_const(b, (int64_t)count)), wide);
  if (wide != DT_I64) return build_to(b, plus(b, times(b, i, step), start), t);
  i = build_with(b, OP_aten_mul_Tensor, i, build_int(b, (int64_t)step));
  return build_to(b, plus_int(b, i, (int64_t)start), t);
}

/* ---- windows ---- */

/* i0(beta sqrt(1 - x^2)) / i0(beta) at n points from -1 to 1. */
static Node *kaiser(Build *b, int64_t n, double beta, DType t) {
  Node *x = build_to(b, build_arange(b, build_const(b, n)), build_wide(t));
  x = plus(b, times(b, x, n > 1 ? 2. / (double)(n - 1) : 0), -1);
  Node *rest = minus_from(b, 1, build_mul(b, x, x));
  rest = build_with(b, OP_aten_clamp_min_default, rest, build_int(b, 0));
  x = times(b, build_op1(b, OP_aten_sqrt_default, rest), beta);
  Node *whole = build_full(b, 0, NULL, arg_float(beta), build_wide(t));
  x = build_div(b, build_op1(b, OP_aten_i0_default, x), build_op1(b, OP_aten_i0_default, whole));
  return build_to(b, x, t);
}

Node *expand_kaiser_window(Build *b) {
  int64_t n = infer_int(&b->in, "window_length");
  double beta = infer_takes(&b->in, "beta") ? infer_number(&b->in, "beta") : 12;
  bool periodic = !infer_takes(&b->in, "periodic") || infer_bool(&b->in, "periodic");
  DType t = float_dtype(b);
  infer_need_float(&b->in, t);
  if (n < 0) infer_fail(&b->in, E_GRAPH_NEGATIVE, infer_dim_text(&b->in, build_const(b, n)));
  if (n <= 1) return build_full(b, 1, (Dim[]){build_const(b, n)}, build_int(b, 1), t);
  Node *w = kaiser(b, n + (periodic && n < INT64_MAX), beta, t);
  return build_slice(b, w, 0, build_const(b, 0), build_const(b, n), 1);
}

/* ---- sizes ---- */

Node *expand_dim_arange(Build *b) {
  Node *like = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(like));
  return build_arange(b, infer_axis_size(&b->in, &like->type, axis));
}

Node *expand_shape_as_tensor(Build *b) {
  Node *x = build_self(b), *sizes[GRAPH_RANK_MAX];
  Dim one = build_const(b, 1), zero = build_const(b, 0);
  if (!rank_of(x)) return build_full(b, 1, &zero, build_int(b, 0), DT_I64);
  for (uint32_t i = 0; i < rank_of(x); i++)
    sizes[i] = build_full(b, 1, &one, arg_dim(x->type.shape[i]), DT_I64);
  return build_cat(b, rank_of(x), sizes, 0);
}
