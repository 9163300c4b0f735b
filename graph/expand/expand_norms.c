/* Expansions of norms, ranks and powers of matrices. */
#include <math.h>
#include <string.h>

#include "graph/expand/expansion.h"
#include "graph/messages.h"

static Node *vector_norm_of(Build *b, Node *x, Arg order, Arg axes, bool keepdim) {
  Arg args[] = {arg_node(x), order, axes, arg_bool(keepdim)};
  Arg dtype = infer_takes(&b->in, "dtype") ? build_arg(b, "dtype") : arg_none();
  return build_with_named(b, OP_aten_linalg_vector_norm_default, 4, args, "dtype", dtype);
}

/* ---- norms of matrices ---- */

typedef struct {
  uint32_t rows, columns; /* axes */
  bool keepdim;
} MatrixAxes;

static MatrixAxes matrix_axes(Build *b, const Node *x, const int64_t dims[2]) {
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  uint32_t rows = infer_axis(&b->in, dims[0], rank_of(x));
  uint32_t columns = infer_axis(&b->in, dims[1], rank_of(x));
  if (rows == columns) infer_fail(&b->in, E_GRAPH_AXIS_TWICE, (long long)rows);
  return (MatrixAxes){rows, columns, infer_bool(&b->in, "keepdim")};
}

static Node *matrix_axes_last(Build *b, Node *x, MatrixAxes m) {
  uint32_t axes[GRAPH_RANK_MAX], n = 0;
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (i != m.rows && i != m.columns) axes[n++] = i;
  axes[n] = m.rows, axes[n + 1] = m.columns;
  return build_permute(b, x, axes);
}

/* A value for each matrix, with axes of one element if they are kept. */
static Node *without_matrix_axes(Build *b, Node *y, MatrixAxes m) {
  if (!m.keepdim) return y;
  uint32_t low = m.rows < m.columns ? m.rows : m.columns;
  uint32_t high = m.rows < m.columns ? m.columns : m.rows;
  return build_unsqueeze(b, build_unsqueeze(b, y, low), high);
}

static Node *in_norm_dtype(Build *b, Node *x) {
  bool given = infer_takes(&b->in, "dtype") && infer_has(&b->in, "dtype");
  return given ? build_to(b, x, infer_dtype(&b->in, "dtype", x->type.dtype)) : x;
}

static Node *singular_values(Build *b, Node *x, MatrixAxes m) {
  return build_op1(b, OP_aten_linalg_svdvals_default, matrix_axes_last(b, in_norm_dtype(b, x), m));
}

/* The largest or the least of the last axis. */
static Node *extreme(Build *b, Node *x, bool most) {
  return build_reduce(b, most ? OP_aten_amax_default : OP_aten_amin_default, x,
                      1u << (rank_of(x) - 1), false);
}

static Node *spectral_norm(Build *b, Node *x, MatrixAxes m, bool most) {
  return without_matrix_axes(b, extreme(b, singular_values(b, x, m), most), m);
}

/* The extreme sum of magnitudes of columns (order 1) or rows (infinite). */
static Node *norm_of_sums(Build *b, Node *x, MatrixAxes m, double order) {
  uint32_t summed = fabs(order) == 1 ? m.rows : m.columns;
  uint32_t rest = fabs(order) == 1 ? m.columns : m.rows;
  Node *sums = vector_norm_of(b, x, build_int(b, 1), arg_axes(b->in.g, 1u << summed), true);
  OpId op = order > 0 ? OP_aten_amax_default : OP_aten_amin_default;
  Node *y = build_reduce(b, op, sums, 1u << rest, true);
  return m.keepdim ? y : build_squeeze(b, y, 1u << summed | 1u << rest);
}

static Node *frobenius_norm(Build *b, Node *x, MatrixAxes m) {
  return vector_norm_of(b, x, build_int(b, 2), arg_axes(b->in.g, 1u << m.rows | 1u << m.columns),
                        m.keepdim);
}

static Node *nuclear_norm(Build *b, Node *x, MatrixAxes m) {
  Node *values = singular_values(b, x, m);
  return without_matrix_axes(b, build_sum(b, values, 1u << (rank_of(values) - 1), false), m);
}

static Node *matrix_norm(Build *b, Node *x, Arg order, MatrixAxes m) {
  if (order.kind == ARG_STRING && !strcmp(order.name, "fro")) return frobenius_norm(b, x, m);
  if (order.kind == ARG_STRING && !strcmp(order.name, "nuc")) return nuclear_norm(b, x, m);
  double p = order.kind == ARG_FLOAT                          ? order.number
             : order.kind == ARG_INT && dim_is_int(order.dim) ? (double)order.dim->value
                                                              : NAN;
  if (fabs(p) == 2) return spectral_norm(b, x, m, p > 0);
  if (fabs(p) == 1 || isinf(p)) return norm_of_sums(b, x, m, p);
  infer_fail(&b->in, E_GRAPH_NORM_ORDER);
}

Node *expand_matrix_norm(Build *b) {
  int64_t dims[GRAPH_RANK_MAX];
  Node *x = build_self(b);
  if (infer_ints(&b->in, "dim", dims) != 2) infer_fail(&b->in, E_GRAPH_NORM_ORDER);
  return matrix_norm(b, x, build_arg(b, "ord"), matrix_axes(b, x, dims));
}

/* The norm of all elements; of a vector or a matrix if there is an order. */
Node *expand_norm(Build *b) {
  Node *x = build_self(b);
  Arg order = build_arg(b, "ord"), dim = build_arg(b, "dim");
  bool keepdim = infer_bool(&b->in, "keepdim");
  if (order.kind == ARG_NONE) return vector_norm_of(b, x, build_int(b, 2), dim, keepdim);
  int64_t dims[GRAPH_RANK_MAX] = {-2, -1};
  uint32_t n = dim.kind == ARG_NONE ? rank_of(x) : infer_ints(&b->in, "dim", dims);
  if (n == 2) return matrix_norm(b, x, order, matrix_axes(b, x, dims));
  if (dim.kind == ARG_NONE || n > 2) infer_rank(&b->in, &x->type, 1, 2);
  if (n != 1 || order.kind == ARG_STRING) infer_fail(&b->in, E_GRAPH_NORM_ORDER);
  return vector_norm_of(b, x, order, dim, keepdim);
}

Node *expand_frobenius_norm(Build *b) {
  return vector_norm_of(b, build_self(b), build_int(b, 2), build_arg(b, "dim"),
                        infer_bool(&b->in, "keepdim"));
}

Node *expand_nuclear_norm(Build *b) {
  int64_t dims[GRAPH_RANK_MAX] = {-2, -1};
  Node *x = build_self(b);
  if (infer_takes(&b->in, "dim")) infer_ints(&b->in, "dim", dims);
  return nuclear_norm(b, x, matrix_axes(b, x, dims));
}

/* Over all axes but one. */
Node *expand_norm_except_dim(Build *b) {
  Node *v = build_input(b, "v");
  int64_t dim = infer_int(&b->in, "dim");
  Arg order = build_arg(b, "pow");
  if (dim == -1) return vector_norm_of(b, v, order, arg_none(), false);
  uint32_t others = all_axes(v) & ~(1u << infer_axis(&b->in, dim, rank_of(v)));
  return vector_norm_of(b, v, order, arg_axes(b->in.g, others), true);
}

Node *expand_dist(Build *b) {
  Node *gap = build_sub(b, build_self(b), build_input(b, "other"));
  return vector_norm_of(b, gap, build_arg(b, "p"), arg_none(), false);
}

/* Slices along an axis whose norm is above the largest allowed get that norm. */
Node *expand_renorm(Build *b) {
  Node *x = build_self(b);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  Arg most = build_arg(b, "maxnorm");
  uint32_t others = all_axes(x) & ~(1u << infer_axis_arg(&b->in, "dim", rank_of(x)));
  Node *wide = build_widen(b, x);
  Node *norm = vector_norm_of(b, wide, build_arg(b, "p"), arg_axes(b->in.g, others), true);
  Node *scale = build_with(b, OP_aten_add_Tensor, norm, arg_float(1e-7));
  scale = build_with(b, OP_aten_mul_Tensor, build_op1(b, OP_aten_reciprocal_default, scale), most);
  Node *one = build_full(b, 0, NULL, build_int(b, 1), scale->type.dtype);
  scale =
      build_where(b, build_with(b, OP_aten_gt_Scalar, norm, most), arg_node(scale), arg_node(one));
  return build_to(b, build_mul(b, wide, scale), x->type.dtype);
}

/* ---- condition numbers, ranks ---- */

Node *expand_cond(Build *b) {
  Node *x = build_self(b);
  Arg order = build_arg(b, "p");
  int64_t dims[] = {-2, -1};
  MatrixAxes m = matrix_axes(b, x, dims);
  bool spectral = order.kind == ARG_NONE || arg_is_number(&order, 2) || arg_is_number(&order, -2);
  if (spectral) {
    Node *values = singular_values(b, x, m);
    bool inverse = order.kind != ARG_NONE && arg_is_number(&order, -2);
    return build_div(b, extreme(b, values, !inverse), extreme(b, values, inverse));
  }
  Node *list = build_op1(b, OP_aten_linalg_inv_ex_default, x);
  Node *norms =
      build_mul(b, matrix_norm(b, x, order, m), matrix_norm(b, build_item(b, list, 0), order, m));
  Node *singular = build_with(b, OP_aten_gt_Scalar, build_item(b, list, 1), build_int(b, 0));
  Node *none = build_full(b, 0, NULL, arg_float(INFINITY), norms->type.dtype);
  return build_where(b, singular, arg_node(none), arg_node(norms));
}

static double epsilon_of(DType t) { return t == DT_F64 ? 0x1p-52 : 0x1p-23; }

/* A tolerance that is given as a number or a tensor, as an argument of mul and maximum. */
static Node *tolerance(Build *b, const char *param, DType t) {
  if (!infer_takes(&b->in, param) || !infer_has(&b->in, param)) return NULL;
  Arg a = build_arg(b, param);
  return a.kind == ARG_NODE ? a.node : build_full(b, 0, NULL, a, t);
}

/* The relative tolerance is that of rounding, unless an absolute one above 0 is given. */
static Node *relative_tolerance(Build *b, const Node *x, Node *absolute, DType t) {
  Node *given = tolerance(b, "rtol", t);
  if (given) return given;
  Dim most = dim_max(build_dims(b), size_from_end(x, 1), size_from_end(x, 2));
  Node *size = build_full(b, 0, NULL, arg_dim(most), t);
  Node *rounding = build_with(b, OP_aten_mul_Tensor, size, arg_float(epsilon_of(t)));
  if (!absolute) return rounding;
  Node *none = build_full(b, 0, NULL, build_int(b, 0), t);
  Node *positive = build_with(b, OP_aten_gt_Scalar, absolute, build_int(b, 0));
  return build_where(b, positive, arg_node(none), arg_node(rounding));
}

/* How many singular values are above the tolerance. */
Node *expand_matrix_rank(Build *b) {
  Node *x = infer_takes(&b->in, "input") ? build_input(b, "input") : build_self(b);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  bool hermitian = infer_bool(&b->in, "hermitian");
  Node *values =
      build_op1(b, hermitian ? OP_aten_linalg_eigvalsh_default : OP_aten_linalg_svdvals_default, x);
  if (hermitian) values = build_op1(b, OP_aten_abs_default, values);
  DType t = values->type.dtype;
  bool plain = infer_takes(&b->in, "tol");
  Node *absolute = tolerance(b, plain ? "tol" : "atol", t), *least = absolute;
  if (!plain) {
    Node *relative = build_mul(b, extreme(b, values, true), relative_tolerance(b, x, absolute, t));
    least = absolute ? build_op2(b, OP_aten_maximum_default, absolute, relative) : relative;
  }
  if (rank_of(least)) least = build_unsqueeze(b, least, rank_of(least));
  Node *above = build_op2(b, OP_aten_gt_Tensor, values, least);
  return build_sum(b, build_to(b, above, DT_I64), 1u << (rank_of(above) - 1), false);
}

Node *expand_pinv(Build *b) {
  Node *x = build_self(b), *relative = tolerance(b, "rcond", x->type.dtype);
  NamedArg named[] = {{"rtol", arg_node(relative)}, {"hermitian", build_arg(b, "hermitian")}};
  Arg args[] = {arg_node(x)};
  return build_with_all(b, OP_aten_linalg_pinv_atol_rtol_tensor, 1, args, 2, named);
}

/* ---- powers ---- */

Node *expand_matrix_power(Build *b) {
  Node *x = build_self(b), *y = NULL;
  int64_t n = infer_int(&b->in, "n");
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  if (n == 0) {
    Dim size = size_from_end(x, 1);
    Arg one[] = {arg_dim(size)};
    Node *unit =
        build_with_named(b, OP_aten_eye_default, 1, one, "dtype", arg_dtype(x->type.dtype));
    return build_expand(b, unit, rank_of(x), x->type.shape);
  }
  if (n < 0) x = build_op1(b, OP_aten_linalg_inv_default, x);
  for (uint64_t k = n < 0 ? -(uint64_t)n : (uint64_t)n; k; k >>= 1) {
    if (k & 1) y = y ? build_op2(b, OP_aten_matmul_default, y, x) : x;
    if (k > 1) x = build_op2(b, OP_aten_matmul_default, x, x);
  }
  return y;
}

/* The sum of powers of absolute values, without the root of a norm. */
static Node *power_sum(Build *b, Node *x, Arg axes, bool keepdim) {
  infer_need_float(&b->in, x->type.dtype);
  DType t = infer_dtype(&b->in, "dtype", x->type.dtype);
  Node *wide = build_widen(b, build_to(b, x, t));
  Node *size = build_op1(b, OP_aten_abs_default, wide);
  Node *power = build_with(b, OP_aten_pow_Tensor_Scalar, size, build_arg(b, "ord"));
  Node *sum = build(b, OP_aten_sum_dim_IntList, ARGS(arg_node(power), axes, arg_bool(keepdim)));
  return build_to(b, sum, t);
}

Node *expand_powsum(Build *b) {
  return power_sum(b, build_self(b), build_arg(b, "dim"), infer_bool(&b->in, "keepdim"));
}

Node *expand_foreach_powsum(Build *b) {
  Node **x = build_inputs(b, "self", &b->nitems);
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, b->nitems);
  for (uint32_t i = 0; i < b->nitems; i++) b->items[i] = power_sum(b, x[i], arg_none(), false);
  return NULL;
}

/* The norm of all elements, of order 2 if none is given. */
Node *expand_norm_of_all(Build *b) {
  Arg order = infer_has(&b->in, "p") ? build_arg(b, "p") : build_int(b, 2);
  return vector_norm_of(b, build_self(b), order, arg_none(), false);
}
