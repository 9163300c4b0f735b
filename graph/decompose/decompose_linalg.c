/* Factors, inverses and solutions of small matrices: a step for each column, on all matrices of a
 * batch at once. */
#include "graph/decompose/decompose.h"
#include "graph/messages.h"

enum { ROWS_MAX = 16 };

static int64_t rows_of(Build *b, const Node *a) {
  Dim n = size_from_end(a, 1);
  if (!dim_is_int(n) || n->value > ROWS_MAX)
    infer_fail(&b->in, E_GRAPH_MATRIX_ROWS, infer_dim_text(&b->in, n), ROWS_MAX);
  return n->value;
}

/* Column or row k, with its axis: [..., n, 1] or [..., 1, n]. */
static Node *line(Build *b, Node *a, int64_t k, uint32_t from_end) {
  uint32_t axis = rank_of(a) - from_end;
  return build_slice(b, a, axis, build_const(b, k), build_const(b, k + 1), 1);
}

static Node *column(Build *b, Node *a, int64_t k) { return line(b, a, k, 1); }
static Node *row(Build *b, Node *a, int64_t k) { return line(b, a, k, 2); }

/* Numbers of rows, [n, 1]. */
static Node *row_numbers(Build *b, int64_t n) {
  return build_unsqueeze(b, build_arange(b, build_const(b, n)), 1);
}

static Node *where_rows(Build *b, OpId test, int64_t n, int64_t k, Node *x, double otherwise) {
  Node *mask = build_with(b, test, row_numbers(b, n), build_int(b, k));
  return build_where(b, mask, arg_node(x), arg_float(otherwise));
}

/* ---- Cholesky ---- */

/* Each column is taken off the rest as a product with itself. */
static Node *cholesky_of(Build *b, Node *a) {
  int64_t n = rows_of(b, a);
  Node *columns[ROWS_MAX];
  for (int64_t k = 0; k < n; k++) {
    Node *root = build_op1(b, OP_aten_sqrt_default, column(b, row(b, a, k), k));
    Node *c = where_rows(b, OP_aten_ge_Scalar, n, k, build_div(b, column(b, a, k), root), 0);
    columns[k] = c;
    uint32_t rank = rank_of(c);
    a = build_sub(b, a, build_mul(b, c, build_transpose(b, c, rank - 2, rank - 1)));
  }
  return n ? build_cat(b, (uint32_t)n, columns, rank_of(a) - 1) : a;
}

Node *decompose_cholesky(Build *b) {
  Node *y = cholesky_of(b, build_self(b));
  uint32_t rank = rank_of(y);
  return infer_bool(&b->in, "upper") ? build_transpose(b, y, rank - 2, rank - 1) : y;
}

/* ---- elimination ---- */

typedef struct {
  Node *a, *x, *sign; /* a x = b becomes x; the sign of the row exchanges */
} Elimination;

/* Rows k and p, [..., 1, 1], change places. */
static Node *exchanged(Build *b, Node *a, Node *order) {
  uint32_t rank = rank_of(a);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank; i++) shape[i] = a->type.shape[i];
  return build(
      b, OP_aten_gather_default,
      ARGS(arg_node(a), build_int(b, rank - 2), arg_node(build_expand(b, order, rank, shape))));
}

/* Gauss and Jordan's, with the largest element of each column as its pivot. */
static Elimination eliminate(Build *b, Node *a, Node *x) {
  int64_t n = rows_of(b, a);
  uint32_t rank = rank_of(a);
  Elimination e = {a, x, NULL};
  Node *number = row_numbers(b, n);
  for (int64_t k = 0; k < n; k++) {
    Node *size = build_op1(b, OP_aten_abs_default, column(b, e.a, k));
    size = where_rows(b, OP_aten_ge_Scalar, n, k, size, -1);
    Node *p = build(b, OP_aten_argmax_default,
                    ARGS(arg_node(size), build_int(b, rank - 2), arg_bool(true)));
    Node *here = build_with(b, OP_aten_eq_Scalar, number, build_int(b, k));
    Node *there = build_op2(b, OP_aten_eq_Tensor, number, p);
    Node *order = build_where(b, there, build_int(b, k), arg_node(number));
    order = build_where(b, here, arg_node(p), arg_node(order));
    Node *same = build_with(b, OP_aten_eq_Scalar, p, build_int(b, k));
    Node *sign = build_where(b, same, arg_float(1), arg_float(-1));
    e.sign = e.sign ? build_mul(b, e.sign, sign) : sign;
    e.a = exchanged(b, e.a, order);
    if (e.x) e.x = exchanged(b, e.x, order);
    Node *factor = build_div(b, column(b, e.a, k), column(b, row(b, e.a, k), k));
    factor = where_rows(b, e.x ? OP_aten_ne_Scalar : OP_aten_gt_Scalar, n, k, factor, 0);
    if (e.x) e.x = build_sub(b, e.x, build_mul(b, factor, row(b, e.x, k)));
    e.a = build_sub(b, e.a, build_mul(b, factor, row(b, e.a, k)));
  }
  return e;
}

static Node *diagonal_of(Build *b, Node *a) {
  uint32_t rank = rank_of(a);
  return build(b, OP_aten_diagonal_default,
               ARGS(arg_node(a), build_int(b, 0), build_int(b, rank - 2), build_int(b, rank - 1)));
}

static Node *solution(Build *b, Node *a, Node *x) {
  Elimination e = eliminate(b, a, x);
  Node *d = diagonal_of(b, e.a);
  return build_div(b, e.x, build_unsqueeze(b, d, rank_of(d)));
}

Node *decompose_inverse(Build *b) {
  Node *a = build_self(b);
  Dim n = size_from_end(a, 1);
  Node *one = build_op2(b, OP_aten_eq_Tensor, row_numbers(b, rows_of(b, a)), build_arange(b, n));
  one = build_expand(b, build_to(b, one, a->type.dtype), rank_of(a), a->type.shape);
  return solution(b, a, one);
}

Node *decompose_det(Build *b) {
  Node *a = build_self(b);
  Elimination e = eliminate(b, a, NULL);
  Node *d = diagonal_of(b, e.a);
  Node *y = build_with(b, OP_aten_prod_dim_int, d, build_int(b, rank_of(d) - 1));
  return build_mul(b, y, build_to(b, build_finished(b, e.sign), y->type.dtype));
}

Node *decompose_solve(Build *b) {
  Node *a = build_input(b, "A"), *x = build_input(b, "B");
  bool vector = rank_of(x) + 1 == rank_of(a);
  if (vector) x = build_unsqueeze(b, x, rank_of(x));
  Node *y = solution(b, a, x);
  return vector ? build_finished(b, y) : y;
}
