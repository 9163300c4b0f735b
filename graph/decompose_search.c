/* Counting: where values belong in a sequence, and how many fall into each bin. */
#include <string.h>

#include "graph/decompose.h"
#include "graph/scatter.h"

static Node *self_of(Build *b) { return build_input(b, "self"); }

/* ---- searchsorted, bucketize ---- */

static bool is_right(Build *b) {
  if (infer_takes(&b->in, "side") && infer_has(&b->in, "side"))
    return !strcmp(infer_string(&b->in, "side"), "right");
  return infer_bool(&b->in, "right");
}

/* A number becomes a tensor of one element. */
static Node *values_of(Build *b) {
  Arg value = build_arg(b, "self");
  Operand x = infer_operand(&b->in, "self");
  return x.number ? build_full(b, 0, NULL, value, x.dtype) : value.node;
}

static Node *search(Build *b, Node *sequence) {
  Node *x = values_of(b);
  Operand both[] = {infer_tensor_operand(&sequence->type), infer_tensor_operand(&x->type)};
  DType t = infer_promote(&b->in, both, 2);
  sequence = build_to(b, sequence, t);
  Arg args[] = {arg_node(sequence), arg_node(build_to(b, x, t)), arg_bool(is_right(b))};
  return build_to(b, build(b, "nereid.search.default", 3, args), b->in.n->type.dtype);
}

Node *decompose_searchsorted(Build *b) {
  Node *sequence = build_input(b, "sorted_sequence"), *sorter = build_input(b, "sorter");
  if (sorter) {
    Arg last = build_int(b, rank_of(sequence) - 1);
    sequence = build(b, "aten.gather.default", ARGS(arg_node(sequence), last, arg_node(sorter)));
  }
  return search(b, sequence);
}

Node *decompose_bucketize(Build *b) { return search(b, build_input(b, "boundaries")); }

/* ---- bins ---- */

/* Both ends of the bins: given, or if they are equal those of the data, a little apart. */
static void ends_of(Build *b, Node *x, Node **low, Node **high) {
  DType t = x->type.dtype;
  double lo = infer_number(&b->in, "min"), hi = infer_number(&b->in, "max");
  *low = build_full(b, 0, NULL, arg_float(lo), t);
  *high = build_full(b, 0, NULL, arg_float(hi), t);
  if (lo != hi || scatter_empty(b, x)) return;
  *low = build_reduce(b, "aten.amin.default", x, 1, false);
  *high = build_reduce(b, "aten.amax.default", x, 1, false);
  Node *same = build_op2(b, "aten.eq.Tensor", *low, *high);
  same = build_to(b, same, t);
  *low = build_sub(b, *low, same);
  *high = build_add(b, *high, same);
}

/* The last bin has both of its ends; what is in none is not counted. */
Node *decompose_histc(Build *b) {
  Node *x = scatter_flat(b, self_of(b)), *low, *high;
  x = build_widen(b, x);
  DType t = x->type.dtype;
  Dim bins = infer_size(&b->in, "bins");
  ends_of(b, x, &low, &high);
  Node *none = build_full(b, 1, &bins, build_int(b, 0), DT_I32);
  Node *place = build_with(b, "aten.mul.Tensor", build_sub(b, x, low), arg_dim(bins));
  place = build_op1(b, "aten.floor.default", build_div(b, place, build_sub(b, high, low)));
  Dim last = dim_sub(b->in.g->dims, bins, build_const(b, 1));
  place = build_with(b, "aten.clamp_max.default", place, arg_dim(last));
  Node *in = build_op2(b, "aten.logical_and.default", build_op2(b, "aten.ge.Tensor", x, low),
                       build_op2(b, "aten.le.Tensor", x, high));
  Node *outside = build_full(b, 0, NULL, build_int(b, -1), t);
  place = build_to(b, build_where(b, in, arg_node(place), arg_node(outside)), DT_I64);
  Node *one = build_full(b, 0, NULL, build_int(b, 1), DT_I32);
  return build_to(b, scatter_add_up(b, none, place, one), b->in.n->type.dtype);
}

/* ---- distances of all pairs of rows, the first before the second ---- */

Node *decompose_pdist(Build *b) {
  Node *x = self_of(b);
  Dim rows = x->type.shape[0], shape[] = {rows, rows};
  if (!dim_is_int(rows)) return NULL;
  Node *row = build_along(b, build_arange(b, rows), 0, 2), *column = build_arange(b, rows);
  Node *upper =
      scatter_flat(b, build_expand(b, build_op2(b, "aten.lt.Tensor", row, column), 2, shape));
  Node *all = build(b, "aten.cdist.default",
                    ARGS(arg_node(x), arg_node(x), arg_float(infer_number(&b->in, "p"))));
  /* The n-th that is wanted goes to place n, as far as there are so many. */
  Dim count = b->in.n->type.shape[0];
  if (dim_is(count, 0)) return build_full(b, 1, &count, build_int(b, 0), x->type.dtype);
  Node *place = build_where(b, upper, arg_node(scatter_number(b, upper)), build_int(b, -1));
  Node *none = build_full(b, 1, &count, build_int(b, 0), x->type.dtype);
  return scatter_take(b, none, scatter_writers(b, count, place), scatter_flat(b, all));
}
