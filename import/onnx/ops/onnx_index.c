/* Operators that take elements at indices which other tensors say, or in order. */
#include <string.h>

#include "import/onnx/onnx_op.h"

Node *onnx_from_begin(OnnxCall *c, Node *index, Dim size) {
  Build *b = &c->b;
  index = build_to(b, index, DT_I64);
  Node *negative = build_with(b, OP_aten_lt_Scalar, index, build_int(b, 0));
  Node *wrapped = build_with(b, OP_aten_add_Tensor, index, arg_dim(size));
  return build_where(b, negative, arg_node(wrapped), arg_node(index));
}

/* The result has the axes of the indices in place of `axis`. */
void onnx_op_gather(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  const OnnxKnown *k = onnx_known(c, 1);
  if (k && k->rank == 0 && k->at[0].dim && dim_is_int(k->at[0].dim)) {
    onnx_set(c, 0, build_select(&c->b, x, axis, k->at[0].dim));
    return;
  }
  Node *index = onnx_from_begin(c, onnx_in(c, 1), x->type.shape[axis]);
  Arg indices = arg_list(c->b.in.g, axis + 1);
  for (uint32_t i = 0; i < axis; i++) indices.items[i] = arg_none();
  indices.items[axis] = arg_node(index);
  onnx_set(c, 0, build_with(&c->b, OP_aten_index_Tensor, x, indices));
}

void onnx_op_gather_elements(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  Node *index = onnx_from_begin(c, onnx_in(c, 1), x->type.shape[axis]);
  Arg args[] = {arg_node(x), build_int(&c->b, axis), arg_node(index)};
  onnx_set(c, 0, build(&c->b, OP_aten_gather_default, 3, args));
}

/* A column for each element that is not 0. */
void onnx_op_nonzero(OnnxCall *c) {
  Node *indices = build_op1(&c->b, OP_aten_nonzero_default, onnx_in(c, 0));
  onnx_set(c, 0, build_transpose(&c->b, indices, 0, 1));
}

/* The number of elements is an attribute before opset 10, an input from then on. */
void onnx_op_topk(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", -1, rank_of(x));
  Dim k = c->opset < 10 ? build_const(b, onnx_int(c, "k", 0)) : onnx_need_dim(c, 1);
  Arg largest = arg_bool(onnx_flag(c, "largest", true));
  Arg sorted = arg_bool(onnx_flag(c, "sorted", true));
  Arg args[] = {arg_node(x), arg_dim(k), build_int(b, axis), largest, sorted};
  Node *list = build(b, OP_aten_topk_default, 5, args);
  if (onnx_wants(c, 0)) onnx_set(c, 0, build_item(b, list, 0));
  if (onnx_wants(c, 1)) onnx_set(c, 1, build_item(b, list, 1));
}

/* x moved by one along the axis, after a neutral element. */
static Node *shift_axis(Build *b, Node *x, uint32_t axis, int64_t neutral) {
  Dim shape[GRAPH_RANK_MAX], one = build_const(b, 1), zero = build_const(b, 0);
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  Dim size = shape[axis], rest = dim_sub(b->in.g->dims, size, one);
  bool maybe_empty = dim_range(b->in.g->dims, size).lo < 1;
  shape[axis] = one;
  Node *first = build_full(b, rank_of(x), shape, build_int(b, neutral), x->type.dtype);
  Node *after = maybe_empty ? x : build_slice(b, x, axis, zero, rest, 1);
  Node *both = build_cat(b, 2, (Node *[]){first, after}, axis);
  return maybe_empty ? build_slice(b, both, axis, zero, size, 1) : both;
}

static void cumulate(OnnxCall *c, OpId op, int64_t neutral) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis(c, onnx_need_int(c, 1), rank_of(x));
  bool reverse = onnx_flag(c, "reverse", false);
  Arg axes = arg_axes(b->in.g, 1u << axis);
  if (reverse) x = build_with(b, OP_aten_flip_default, x, axes);
  if (onnx_flag(c, "exclusive", false)) x = shift_axis(b, x, axis, neutral);
  Arg args[] = {arg_node(x), build_int(b, axis)};
  Node *y = build_with_named(b, op, 2, args, "dtype", arg_dtype(x->type.dtype));
  if (reverse) y = build_with(b, OP_aten_flip_default, y, axes);
  onnx_set(c, 0, y);
}

void onnx_op_cumsum(OnnxCall *c) { cumulate(c, OP_aten_cumsum_default, 0); }

void onnx_op_cumprod(OnnxCall *c) { cumulate(c, OP_aten_cumprod_default, 1); }
