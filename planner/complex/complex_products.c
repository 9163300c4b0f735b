/* Products of complex matrices and vectors: four products of parts. */
#include <string.h>

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

Parts split_product(Split *s) {
  Build *b = &s->b;
  if (b->in.n->nargs < 2) infer_fail(&b->in, E_GRAPH_COMPLEX);
  Parts x = split_arg(s, b->in.schema->params[0].name);
  Parts y = split_arg(s, b->in.schema->params[1].name);
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

/* x @ transposed weight + bias */
Parts split_linear(Split *s) {
  Build *b = &s->b;
  Node *bias = build_input(b, "bias"), *weight = build_input(b, "weight");
  Parts w = split_value(s, weight);
  if (rank_of(weight) != 2) infer_fail(&b->in, E_GRAPH_COMPLEX);
  w.re = build_transpose(b, w.re, 0, 1);
  if (w.im) w.im = build_transpose(b, w.im, 0, 1);
  Parts x = split_arg(s, "input");
  Node *re = build_op2(b, OP_aten_matmul_default, x.re, w.re), *im = NULL;
  if (x.im && w.im) re = build_sub(b, re, build_op2(b, OP_aten_matmul_default, x.im, w.im));
  if (w.im) im = build_op2(b, OP_aten_matmul_default, x.re, w.im);
  if (x.im) {
    Node *other = build_op2(b, OP_aten_matmul_default, x.im, w.re);
    im = im ? build_add(b, im, other) : other;
  }
  Parts y = {re, im};
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
