/* Inverses and solutions of complex matrices, by real ones of twice the size.
 *
 * An element a + bi becomes the block [[a, -b], [b, a]] at its position, since products and
 * inverses of such blocks are those of complex numbers.  The first column that depends on those
 * before it, whose number `info` is, is then the first of the two that a column has become. */
#include "graph/messages.h"
#include "planner/complex/complex.h"

/* x and y along a new axis. */
static Node *pair_along(Build *b, Node *x, Node *y, uint32_t axis) {
  Node *both[] = {build_unsqueeze(b, x, axis), build_unsqueeze(b, y, axis)};
  return build_cat(b, 2, both, axis);
}

/* The last axes are rows by 2 by columns by 2, and become rows and columns. */
static Node *real_matrix(Split *s, Parts x) {
  Build *b = &s->b;
  uint32_t rank = rank_of(x.re);
  Dim shape[GRAPH_RANK_MAX];
  if (rank + 2 > GRAPH_RANK_MAX) infer_fail(&b->in, E_GRAPH_RANK, GRAPH_RANK_MAX - 2);
  Node *im = split_imaginary(s, x), *minus = build_op1(b, OP_aten_neg_default, im);
  Node *first = pair_along(b, x.re, minus, rank), *second = pair_along(b, im, x.re, rank);
  Node *rows = pair_along(b, first, second, rank - 1);
  infer_copy_shape(&x.re->type, shape);
  for (uint32_t i = rank - 2; i < rank; i++)
    shape[i] = dim_mul(b->in.g->dims, shape[i], build_const(b, 2));
  return build_view(b, rows, rank, shape);
}

/* The parts along an axis, whose elements are those of pairs. */
static Parts parts_along(Split *s, Node *x, uint32_t axis, Dim size) {
  Build *b = &s->b;
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(&x->type, shape);
  for (uint32_t i = rank_of(x); i > axis; i--) shape[i] = shape[i - 1];
  shape[axis] = size;
  shape[axis + 1] = build_const(b, 2);
  x = build_view(b, x, rank_of(x) + 1, shape);
  return (Parts){build_select(b, x, axis + 1, build_const(b, 0)),
                 build_select(b, x, axis + 1, build_const(b, 1))};
}

/* The complex matrix of a real one: the first column of each block. */
static Parts complex_matrix(Split *s, Node *x, Dim rows, Dim columns) {
  Node *first = parts_along(s, x, rank_of(x) - 1, columns).re;
  return parts_along(s, first, rank_of(x) - 2, rows);
}

/* Columns 2i - 1 and 2i are those of column i. */
static Node *half_info(Build *b, Node *info) {
  Node *next = build_with(b, OP_aten_add_Tensor, info, build_int(b, 1));
  return build_with(b, OP_aten_bitwise_right_shift_Tensor_Scalar, next, build_int(b, 1));
}

static Parts inverse_of(Split *s, Node *inverse) {
  const ValueType *t = &s->b.in.n->args[0].node->type;
  return complex_matrix(s, inverse, t->shape[t->rank - 2], t->shape[t->rank - 1]);
}

static Parts set_items(Split *s, uint32_t n, const Parts *items) {
  s->nitems = n;
  s->items = ARENA_ARRAY(s->b.in.g->arena, Parts, n);
  for (uint32_t i = 0; i < n; i++) s->items[i] = items[i];
  return (Parts){items[0].re, items[0].im};
}

Parts split_inverse(Split *s) {
  Node *x = real_matrix(s, split_self(s));
  return inverse_of(s, build_op1(&s->b, OP_aten_linalg_inv_default, x));
}

Parts split_inverse_ex(Split *s) {
  Build *b = &s->b;
  Node *both = build_op1(b, OP_aten_linalg_inv_ex_default, real_matrix(s, split_self(s)));
  return set_items(s, 2,
                   (Parts[]){inverse_of(s, build_item(b, both, 0)),
                             {half_info(b, build_item(b, both, 1)), NULL}});
}

/* ---- solutions ---- */

static Parts transposed(Build *b, Parts x) {
  uint32_t rank = rank_of(x.re);
  x.re = build_transpose(b, x.re, rank - 2, rank - 1);
  if (x.im) x.im = build_transpose(b, x.im, rank - 2, rank - 1);
  return x;
}

static Parts as_columns(Build *b, Parts x) {
  uint32_t rank = rank_of(x.re);
  return (Parts){build_unsqueeze(b, x.re, rank), x.im ? build_unsqueeze(b, x.im, rank) : NULL};
}

/* Rows of the parts in turn, with as many axes as the matrix, lest they look like vectors. */
static Node *real_columns(Split *s, Parts x, uint32_t rank) {
  Build *b = &s->b;
  Dim shape[GRAPH_RANK_MAX];
  uint32_t own = rank_of(x.re);
  infer_copy_shape(&x.re->type, shape);
  shape[own - 2] = dim_mul(b->in.g->dims, shape[own - 2], build_const(b, 2));
  Node *y = build_view(b, pair_along(b, x.re, split_imaginary(s, x), own - 1), own, shape);
  return own < rank ? build_lead(b, y, rank) : y;
}

/* The solution, by an operator of real matrices; of a list that it gives, *all. */
static Parts solve(Split *s, OpId op, Node **all) {
  Build *b = &s->b;
  const ValueType *t = &b->in.n->type;
  Parts a = split_arg(s, "A"), y = split_arg(s, "B");
  bool left = infer_bool(&b->in, "left");
  bool vectors = (t->kind == VALUE_LIST ? t->items : t)->rank < rank_of(a.re);
  if (vectors && !left) infer_fail(&b->in, E_GRAPH_COMPLEX);
  if (vectors) y = as_columns(b, y);
  if (!left) a = transposed(b, a), y = transposed(b, y);
  Node *matrix = real_matrix(s, a),
       *x = *all = build_op2(b, op, matrix, real_columns(s, y, rank_of(matrix)));
  if (x->type.kind == VALUE_LIST) x = build_item(b, x, 0);
  Parts made = parts_along(s, x, rank_of(x) - 2, size_from_end(a.re, 1));
  if (!left) made = transposed(b, made);
  if (!vectors) return made;
  uint32_t last = 1u << (rank_of(made.re) - 1);
  return (Parts){build_squeeze(b, made.re, last), build_squeeze(b, made.im, last)};
}

Parts split_solve(Split *s) {
  Node *all;
  return solve(s, OP_aten_linalg_solve_default, &all);
}

static bool uses_item(const Graph *g, const Node *list, int64_t i) {
  for (const Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_GETITEM && n->args[0].node == list && dim_is(n->args[1].dim, i))
      return true;
  return false;
}

/* The factors of the real matrix are not those of the complex one. */
Parts split_solve_ex(Split *s) {
  enum { SOLUTION, FACTORS, PIVOTS, INFO };
  Build *b = &s->b;
  Node *all, *n = b->in.n;
  if (uses_item(b->in.g, n, FACTORS) || uses_item(b->in.g, n, PIVOTS))
    infer_fail(&b->in, E_GRAPH_COMPLEX);
  Parts x = solve(s, OP_aten__linalg_solve_ex_default, &all);
  Parts info = {half_info(b, build_item(b, all, INFO)), NULL};
  return set_items(s, 4, (Parts[]){[SOLUTION] = x, [FACTORS] = x, [PIVOTS] = info, [INFO] = info});
}
