/* Factors, inverses and solutions of matrices. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"
#include "graph/ops/matrix_functions.h"

/* ---- operands ---- */

static void need_matrices(Infer *in, const ValueType *a) {
  infer_rank(in, a, 2, GRAPH_RANK_MAX);
  if (a->dtype != DT_F32 && a->dtype != DT_F64)
    infer_fail(in, E_GRAPH_DTYPE_WANTED, "f32 or f64", infer_type_text(in, a));
}

static void need_squares(Infer *in, const ValueType *a) {
  need_matrices(in, a);
  infer_same_size(in, a->shape[a->rank - 2], a->shape[a->rank - 1], "both axes of a matrix");
}

/* A factorization that fails says so by a result alone. */
static void need_plain_factors(Infer *in) {
  if (infer_bool(in, "check_errors")) infer_fail(in, E_GRAPH_FACTORS);
}

static Dim rows_of(const ValueType *a) { return a->shape[a->rank - 2]; }
static Dim columns_of(const ValueType *a) { return a->shape[a->rank - 1]; }

static Dim lesser_size(Infer *in, const ValueType *a) {
  return dim_min(in->g->dims, rows_of(a), columns_of(a));
}

/* ---- results ---- */

/* A matrix of that size for each of a's. */
static ValueType matrices(Infer *in, const ValueType *a, Dim rows, Dim columns) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(a, shape);
  shape[a->rank - 2] = rows;
  shape[a->rank - 1] = columns;
  return infer_type(in, a->dtype, a->rank, shape);
}

static ValueType vectors(Infer *in, const ValueType *a, Dim size, DType t) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(a, shape);
  shape[a->rank - 2] = size;
  return infer_type(in, t, a->rank - 1, shape);
}

static ValueType numbers(Infer *in, const ValueType *a, DType t) {
  return infer_type(in, t, a->rank - 2, a->shape);
}

/* PyTorch's tensor in place of a result that is not asked for. */
static ValueType nothing(Infer *in, DType t) {
  return infer_type(in, t, 1, (Dim[]){infer_const(in, 0)});
}

/* The batch axes of both, broadcast, and rows and columns of x. */
static ValueType broadcast_batches(Infer *in, const ValueType *a, const ValueType *x) {
  Operand each[] = {infer_tensor_operand(a), infer_tensor_operand(x)};
  for (int i = 0; i < 2; i++) each[i].rank -= 2;
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = infer_broadcast(in, each, 2, shape);
  if (rank + 2 > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, GRAPH_RANK_MAX);
  shape[rank] = rows_of(x);
  shape[rank + 1] = columns_of(x);
  return infer_type(in, x->dtype, rank + 2, shape);
}

/* ---- squares ---- */

/* A matrix for each matrix. */
void infer_of_square(Infer *in) {
  need_squares(in, infer_self(in));
  in->result = *infer_self(in);
}

void infer_matrix_exp(Infer *in) {
  const ValueType *a = infer_self(in);
  infer_rank(in, a, 2, GRAPH_RANK_MAX);
  infer_need_float(in, a->dtype);
  infer_same_size(in, rows_of(a), columns_of(a), "both axes of a matrix");
  in->result = *a;
}

void infer_det(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  in->result = numbers(in, a, a->dtype);
}

void infer_slogdet(Infer *in) {
  infer_det(in);
  infer_set_pair(in, in->result, in->result);
}

/* A matrix and a number that says if there is one. */
void infer_square_info(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  need_plain_factors(in);
  infer_set_pair(in, *a, numbers(in, a, DT_I32));
}

/* ---- solutions ---- */

/* Right-hand sides of matrices `a`, whose batches broadcast. */
static ValueType solution(Infer *in, const ValueType *a, const ValueType *x) {
  need_squares(in, a);
  infer_same_dtype(in, a, x);
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  bool right = infer_takes(in, "left") && !infer_bool(in, "left");
  infer_same_size(in, right ? columns_of(x) : rows_of(x), rows_of(a),
                  "matrices and right-hand sides");
  return broadcast_batches(in, a, x);
}

/* Is x a vector for each matrix? */
static bool are_vectors(const ValueType *a, const ValueType *x) {
  if (x->rank == 1) return true;
  if (x->rank + 1 != a->rank) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (x->shape[i] != a->shape[i]) return false;
  return true;
}

static ValueType solution_of_any(Infer *in) {
  const ValueType *a = infer_tensor(in, "A"), *x = infer_tensor(in, "B");
  need_squares(in, a);
  if (!are_vectors(a, x)) return solution(in, a, x);
  infer_same_dtype(in, a, x);
  infer_same_size(in, rows_of(a), x->shape[x->rank - 1], "matrices and right-hand sides");
  return infer_type(in, x->dtype, a->rank - 1, a->shape);
}

void infer_solve(Infer *in) { in->result = solution_of_any(in); }

void infer_solve_ex(Infer *in) {
  const ValueType *a = infer_tensor(in, "A");
  ValueType x = solution_of_any(in);
  need_plain_factors(in);
  ValueType items[] = {x, *a, vectors(in, a, rows_of(a), DT_I32), numbers(in, a, DT_I32)};
  infer_set_list(in, 4, items);
}

void infer_solve_triangular(Infer *in) {
  const ValueType *a = infer_self(in);
  in->result = solution(in, a, infer_tensor(in, "B"));
}

void infer_triangular_solve(Infer *in) {
  const ValueType *a = infer_tensor(in, "A");
  ValueType x = solution(in, a, infer_self(in)), both = broadcast_batches(in, &x, a);
  infer_set_pair(in, x, both);
}

void infer_cholesky_solve(Infer *in) {
  in->result = solution(in, infer_tensor(in, "input2"), infer_self(in));
}

/* Pivots of that many rows for each matrix. */
static void need_pivots(Infer *in, const ValueType *a, const char *param, Dim rows) {
  const ValueType *pivots = infer_tensor(in, param);
  infer_rank(in, pivots, a->rank - 1, a->rank - 1);
  if (!dtype_is_int(pivots->dtype))
    infer_fail(in, E_GRAPH_DTYPE_WANTED, "i32", infer_type_text(in, pivots));
  for (uint32_t i = 0; i + 2 < a->rank; i++)
    infer_same_size(in, a->shape[i], pivots->shape[i], "factors and pivots");
  infer_same_size(in, pivots->shape[a->rank - 2], rows, "factors and pivots");
}

void infer_lu_solve(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  need_pivots(in, a, "pivots", rows_of(a));
  in->result = solution(in, a, infer_tensor(in, "B"));
}

/* ---- factors ---- */

void infer_lu_factor(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  need_plain_factors(in);
  ValueType items[] = {*a, vectors(in, a, lesser_size(in, a), DT_I32), numbers(in, a, DT_I32)};
  infer_set_list(in, infer_takes(in, "check_errors") ? 3 : 2, items);
}

static void set_lu(Infer *in, const ValueType *a, bool permutation, bool factors) {
  Dim rows = rows_of(a), columns = columns_of(a), less = lesser_size(in, a);
  ValueType none = nothing(in, a->dtype);
  ValueType items[] = {permutation ? matrices(in, a, rows, rows) : none,
                       factors ? matrices(in, a, rows, less) : none,
                       factors ? matrices(in, a, less, columns) : none};
  infer_set_list(in, 3, items);
}

void infer_lu(Infer *in) {
  need_matrices(in, infer_self(in));
  set_lu(in, infer_self(in), infer_bool(in, "pivot"), true);
}

void infer_lu_unpack(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  need_pivots(in, a, "LU_pivots", lesser_size(in, a));
  set_lu(in, a, infer_bool(in, "unpack_pivots"), infer_bool(in, "unpack_data"));
}

/* Symmetric factors, and pivots that may be negative, which is of blocks of two rows. */
void infer_ldl_factor(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  need_plain_factors(in);
  ValueType items[] = {*a, vectors(in, a, rows_of(a), DT_I32), numbers(in, a, DT_I32)};
  infer_set_list(in, 3, items);
}

void infer_ldl_solve(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  need_pivots(in, a, "pivots", rows_of(a));
  in->result = solution(in, a, infer_tensor(in, "B"));
}

/* ---- orthogonal factors ---- */

void infer_qr(Infer *in) {
  const ValueType *a = infer_self(in);
  Name mode = infer_string(in, "mode");
  need_matrices(in, a);
  Dim rows = rows_of(a), less = lesser_size(in, a);
  bool all = !strcmp(mode, "complete"), one = !strcmp(mode, "r");
  if (!all && !one && strcmp(mode, "reduced")) infer_fail(in, E_GRAPH_QR_MODE, mode);
  infer_set_pair(in, one ? nothing(in, a->dtype) : matrices(in, a, rows, all ? rows : less),
                 matrices(in, a, all ? rows : less, columns_of(a)));
}

void infer_geqrf(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  infer_set_pair(in, *a, vectors(in, a, lesser_size(in, a), a->dtype));
}

/* Reflections: vectors below the diagonal, and a factor for each. */
static void need_reflections(Infer *in, const ValueType *a, const ValueType *factors) {
  need_matrices(in, a);
  infer_same_dtype(in, a, factors);
  infer_rank(in, factors, a->rank - 1, a->rank - 1);
  for (uint32_t i = 0; i + 2 < a->rank; i++)
    infer_same_size(in, a->shape[i], factors->shape[i], "vectors and factors");
  if (!infer_at_least(in, columns_of(a), factors->shape[a->rank - 2]))
    infer_fail(in, E_GRAPH_REFLECTIONS, infer_dim_text(in, factors->shape[a->rank - 2]),
               infer_dim_text(in, columns_of(a)));
}

void infer_householder_product(Infer *in) {
  const ValueType *a = infer_self(in);
  need_reflections(in, a, infer_tensor(in, "tau"));
  in->result = *a;
}

void infer_ormqr(Infer *in) {
  const ValueType *a = infer_self(in), *x = infer_tensor(in, "input3");
  need_reflections(in, a, infer_tensor(in, "input2"));
  infer_same_dtype(in, a, x);
  infer_rank(in, x, a->rank, a->rank);
  for (uint32_t i = 0; i + 2 < a->rank; i++)
    infer_same_size(in, a->shape[i], x->shape[i], "reflections and matrices");
  infer_same_size(in, rows_of(a), infer_bool(in, "left") ? rows_of(x) : columns_of(x),
                  "reflections and matrices");
  in->result = *x;
}

/* ---- eigenvalues and singular values ---- */

static bool wants_vectors(Infer *in, const char *param) {
  return !infer_takes(in, param) || infer_bool(in, param);
}

void infer_eigh(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  infer_set_pair(in, vectors(in, a, rows_of(a), a->dtype),
                 wants_vectors(in, "compute_v") ? *a : nothing(in, a->dtype));
}

void infer_eigvalsh(Infer *in) {
  const ValueType *a = infer_self(in);
  need_squares(in, a);
  in->result = vectors(in, a, rows_of(a), a->dtype);
}

void infer_svdvals(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  in->result = vectors(in, a, lesser_size(in, a), a->dtype);
}

void infer_svd(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  Dim rows = rows_of(a), columns = columns_of(a), less = lesser_size(in, a);
  bool wanted = wants_vectors(in, "compute_uv"), full = infer_bool(in, "full_matrices");
  ValueType none = nothing(in, a->dtype);
  ValueType items[] = {wanted ? matrices(in, a, rows, full ? rows : less) : none,
                       vectors(in, a, less, a->dtype),
                       wanted ? matrices(in, a, full ? columns : less, columns) : none};
  infer_set_list(in, 3, items);
}

void infer_pinv(Infer *in) {
  const ValueType *a = infer_self(in);
  need_matrices(in, a);
  if (infer_bool(in, "hermitian")) need_squares(in, a);
  static const char *const tolerances[] = {"atol", "rtol"};
  for (int i = 0; i < 2; i++) {
    if (!infer_has(in, tolerances[i])) continue;
    Operand x = infer_operand(in, tolerances[i]);
    infer_fits(in, &x, a->shape, a->rank - 2);
  }
  in->result = matrices(in, a, columns_of(a), rows_of(a));
}

/* ---- matrices that are computed by kernels of their own ---- */

void infer_matrix(Infer *in) {
  const ValueType *to = infer_self(in), *a = infer_tensor(in, "a");
  const ValueType *with = infer_tensor(in, "other"), *row = infer_tensor(in, "row");
  Dim dims[GRAPH_RANK_MAX];
  int64_t sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "sizes", dims);
  for (uint32_t i = 0; i < n; i++) sizes[i] = dim_is_int(dims[i]) ? dims[i]->value : -1;
  MatrixElements elements;
  if (!matrix_elements(infer_string(in, "function"), n, sizes, &elements))
    infer_fail(in, E_GRAPH_MATRIX_FUNCTION, infer_string(in, "function"), n);
  infer_rank(in, row, 1, 1);
  const ValueType *each[] = {to, a, with};
  int64_t counts[] = {elements.out, elements.a, elements.with};
  for (int i = 0; i < 3; i++) {
    infer_rank(in, each[i], 2, 2);
    infer_same_size(in, each[i]->shape[0], row->shape[0], "matrices");
    if (counts[i])
      infer_same_size(in, each[i]->shape[1], infer_const(in, counts[i]), "elements of a matrix");
  }
  in->result = *to;
}
