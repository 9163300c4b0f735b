/* Products of complex matrices and vectors: one product of real matrices, or four of parts. */
#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/messages.h"
#include "planner/complex/complex.h"

/* The node's call with x and y for its two operands. */
static Node *call_with(Split *s, Node *x, Node *y) {
  const Node *n = s->b.in.n;
  Arg *args = ARENA_ARRAY(s->b.in.g->arena, Arg, n->nargs);
  memcpy(args, n->args, n->nargs * sizeof *args);
  args[0] = arg_node(x);
  args[1] = arg_node(y);
  return build_with_all(&s->b, n->op->id, n->nargs, args, n->nnamed, n->named);
}

/* PyTorch's einsum gives its operands as a list after the equation. */
static Node *einsum_with(Split *s, Node *x, Node *y) {
  Arg list = arg_list(s->b.in.g, 2);
  list.items[0] = arg_node(x);
  list.items[1] = arg_node(y);
  return build(&s->b, OP_aten_einsum_default, ARGS(s->b.in.n->args[0], list));
}

typedef Node *Product(Split *s, Node *x, Node *y);

static Parts products_of(Split *s, Product *product, Parts x, Parts y) {
  Build *b = &s->b;
  Node *re = product(s, x.re, y.re), *im = NULL;
  if (x.im && y.im) re = build_sub(b, re, product(s, x.im, y.im));
  if (y.im) im = product(s, x.re, y.im);
  if (x.im) {
    Node *other = product(s, x.im, y.re);
    im = im ? build_add(b, im, other) : other;
  }
  return (Parts){re, im};
}

/* ---- one product of real matrices ----
 *
 * Rows of complex numbers are rows of twice as many real ones in memory, re, im, re, im, ...  A row
 * of x @ y is such a row of x times a matrix of twice the rows and columns of y, whose row for each
 * real part of x has the pairs (re, im) of y, and whose row for each imaginary part those of iy. */

/* The pairs in a new axis before the last one: [..., rows, 1, columns, 2]. */
static Node *pairs_of_row(Split *s, Parts y) {
  Node *pairs = split_join(s, y);
  return build_unsqueeze(&s->b, pairs, rank_of(pairs) - 2);
}

/* x with its first axes, so many, and then `n` of the sizes of `last`. */
static Node *with_last_axes(Build *b, Node *x, uint32_t first, uint32_t n, const Dim *last) {
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->type.shape, first * sizeof *shape);
  memcpy(shape + first, last, n * sizeof *last);
  return build_view(b, x, first + n, shape);
}

static Dim twice(Build *b, Dim n) { return dim_mul(b->in.g->dims, n, build_const(b, 2)); }

static Node *rows_of_pairs(Split *s, Parts x) {
  uint32_t rank = rank_of(x.re);
  const Dim *shape = x.re->type.shape;
  Dim last[] = {shape[rank - 2], twice(&s->b, shape[rank - 1])};
  return with_last_axes(&s->b, split_join(s, x), rank - 2, 2, last);
}

static Node *rotated_rows(Split *s, Parts y) {
  Build *b = &s->b;
  uint32_t rank = rank_of(y.re);
  const Dim *shape = y.re->type.shape;
  Parts turned = {build_op1(b, OP_aten_neg_default, y.im), y.re};
  Node *rows[] = {pairs_of_row(s, y), pairs_of_row(s, turned)};
  Dim last[] = {twice(b, shape[rank - 2]), twice(b, shape[rank - 1])};
  return with_last_axes(b, build_cat(b, 2, rows, rank - 1), rank - 2, 2, last);
}

/* y is complex. */
static Parts product_of_rows(Split *s, Parts x, Parts y) {
  Build *b = &s->b;
  Node *r = call_with(s, x.im ? rows_of_pairs(s, x) : x.re,
                      x.im ? rotated_rows(s, y) : rows_of_pairs(s, y));
  uint32_t rank = rank_of(r);
  Dim last[] = {y.re->type.shape[rank_of(y.re) - 1], build_const(b, 2)};
  r = with_last_axes(b, r, rank - 1, 2, last);
  return (Parts){build_select(b, r, rank, build_const(b, 0)),
                 build_select(b, r, rank, build_const(b, 1))};
}

/* Are its elements next to each other along rows or columns, as a part's of pairs are not? */
static bool is_plane(Graph *g, Node *x) {
  Strided in;
  uint32_t rank = rank_of(x);
  bool known = strided_of(g, x, &in);
  return known && (dim_is(in.stride[rank - 1], 1) || dim_is(in.stride[rank - 2], 1));
}

static bool is_product_of_rows(Split *s, Parts x, Parts y) {
  const Node *n = s->b.in.n;
  Graph *g = s->b.in.g;
  if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_aten_matmul_default))
    return false;
  if (rank_of(x.re) < 2 || rank_of(y.re) < 2 || !y.im) return false;
  bool planes = is_plane(g, x.re) && (!x.im || is_plane(g, x.im));
  return !planes || (!x.im && !is_plane(g, y.re));
}

Parts split_product(Split *s) {
  Build *b = &s->b;
  if (b->in.n->nargs < 2) infer_fail(&b->in, E_GRAPH_COMPLEX);
  Parts x = split_arg(s, b->in.schema->params[0].name);
  Parts y = split_arg(s, b->in.schema->params[1].name);
  if (is_product_of_rows(s, x, y)) return product_of_rows(s, x, y);
  return products_of(s, call_with, x, y);
}

/* The conjugate of the first operand. */
Parts split_vdot(Split *s) {
  Parts x = split_arg(s, "self"), y = split_arg(s, "other");
  if (x.im) x.im = build_op1(&s->b, OP_aten_neg_default, x.im);
  return products_of(s, call_with, x, y);
}

Parts split_einsum(Split *s) {
  uint32_t n;
  Node **x = build_inputs(&s->b, "tensors", &n);
  if (n == 1) return split_each(s);
  if (n != 2) infer_fail(&s->b.in, E_GRAPH_COMPLEX);
  return products_of(s, einsum_with, split_value(s, x[0]), split_value(s, x[1]));
}

static Node *matmul(Split *s, Node *x, Node *y) {
  return build_op2(&s->b, OP_aten_matmul_default, x, y);
}

/* x @ transposed weight + bias */
Parts split_linear(Split *s) {
  Build *b = &s->b;
  Node *bias = build_input(b, "bias"), *weight = build_input(b, "weight");
  Parts w = split_value(s, weight);
  if (rank_of(weight) != 2) infer_fail(&b->in, E_GRAPH_COMPLEX);
  w.re = build_transpose(b, w.re, 0, 1);
  if (w.im) w.im = build_transpose(b, w.im, 0, 1);
  Parts y = products_of(s, matmul, split_arg(s, "input"), w);
  return bias ? complex_add(b, y, split_value(s, bias)) : y;
}

/* Norms of complex vectors are those of their absolute values. */
Parts split_norm(Split *s) {
  const Node *n = s->b.in.n;
  Arg *args = ARENA_ARRAY(s->b.in.g->arena, Arg, n->nargs);
  memcpy(args, n->args, n->nargs * sizeof *args);
  args[0] = arg_node(complex_abs(&s->b, split_self(s)));
  return (Parts){build_with_all(&s->b, n->op->id, n->nargs, args, n->nnamed, n->named), NULL};
}
