/* Factors, inverses and solutions of small matrices.  Factors are computed by nereid.matrix, a
 * program for each matrix; pivots are those of LAPACK, which count rows from 1. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/linalg/matrices.h"

/* ---- Cholesky ---- */

typedef struct {
  Node *factor, *info;
} Cholesky;

static Cholesky cholesky_of(Build *b, Node *a, bool upper) {
  Batch batch = batch_of(b, a);
  int64_t n = matrix_size(b, a, 1);
  if (upper) a = matrix_transpose(b, a);
  Node *all = matrix_call(b, "cholesky", a, NULL, &batch, n * n + 1, a->type.dtype, SIZES(n));
  Node *y = matrix_part(b, all, &batch, 0, 2, (int64_t[]){n, n});
  Node *info = build_to(b, matrix_part(b, all, &batch, n * n, 0, NULL), DT_I32);
  return (Cholesky){upper ? matrix_transpose(b, y) : y, info};
}

Node *decompose_cholesky(Build *b) {
  return cholesky_of(b, build_self(b), infer_bool(&b->in, "upper")).factor;
}

Node *decompose_cholesky_ex(Build *b) {
  Cholesky c = cholesky_of(b, build_self(b), infer_bool(&b->in, "upper"));
  return build_pair(b, c.factor, c.info);
}

/* Solves by the factor of a = l lᵀ, or uᵀ u. */
static Node *solve_by_cholesky(Build *b, Node *factor, Node *x, bool upper) {
  Node *other = matrix_transpose(b, factor);
  x = matrix_solve_triangle(b, upper ? other : factor, x, false, false);
  return matrix_solve_triangle(b, upper ? factor : other, x, true, false);
}

Node *decompose_cholesky_solve(Build *b) {
  Node *x = build_self(b), *factor = build_input(b, "input2");
  Batch batch = batch_of_both(b, factor, x);
  return solve_by_cholesky(b, matrix_expand(b, factor, &batch), matrix_expand(b, x, &batch),
                           infer_bool(&b->in, "upper"));
}

Node *decompose_cholesky_inverse(Build *b) {
  Node *factor = build_self(b);
  Batch batch = batch_of(b, factor);
  int64_t n = matrix_size(b, factor, 1);
  Node *one = matrix_identity(b, &batch, n, n, factor->type.dtype);
  return solve_by_cholesky(b, factor, one, infer_bool(&b->in, "upper"));
}

/* ---- LU ---- */

typedef struct {
  Batch batch;
  int64_t rows, columns, less; /* less: of both */
  Node *lu, *pivots, *info;
} Factors;

/* The rows change places unless the operator has `pivot`, and it is false. */
static bool pivots(Build *b) {
  return !infer_takes(&b->in, "pivot") || infer_bool(&b->in, "pivot");
}

static Factors factors_of(Build *b, Node *a) {
  Factors f = {batch_of(b, a), matrix_size(b, a, 2), matrix_size(b, a, 1), 0, NULL, NULL, NULL};
  f.less = f.rows < f.columns ? f.rows : f.columns;
  int64_t n = f.rows * f.columns;
  Node *all = matrix_call(b, "lu", a, NULL, &f.batch, n + f.less + 1, a->type.dtype,
                          SIZES(f.rows, f.columns, pivots(b)));
  f.lu = matrix_part(b, all, &f.batch, 0, 2, (int64_t[]){f.rows, f.columns});
  f.pivots = build_to(b, matrix_part(b, all, &f.batch, n, 1, &f.less), DT_I32);
  f.info = build_to(b, matrix_part(b, all, &f.batch, n + f.less, 0, NULL), DT_I32);
  return f;
}

/* For each row of the product of the factors the row of the matrix that it is: [..., rows]. */
static Node *order_of(Build *b, Node *pivots, int64_t rows) {
  Batch batch = {.rank = rank_of(pivots) - 1};
  for (uint32_t i = 0; i < batch.rank; i++) batch.shape[i] = pivots->type.shape[i];
  batch.n = infer_product(&b->in, batch.shape, batch.rank);
  int64_t count = matrix_size(b, pivots, 1);
  if (!count) { /* of no pivots */
    Dim shape[GRAPH_RANK_MAX];
    memcpy(shape, batch.shape, batch.rank * sizeof *shape);
    shape[batch.rank] = build_const(b, rows);
    return build_expand(b, build_arange(b, shape[batch.rank]), batch.rank + 1, shape);
  }
  Node *order = matrix_call(b, "order", pivots, NULL, &batch, rows, DT_I64, SIZES(rows, count));
  return matrix_part(b, order, &batch, 0, 1, &rows);
}

/* P of A = P L U, as truth values: P[order[i], i]. */
static Node *permutation_of(Build *b, Node *order) {
  Dim n = size_from_end(order, 1);
  Node *row = build_unsqueeze(b, build_arange(b, n), 1);
  return build_op2(b, OP_aten_eq_Tensor, row, build_unsqueeze(b, order, rank_of(order) - 1));
}

/* The rows of x in the order of P x, or of Pᵀ x. */
static Node *permuted(Build *b, Node *order, Node *x, bool transposed) {
  Dim n = size_from_end(order, 1);
  uint32_t rank = rank_of(x);
  if (!transposed) { /* where each row has gone */
    Node *number = build_unsqueeze(b, build_arange(b, n), 1);
    Node *is = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, order, rank_of(order)),
                         build_arange(b, n));
    Node *at = build_where(b, is, arg_node(number), build_int(b, 0));
    order = build_sum(b, at, 1u << (rank_of(at) - 2), false);
  }
  Node *index = build_expand(b, build_unsqueeze(b, order, rank_of(order)), rank, x->type.shape);
  return build(b, OP_aten_gather_default,
               ARGS(arg_node(x), build_int(b, rank - 2), arg_node(index)));
}

/* The solution of P L U x = y, or of its transpose. */
static Node *solve_by_lu(Build *b, Node *lu, Node *order, Node *y, bool transposed) {
  if (!transposed) {
    Node *x = matrix_solve_triangle(b, lu, permuted(b, order, y, true), false, true);
    return matrix_solve_triangle(b, lu, x, true, false);
  }
  Node *other = matrix_transpose(b, lu);
  Node *x = matrix_solve_triangle(b, other, y, false, false);
  return permuted(b, order, matrix_solve_triangle(b, other, x, true, true), false);
}

static Node *with_batch(Build *b, Node *order, const Batch *batch) {
  Node *column = build_unsqueeze(b, order, rank_of(order));
  return build_squeeze(b, matrix_expand(b, column, batch), 1u << (batch->rank + 1));
}

/* Solves with batches that broadcast; x a = y if not `left`. */
static Node *solve_all(Build *b, const Factors *f, Node *y, bool left, bool transposed) {
  if (!left) y = matrix_transpose(b, y);
  Batch batch = batch_of_both(b, f->lu, y);
  Node *order = with_batch(b, order_of(b, f->pivots, matrix_size(b, f->lu, 1)), &batch);
  Node *x = solve_by_lu(b, matrix_expand(b, f->lu, &batch), order, matrix_expand(b, y, &batch),
                        transposed != !left);
  return left ? x : matrix_transpose(b, x);
}

Node *decompose_lu_factor(Build *b) {
  Factors f = factors_of(b, build_self(b));
  return build_results(b, b->in.n->type.nitems, (Node *[]){f.lu, f.pivots, f.info});
}

typedef struct {
  Node *lower, *upper;
} Triangles;

static Triangles triangles_of(Build *b, Node *lu) {
  Batch batch = batch_of(b, lu);
  int64_t rows = matrix_size(b, lu, 2), columns = matrix_size(b, lu, 1);
  int64_t less = rows < columns ? rows : columns;
  uint32_t rank = rank_of(lu);
  Dim zero = build_const(b, 0), size = build_const(b, less);
  Node *lower = build_slice(b, lu, rank - 1, zero, size, 1);
  lower = build(b, OP_aten_tril_default, ARGS(arg_node(lower), build_int(b, -1)));
  Node *one = matrix_identity(b, &batch, rows, less, lu->type.dtype);
  Node *upper = build_slice(b, lu, rank - 2, zero, size, 1);
  return (Triangles){build_add(b, lower, one), matrix_triangle(b, upper, true)};
}

static Node *permutation_matrix(Build *b, Node *pivots, int64_t rows, DType t) {
  return build_to(b, permutation_of(b, order_of(b, pivots, rows)), t);
}

Node *decompose_lu_unpack(Build *b) {
  Node *lu = build_self(b), *pivots = build_input(b, "LU_pivots"), *results[3] = {0};
  if (infer_bool(&b->in, "unpack_pivots"))
    results[0] = permutation_matrix(b, pivots, matrix_size(b, lu, 2), lu->type.dtype);
  if (infer_bool(&b->in, "unpack_data")) {
    Triangles t = triangles_of(b, lu);
    results[1] = t.lower;
    results[2] = t.upper;
  }
  return build_results(b, 3, results);
}

Node *decompose_lu(Build *b) {
  Factors f = factors_of(b, build_self(b));
  Triangles t = triangles_of(b, f.lu);
  bool permuted = pivots(b);
  Node *order = permuted ? permutation_matrix(b, f.pivots, f.rows, f.lu->type.dtype) : NULL;
  return build_results(b, 3, (Node *[]){order, t.lower, t.upper});
}

Node *decompose_lu_solve(Build *b) {
  Factors f = {.lu = build_self(b), .pivots = build_input(b, "pivots")};
  return solve_all(b, &f, build_input(b, "B"), infer_bool(&b->in, "left"),
                   infer_bool(&b->in, "adjoint"));
}

/* ---- of squares ---- */

static Node *inverse_of(Build *b, const Factors *f) {
  Node *one = matrix_identity(b, &f->batch, f->rows, f->rows, f->lu->type.dtype);
  return solve_all(b, f, one, true, false);
}

Node *decompose_inverse(Build *b) {
  Factors f = factors_of(b, build_self(b));
  return inverse_of(b, &f);
}

Node *decompose_inverse_ex(Build *b) {
  Factors f = factors_of(b, build_self(b));
  return build_pair(b, inverse_of(b, &f), f.info);
}

static Node *product_along_last(Build *b, Node *x) {
  return build_with(b, OP_aten_prod_dim_int, x, build_int(b, rank_of(x) - 1));
}

/* The diagonal of U, and the signs of the exchanges of rows. */
typedef struct {
  Node *diagonal, *signs;
} Pivots;

static Pivots pivots_of(Build *b, const Factors *f) {
  uint32_t rank = rank_of(f->lu);
  Node *diagonal =
      build(b, OP_aten_diagonal_default,
            ARGS(arg_node(f->lu), build_int(b, 0), build_int(b, rank - 2), build_int(b, rank - 1)));
  Node *own =
      build_with(b, OP_aten_add_Tensor, build_arange(b, build_const(b, f->rows)), build_int(b, 1));
  Node *same = build_op2(b, OP_aten_eq_Tensor, f->pivots, build_to(b, own, DT_I32));
  Node *signs = build_where(b, same, arg_float(1), arg_float(-1));
  return (Pivots){diagonal, build_to(b, signs, diagonal->type.dtype)};
}

Node *decompose_det(Build *b) {
  Factors f = factors_of(b, build_self(b));
  Pivots p = pivots_of(b, &f);
  return product_along_last(b, build_mul(b, p.diagonal, p.signs));
}

Node *decompose_slogdet(Build *b) {
  Factors f = factors_of(b, build_self(b));
  Pivots p = pivots_of(b, &f);
  Node *signs = build_mul(b, build_op1(b, OP_aten_sign_default, p.diagonal), p.signs);
  Node *size = build_op1(b, OP_aten_abs_default, p.diagonal);
  Node *sum = build_sum(b, build_op1(b, OP_aten_log_default, size), 1u << f.batch.rank, false);
  return build_pair(b, product_along_last(b, signs), sum);
}

static Node *solved(Build *b, const Factors *f) {
  const ValueType *t = &b->in.n->type;
  Node *y = build_input(b, "B");
  bool vectors = (t->kind == VALUE_LIST ? t->items : t)->rank < rank_of(f->lu);
  if (vectors) y = build_unsqueeze(b, y, rank_of(y));
  Node *x = solve_all(b, f, y, infer_bool(&b->in, "left"), false);
  return vectors ? build_squeeze(b, x, 1u << (rank_of(x) - 1)) : x;
}

Node *decompose_solve(Build *b) {
  Factors f = factors_of(b, build_input(b, "A"));
  return solved(b, &f);
}

Node *decompose_solve_ex(Build *b) {
  Factors f = factors_of(b, build_input(b, "A"));
  Node *results[] = {solved(b, &f), f.lu, f.pivots, f.info};
  return build_results(b, 4, results);
}

/* ---- symmetric matrices ---- */

Node *decompose_ldl_factor(Build *b) {
  Node *a = build_self(b);
  Batch batch = batch_of(b, a);
  int64_t n = matrix_size(b, a, 1), all = n * n;
  Node *packed = matrix_call(b, "ldl", a, NULL, &batch, all + n + 1, a->type.dtype, SIZES(n));
  Node *results[] = {matrix_part(b, packed, &batch, 0, 2, (int64_t[]){n, n}),
                     matrix_part(b, packed, &batch, all, 1, &n),
                     matrix_part(b, packed, &batch, all + n, 0, NULL)};
  return build_results(b, 3, results);
}

Node *decompose_ldl_solve(Build *b) {
  Node *ld = build_self(b), *pivots = build_input(b, "pivots"), *y = build_input(b, "B");
  Batch batch = batch_of_both(b, ld, y);
  pivots = build_unsqueeze(b, build_to(b, pivots, y->type.dtype), rank_of(pivots));
  Node *parts[] = {ld, pivots}; /* pivots are a last column */
  ld = matrix_expand(b, build_cat(b, 2, parts, rank_of(ld) - 1), &batch);
  y = matrix_expand(b, y, &batch);
  int64_t n = matrix_size(b, y, 2), columns = matrix_size(b, y, 1);
  Node *x =
      matrix_call(b, "ldl_solve", ld, y, &batch, n * columns, y->type.dtype, SIZES(n, columns));
  return matrix_part(b, x, &batch, 0, 2, (int64_t[]){n, columns});
}

/* ---- triangles ---- */

static Node *solve_triangle(Build *b, Node *a, Node *y, bool left, bool upper, bool unit) {
  if (!left) {
    a = matrix_transpose(b, a);
    y = matrix_transpose(b, y);
    upper = !upper;
  }
  Batch batch = batch_of_both(b, a, y);
  Node *x = matrix_solve_triangle(b, matrix_expand(b, a, &batch), matrix_expand(b, y, &batch),
                                  upper, unit);
  return left ? x : matrix_transpose(b, x);
}

Node *decompose_solve_triangular(Build *b) {
  Infer *in = &b->in;
  return solve_triangle(b, build_self(b), build_input(b, "B"), infer_bool(in, "left"),
                        infer_bool(in, "upper"), infer_bool(in, "unitriangular"));
}

Node *decompose_triangular_solve(Build *b) {
  Infer *in = &b->in;
  Node *a = build_input(b, "A"), *y = build_self(b), *of = a;
  bool upper = infer_bool(in, "upper");
  if (infer_bool(in, "transpose")) {
    of = matrix_transpose(b, a);
    upper = !upper;
  }
  Node *x = solve_triangle(b, of, y, true, upper, infer_bool(in, "unitriangular"));
  Batch batch = batch_of_both(b, a, y);
  return build_pair(b, x, matrix_expand(b, a, &batch));
}
