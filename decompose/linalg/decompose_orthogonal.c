/* Orthogonal factors, eigenvalues and singular values of small matrices, and the operators
 * that are computed by them: pseudoinverses and exponentials. */
#include <float.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/linalg/matrices.h"

/* ---- reflections ---- */

/* Q is the product of reflections: their vectors are below the diagonal, with a factor each. */
typedef struct {
  Batch batch;
  int64_t rows, columns, n; /* of the vectors' matrix; n reflections */
  Node *vectors, *factors;
} Reflections;

static Reflections reflections_of(Build *b, Node *vectors, Node *factors) {
  return (Reflections){batch_of(b, vectors),
                       matrix_size(b, vectors, 2),
                       matrix_size(b, vectors, 1),
                       matrix_size(b, factors, 1),
                       vectors,
                       factors};
}

static Reflections reflect_to_triangle(Build *b, Node *a) {
  Reflections r = {batch_of(b, a), matrix_size(b, a, 2), matrix_size(b, a, 1), 0, NULL, NULL};
  r.n = r.rows < r.columns ? r.rows : r.columns;
  int64_t all = r.rows * r.columns;
  Node *packed =
      matrix_call(b, "qr", a, NULL, &r.batch, all + r.n, a->type.dtype, SIZES(r.rows, r.columns));
  r.vectors = matrix_part(b, packed, &r.batch, 0, 2, (int64_t[]){r.rows, r.columns});
  r.factors = matrix_part(b, packed, &r.batch, all, 1, &r.n);
  return r;
}

/* Q x, or its transpose times x. */
static Node *reflected(Build *b, const Reflections *r, Node *x, bool transposed) {
  if (!r->n) return x;
  int64_t columns = matrix_size(b, x, 1);
  Dim flat[GRAPH_RANK_MAX];
  memcpy(flat, r->batch.shape, r->batch.rank * sizeof *flat);
  flat[r->batch.rank] = build_const(b, r->rows * r->columns);
  Node *parts[] = {build_view(b, r->vectors, r->batch.rank + 1, flat), r->factors};
  /* Each matrix becomes a row, with an axis more, as matrix_call takes them. */
  Node *packed = build_cat(b, 2, parts, r->batch.rank);
  Node *y = matrix_call(b, "reflect", packed, x, &r->batch, r->rows * columns, x->type.dtype,
                        SIZES(r->rows, columns, r->n, r->columns, transposed));
  return matrix_part(b, y, &r->batch, 0, 2, (int64_t[]){r->rows, columns});
}

/* The first columns of Q. */
static Node *product_of(Build *b, const Reflections *r, int64_t columns) {
  Node *one = matrix_identity(b, &r->batch, r->rows, columns, r->vectors->type.dtype);
  return reflected(b, r, one, false);
}

Node *decompose_geqrf(Build *b) {
  Reflections r = reflect_to_triangle(b, build_self(b));
  return build_pair(b, r.vectors, r.factors);
}

Node *decompose_householder_product(Build *b) {
  Reflections r = reflections_of(b, build_self(b), build_input(b, "tau"));
  return product_of(b, &r, r.columns);
}

Node *decompose_ormqr(Build *b) {
  Reflections r = reflections_of(b, build_self(b), build_input(b, "input2"));
  Node *x = build_input(b, "input3");
  bool left = infer_bool(&b->in, "left"), transposed = infer_bool(&b->in, "transpose");
  if (left) return reflected(b, &r, x, transposed);
  return matrix_transpose(b, reflected(b, &r, matrix_transpose(b, x), !transposed));
}

Node *decompose_qr(Build *b) {
  const ValueType *t = b->in.n->type.items; /* Q, R */
  Reflections r = reflect_to_triangle(b, build_self(b));
  Node *results[2] = {0};
  if (t[0].rank > 1) results[0] = product_of(b, &r, t[0].shape[t[0].rank - 1]->value);
  uint32_t axis = r.batch.rank;
  Node *upper = build_slice(b, r.vectors, axis, build_const(b, 0), t[1].shape[axis], 1);
  results[1] = matrix_triangle(b, upper, true);
  return build_results(b, 2, results);
}

/* ---- eigenvalues ---- */

typedef struct {
  Node *values, *vectors;
} Eigen;

static Eigen eigen_of(Build *b, Node *a, bool upper) {
  Batch batch = batch_of(b, a);
  int64_t n = matrix_size(b, a, 1);
  Node *all = matrix_call(b, "eigh", a, NULL, &batch, n * n + n, a->type.dtype, SIZES(n, upper));
  return (Eigen){matrix_part(b, all, &batch, 0, 1, &n),
                 matrix_part(b, all, &batch, n, 2, (int64_t[]){n, n})};
}

Node *decompose_eigh(Build *b) {
  Eigen e = eigen_of(b, build_self(b), *infer_string(&b->in, "UPLO") == 'U');
  bool vectors = b->in.n->type.items[1].rank > 1;
  return build_results(b, 2, (Node *[]){e.values, vectors ? e.vectors : NULL});
}

Node *decompose_eigvalsh(Build *b) {
  return eigen_of(b, build_self(b), *infer_string(&b->in, "UPLO") == 'U').values;
}

/* ---- singular values ---- */

typedef struct {
  Node *left, *values, *right; /* all columns of both */
} Singular;

static Singular singular_of(Build *b, Node *a) {
  Batch batch = batch_of(b, a);
  int64_t rows = matrix_size(b, a, 2), columns = matrix_size(b, a, 1);
  DType t = a->type.dtype;
  if (!rows || !columns) {
    Node *none = build_full(b, 2, (Dim[]){batch.n, build_const(b, 0)}, build_int(b, 0), t);
    return (Singular){matrix_identity(b, &batch, rows, rows, t),
                      matrix_part(b, none, &batch, 0, 1, (int64_t[]){0}),
                      matrix_identity(b, &batch, columns, columns, t)};
  }
  if (rows < columns) {
    Singular s = singular_of(b, matrix_transpose(b, a));
    return (Singular){s.right, s.values, s.left};
  }
  int64_t count = columns + rows * rows + columns * columns;
  Node *all = matrix_call(b, "svd", a, NULL, &batch, count, t, SIZES(rows, columns));
  Node *values = matrix_part(b, all, &batch, 0, 1, &columns);
  Node *left = matrix_part(b, all, &batch, columns, 2, (int64_t[]){rows, rows});
  int64_t from = columns + rows * rows;
  return (Singular){left, values,
                    matrix_part(b, all, &batch, from, 2, (int64_t[]){columns, columns})};
}

/* The first columns of a matrix. */
static Node *first_columns(Build *b, Node *a, Dim n) {
  return build_slice(b, a, rank_of(a) - 1, build_const(b, 0), n, 1);
}

Node *decompose_svd(Build *b) {
  const ValueType *t = b->in.n->type.items; /* U, S, V transposed */
  Singular s = singular_of(b, build_self(b));
  Node *results[3] = {NULL, s.values, NULL};
  if (t[0].rank > 1) {
    uint32_t rank = t[0].rank;
    results[0] = first_columns(b, s.left, t[0].shape[rank - 1]);
    results[2] = matrix_transpose(b, first_columns(b, s.right, t[2].shape[rank - 2]));
  }
  return build_results(b, 3, results);
}

Node *decompose_svdvals(Build *b) { return singular_of(b, build_self(b)).values; }

/* ---- pseudoinverses ---- */

/* A number, or one for each matrix, with an axis for the values; NULL: it is not given. */
static Node *given_tolerance(Build *b, const char *param, DType t) {
  if (!infer_has(&b->in, param)) return NULL;
  Node *x = build_scalar_arg(b, param, t);
  return build_unsqueeze(b, x, rank_of(x));
}

/* Without a relative one it is that of the dtype, but 0 where the absolute one is above 0;
 * `largest` is [..., 1]. */
static Node *tolerance(Build *b, Node *a, Node *largest) {
  DType t = a->type.dtype;
  int64_t rows = matrix_size(b, a, 2), columns = matrix_size(b, a, 1);
  double step = t == DT_F64 ? DBL_EPSILON : FLT_EPSILON;
  Arg otherwise = arg_float(step * (double)(rows > columns ? rows : columns));
  Node *absolute = given_tolerance(b, "atol", t), *relative = given_tolerance(b, "rtol", t);
  Node *by = relative ? build_mul(b, largest, relative)
                      : build_with(b, OP_aten_mul_Tensor, largest, otherwise);
  if (!absolute) return build_with(b, OP_aten_clamp_min_default, by, build_int(b, 0));
  Node *positive = build_with(b, OP_aten_gt_Scalar, absolute, build_int(b, 0));
  if (!relative) by = build_where(b, positive, arg_float(0), arg_node(by));
  return build_op2(b, OP_aten_maximum_default, absolute, by);
}

/* Reciprocals of the values that are larger than the tolerance, whatever their sign. */
static Node *reciprocals(Build *b, Node *a, Node *values) {
  Node *size = build_op1(b, OP_aten_abs_default, values);
  Node *largest = build_reduce(b, OP_aten_amax_default, size, 1u << (rank_of(size) - 1), true);
  Node *large = build_op2(b, OP_aten_gt_Tensor, size, tolerance(b, a, largest));
  Node *y = build_where(b, large, arg_node(build_op1(b, OP_aten_reciprocal_default, values)),
                        arg_float(0));
  return build_unsqueeze(b, y, rank_of(y) - 1);
}

Node *decompose_pinv(Build *b) {
  Node *a = build_self(b), *left, *right, *values;
  const ValueType *t = &b->in.n->type;
  if (dim_is(size_from_end(a, 1), 0) || dim_is(size_from_end(a, 2), 0))
    return build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
  if (infer_bool(&b->in, "hermitian")) {
    Eigen e = eigen_of(b, a, false);
    left = right = e.vectors;
    values = e.values;
  } else {
    Singular s = singular_of(b, a);
    values = s.values;
    left = first_columns(b, s.left, size_from_end(values, 1));
    right = first_columns(b, s.right, size_from_end(values, 1));
  }
  right = build_mul(b, right, reciprocals(b, a, values));
  return build_op2(b, OP_aten_matmul_default, right, matrix_transpose(b, left));
}

/* ---- powers ---- */

Node *decompose_matrix_exp(Build *b) {
  Node *a = build_self(b);
  Batch batch = batch_of(b, a);
  int64_t n = matrix_size(b, a, 1);
  Node *y = matrix_call(b, "power", a, NULL, &batch, n * n, a->type.dtype, SIZES(n));
  return matrix_part(b, y, &batch, 0, 2, (int64_t[]){n, n});
}
