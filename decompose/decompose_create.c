/* Tensors from nothing become full and arange.start_step. */
#include <math.h>

#include <string.h>

#include "decompose/decompose.h"
#include "graph/messages.h"

static Node *become_full(Build *b, Arg value) {
  const ValueType *t = &b->in.n->type;
  return build_become_typed(b, OP_aten_full_default,
                            ARGS(arg_dims(b->in.g, t->rank, t->shape), value), t->dtype);
}

Node *decompose_zeros(Build *b) { return become_full(b, build_int(b, 0)); }
Node *decompose_ones(Build *b) { return become_full(b, build_int(b, 1)); }
Node *decompose_full(Build *b) { return become_full(b, build_arg(b, "fill_value")); }
Node *decompose_fill(Build *b) { return become_full(b, build_arg(b, "value")); }
Node *decompose_scalar_tensor(Build *b) { return become_full(b, build_arg(b, "s")); }

/* The parameter's tensor, expanded and cast to the result's type. */
static Node *expand_to_result(Build *b, const char *param) {
  const ValueType *t = &b->in.n->type;
  return build_expand(b, build_to(b, build_input(b, param), t->dtype), t->rank, t->shape);
}

Node *decompose_fill_tensor(Build *b) { return expand_to_result(b, "value"); }
Node *decompose_copy(Build *b) { return expand_to_result(b, "src"); }

Node *decompose_arange(Build *b) {
  Arg start = infer_takes(&b->in, "start") ? build_arg(b, "start") : build_int(b, 0);
  Arg step = infer_takes(&b->in, "step") ? build_arg(b, "step") : build_int(b, 1);
  return build_become_typed(b, OP_aten_arange_start_step, ARGS(start, build_arg(b, "end"), step),
                            b->in.n->type.dtype);
}

/* start, start + step, ... */
Node *decompose_iota(Build *b) {
  Dims *d = build_dims(b);
  Dim start = infer_size(&b->in, "start"), step = infer_size(&b->in, "step");
  Dim end = dim_add(d, start, dim_mul(d, step, infer_size(&b->in, "length")));
  return build_become_typed(b, OP_aten_arange_start_step,
                            ARGS(arg_dim(start), arg_dim(end), arg_dim(step)), b->in.n->type.dtype);
}

/* The numbers of rows, as a column. */
static Node *row_numbers(Build *b, Dim rows) {
  return build_unsqueeze(b, build_arange(b, rows), 1);
}

Node *decompose_eye(Build *b) {
  const ValueType *t = &b->in.n->type;
  Node *row = row_numbers(b, t->shape[0]), *column = build_arange(b, t->shape[1]);
  return build_to(b, build_op2(b, OP_aten_eq_Tensor, row, column), t->dtype);
}

/* x where `compare` holds of its column less its row and the diagonal, else 0. */
static Node *triangle(Build *b, OpId compare) {
  Node *x = build_input(b, "self");
  if (rank_of(x) < 2)
    infer_fail(&b->in, E_GRAPH_AXES, 2, (uint32_t)GRAPH_RANK_MAX,
               infer_type_text(&b->in, &x->type));
  const Dim *size = x->type.shape + rank_of(x) - 2;
  Node *column = build_arange(b, size[1]), *row = row_numbers(b, size[0]);
  Node *in = build_with(b, compare, build_sub(b, column, row), build_arg(b, "diagonal"));
  if (x->type.dtype == DT_I1) return build_op2(b, OP_aten_logical_and_default, in, x);
  return build_where(b, in, arg_node(x), build_int(b, 0));
}

Node *decompose_tril(Build *b) { return triangle(b, OP_aten_le_Tensor); }
Node *decompose_triu(Build *b) { return triangle(b, OP_aten_ge_Tensor); }

Node *decompose_one_hot(Build *b) {
  const ValueType *t = &b->in.n->type;
  Node *x = build_unsqueeze(b, build_input(b, "self"), t->rank - 1);
  Node *equal = build_op2(b, OP_aten_eq_Tensor, x, build_arange(b, t->shape[t->rank - 1]));
  return build_to(b, equal, DT_I64);
}

/* Ends of a range of integers are integers, too. */
static double range_end(Build *b, const char *param) {
  double x = infer_number(&b->in, param);
  return dtype_is_int(b->in.n->type.dtype) ? trunc(x) : x;
}

/* From both ends to the middle, so that each end is exact. */
Node *decompose_linspace(Build *b) {
  DType t = b->in.n->type.dtype, compute = t == DT_F64 ? DT_F64 : DT_F32;
  double start = range_end(b, "start"), end = range_end(b, "end");
  int64_t steps = infer_int(&b->in, "steps");
  double step = steps > 1 ? (end - start) / (double)(steps - 1) : 0;
  Node *i = build_arange(b, build_const(b, steps));
  Node *x = build_to(b, i, compute);
  Node *low = build_with(b, OP_aten_add_Tensor,
                         build_with(b, OP_aten_mul_Tensor, x, arg_float(step)), arg_float(start));
  if (steps <= 1) return build_to(b, low, t);
  Node *left = build(b, OP_aten_sub_Tensor, ARGS(build_int(b, steps - 1), arg_node(x)));
  Node *high = build(
      b, OP_aten_sub_Tensor,
      ARGS(arg_float(end), arg_node(build_with(b, OP_aten_mul_Tensor, left, arg_float(step)))));
  Node *first = build_with(b, OP_aten_lt_Tensor, i, build_int(b, steps / 2));
  return build_to(b, build_where(b, first, arg_node(low), arg_node(high)), t);
}

/* base to the power of linspace's elements. */
Node *decompose_logspace(Build *b) {
  /* A power in f32 that is next below a whole number would be one less as an integer. */
  DType t = b->in.n->type.dtype, compute = t == DT_F64 || dtype_is_int(t) ? DT_F64 : DT_F32;
  Arg start = arg_float(range_end(b, "start")), end = arg_float(range_end(b, "end"));
  Node *x = build_with_named(b, OP_aten_linspace_default,
                             ARGS(start, end, build_arg(b, "steps")), "dtype", arg_dtype(compute));
  Arg base = arg_float(infer_number(&b->in, "base"));
  return build_to(b, build(b, OP_aten_pow_Scalar, ARGS(base, arg_node(x))), t);
}

/* Row and column of each element of a matrix below a diagonal, or above it, in row-major order. */
Node *decompose_triangle_indices(Build *b) {
  bool lower = b->in.n->op->id == OP_aten_tril_indices_default;
  int64_t rows = infer_int(&b->in, "row"), columns = infer_int(&b->in, "col");
  int64_t offset = infer_int(&b->in, "offset");
  Node **parts = ARENA_ARRAY(b->in.g->arena, Node *, (size_t)rows + 1);
  uint32_t n = 0;
  for (int64_t i = 0; i < rows; i++) {
    int64_t first = lower ? 0 : i + offset, end = lower ? i + offset + 1 : columns;
    if (first < 0) first = 0;
    if (end > columns) end = columns;
    if (first >= end) continue;
    Dim size = build_const(b, end - first);
    Node *row = build_full(b, 1, &size, build_int(b, i), DT_I64);
    Node *column = build_with(b, OP_aten_add_Tensor, build_arange(b, size), build_int(b, first));
    Node *both[] = {build_unsqueeze(b, row, 0), build_unsqueeze(b, column, 0)};
    parts[n++] = build_cat(b, 2, both, 0);
  }
  const ValueType *t = &b->in.n->type;
  if (!n) return build_full(b, 2, t->shape, build_int(b, 0), t->dtype);
  return build_to(b, build_cat(b, n, parts, 1), t->dtype);
}

/* ---- of Fourier transforms ---- */

/* 0, 1, ... (n - 1) // 2, -(n // 2), ... -1, and of half a spectrum 0 ... n // 2, over n d. */
Node *decompose_fftfreq(Build *b) {
  DType t = build_result_dtype(b);
  int64_t n = infer_int(&b->in, "n");
  Node *i = build_arange(b, b->in.n->type.shape[0]);
  Node *past = build_with(b, OP_aten_gt_Scalar, i, build_int(b, (n - 1) / 2));
  Node *negative = build_with(b, OP_aten_sub_Tensor, i, build_int(b, n));
  bool half = graph_is(b->in.n, OP_aten_fft_rfftfreq_default);
  if (!half) i = build_where(b, past, arg_node(negative), arg_node(i));
  double scale = 1 / ((double)n * infer_number(&b->in, "d"));
  return build_with(b, OP_aten_mul_Tensor, build_to(b, i, t), arg_float(scale));
}

/* ---- windows of signals ---- */

/* a - b cos u + c cos 2 u. */
typedef struct {
  double a, b, c;
} CosineWindow;

static CosineWindow cosine_window(Build *b) {
  Infer *in = &b->in;
  switch (in->n->op->id) {
    case OP_aten_hann_window_default:
    case OP_aten_hann_window_periodic: return (CosineWindow){0.5, 0.5, 0};
    case OP_aten_blackman_window_default:
    case OP_aten_blackman_window_periodic: return (CosineWindow){0.42, 0.5, 0.08};
    default:
      return (CosineWindow){infer_takes(in, "alpha") ? infer_number(in, "alpha") : 0.54,
                            infer_takes(in, "beta") ? infer_number(in, "beta") : 0.46, 0};
  }
}

static Node *cosine_of(Build *b, Node *angle, double times, double scale) {
  Node *x = build_with(b, OP_aten_mul_Tensor, angle, arg_float(times));
  return build_with(b, OP_aten_mul_Tensor, build_op1(b, OP_aten_cos_default, x), arg_float(scale));
}

static bool is_triangle(const Node *n) {
  return graph_is_any(n, OP_aten_bartlett_window_default, OP_aten_bartlett_window_periodic);
}

/* Windows are computed in f64: rounding of long windows' angles is visible. */
Node *decompose_signal_window(Build *b) {
  DType t = build_result_dtype(b);
  int64_t n = infer_int(&b->in, "window_length");
  bool periodic = !infer_takes(&b->in, "periodic") || infer_bool(&b->in, "periodic");
  if (n == 1) return build_full(b, 1, b->in.n->type.shape, arg_float(1), t);
  double period = (double)(periodic ? n : n - 1);
  Node *i = build_to(b, build_arange(b, build_const(b, n)), DT_F64);
  if (is_triangle(b->in.n)) {
    Node *x = build_with(b, OP_aten_sub_Tensor,
                         build_with(b, OP_aten_mul_Tensor, i, arg_float(2 / period)), arg_float(1));
    x = build_op1(b, OP_aten_abs_default, x);
    return build_to(b, build_with(b, OP_aten_rsub_Scalar, x, arg_float(1)), t);
  }
  CosineWindow w = cosine_window(b);
  Node *angle = build_with(b, OP_aten_mul_Tensor, i, arg_float(2 * M_PI / period));
  Node *x = build_with(b, OP_aten_rsub_Scalar, cosine_of(b, angle, 1, w.b), arg_float(w.a));
  if (w.c != 0) x = build_add(b, x, cosine_of(b, angle, 2, w.c));
  return build_to(b, x, t);
}
